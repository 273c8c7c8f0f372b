// Recognizes stubs of the procedure linkage table.
//
// A stub has no blocks in the IR. It jumps through a pointer that the dynamic linker fills in. The
// machine knows the forms of stubs (machine/imports.h) and reads the address of the pointer from
// the bytes of the image at the location.
//
// Example: `jmp *strlen@got(%rip)` at a location gives the address of strlen's slot in the global
// offset table. Other code gives nullopt.

#include "optimizer/analysis/import_stubs.h"

#include "optimizer/image/image.h"
#include "optimizer/machine/imports.h"
#include "optimizer/machine/machine.h"

namespace respike {

std::optional<uint64_t> pointer_of_stub(const Program& program, const CodeLocation& location) {
  const Imports* imports = program.machine->imports;
  if (imports == nullptr || program.image == nullptr ||
      location.where != CodeLocation::Where::address)
    return std::nullopt;
  const Section* section = program.image->section_at(location.address);
  if (section == nullptr || location.address - section->address >= section->contents.size())
    return std::nullopt;
  return imports->pointer_of(section->contents.subspan(location.address - section->address),
                             location.address);
}

}  // namespace respike

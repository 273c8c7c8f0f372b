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

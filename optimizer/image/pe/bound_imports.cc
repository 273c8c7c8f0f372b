// An import descriptor with a date was bound: a tool looked up the addresses of imports and put
// them into the slots, so that the loader need not, as long as the library has that date. An output
// of Respike and the libraries beside it are other files, so nothing is bound in outputs. The
// loader then fills all slots anew.
//
// The lifter also sees the image unbound, so the comparison of input and output finds equal data.
// Damaged tables are reported elsewhere; here the walk just ends.
//
// Source: PE/COFF specification of 1998, sections 6.4.1 to 6.4.4.

#include "optimizer/image/pe/bound_imports.h"

#include <algorithm>

#include "optimizer/base/bytes.h"
#include "optimizer/image/pe/import_tables.h"

namespace respike::pe {
namespace {

constexpr uint64_t kDescriptor = ImportDescriptor::kSize;
enum : size_t {  // bytes
  kNames = 4 * ImportDescriptor::kNames,
  kDate = 4 * ImportDescriptor::kDate,
  kForwarders = 4 * ImportDescriptor::kForwarders,
  kLibraryName = 4 * ImportDescriptor::kLibraryName,
  kSlots = 4 * ImportDescriptor::kSlots,
};

/// `size` bytes of the file at a place; nullptr: the file does not hold these bytes.
uint8_t* loaded(std::span<uint8_t> file, const Headers& headers, uint64_t place, uint64_t size) {
  for (const SectionHeader& section : headers.sections)
    if (place >= section.place && place + size <= uint64_t{section.place} + section.loaded_size())
      return &file[section.offset + (place - section.place)];
  return nullptr;
}

}  // namespace

bool unbind_imports(std::span<uint8_t> file, const Headers& headers) {
  bool found = false;
  const DataDirectory& imports = headers.directories[kImports];
  if (!imports.present()) return found;
  uint64_t budget = file.size();  // slots: tables of a damaged image may overlap
  for (uint64_t at = imports.place;; at += kDescriptor) {
    uint8_t* descriptor = loaded(file, headers, at, kDescriptor);
    if (descriptor == nullptr || load<uint32_t>(descriptor + kLibraryName) == 0) return found;
    const auto names = load<uint32_t>(descriptor + kNames);
    const auto slots = load<uint32_t>(descriptor + kSlots);
    if (slots == 0) return found;
    if (load<uint32_t>(descriptor + kDate) == 0 || names == 0) continue;
    found = true;
    store(descriptor + kDate, uint32_t{0});
    store(descriptor + kForwarders, uint32_t{0});
    const uint64_t size = headers.wide ? 8 : 4;
    for (uint64_t i = 0;; i += size) {
      if (budget-- == 0) return found;
      const uint8_t* name = loaded(file, headers, names + i, size);
      uint8_t* slot = loaded(file, headers, slots + i, size);
      if (name == nullptr || slot == nullptr ||
          std::all_of(name, name + size, [](uint8_t b) { return b == 0; }))
        break;
      std::copy(name, name + size, slot);
    }
  }
}

}  // namespace respike::pe

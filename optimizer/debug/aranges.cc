// Rewrites .debug_aranges (DWARF 5, section 6.1.2): for each unit a set of (address, size) pairs.
//
// Each pair becomes the ranges that its code has now; headers are copied, and lengths are written
// anew. A pair whose address is not code stays as it is.
//
// Example: the pair (0x1040, 0x20), whose second half moved to the cold part, becomes (0x5000,
// 0x10) and (0x7020, 0x10).
//
// Limits: addresses of 8 bytes without segment selectors; work is bounded by the budget.

#include "optimizer/debug/aranges.h"

#include <llvm/BinaryFormat/Dwarf.h>

#include "optimizer/base/bytes.h"

namespace respike::debug {

namespace dwarf = llvm::dwarf;

std::vector<uint8_t> move_aranges(std::span<const uint8_t> section, const AddressMap& map,
                                  Budget& budget) {
  ByteReader reader(section, ".debug_aranges");
  ByteWriter out;
  std::vector<AddressMap::Range> found;
  while (!reader.at_end()) {
    const size_t start = reader.position();
    const size_t set = out.size();
    uint64_t length = reader.read<uint32_t>();
    const bool is64 = length == dwarf::DW_LENGTH_DWARF64;
    if (is64) length = reader.read<uint64_t>();
    const size_t end = reader.position() + length;
    if (length > reader.remaining()) throw Error(".debug_aranges ends inside of a set");
    reader.skip(2);
    reader.skip(is64 ? 8 : 4);
    const auto address_size = reader.read<uint8_t>();
    const auto selector_size = reader.read<uint8_t>();
    if (address_size != 8 || selector_size != 0)
      throw Error(".debug_aranges has addresses of a size that is not known");
    const size_t header = align_up(reader.position() - start, 16);
    out.append(section.subspan(start, reader.position() - start));
    out.bytes().resize(set + header);
    if (start + header > end) throw Error(".debug_aranges has a set that is too short");
    reader.seek(start + header);
    while (reader.position() + 16 <= end) {
      const auto address = reader.read<uint64_t>();
      const auto size = reader.read<uint64_t>();
      if (address == 0 && size == 0) break;
      found.clear();
      if (size != 0 && map.is_code(address))
        budget.spend(map.find_ranges(address, address + size, found));
      else
        found.emplace_back(address, address + size);
      budget.spend(1);
      for (const auto& [from, to] : found) {
        out.write(from);
        out.write(to - from);
      }
    }
    reader.seek(end);
    out.write<uint64_t>(0);
    out.write<uint64_t>(0);
    if (is64)
      out.patch<uint64_t>(set + 4, out.size() - set - 12);
    else
      out.patch<uint32_t>(set, static_cast<uint32_t>(out.size() - set - 4));
  }
  return std::move(out.bytes());
}

}  // namespace respike::debug

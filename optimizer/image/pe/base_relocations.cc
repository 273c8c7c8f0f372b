// Base relocations are stored in blocks, one for each page of 4 KB: the page, the size of the
// block, and 16-bit words of a kind (4 bits) and a place in the page (12 bits). A HIGHADJ
// relocation takes two words: since a loader learns only the upper half of the address from the
// instruction, the second word holds the lower half.
//
// Example: the ldah of the address 0x418004 is rounded up to 0x42. HIGHADJ with the word 0x8004
// says 0x420000 + (signed) 0x8004 = 0x418004.
//
// Source: PE/COFF specification of 1998, section 6.5.2.

#include "optimizer/image/pe/base_relocations.h"

#include <fmt/format.h>

#include "optimizer/base/bytes.h"

namespace respike::pe {
namespace {

constexpr uint32_t kPage = 0x1000, kBlockHeader = 8;

}  // namespace

std::vector<BaseRelocation> read_base_relocations(std::span<const uint8_t> table,
                                                  const std::string& name, uint64_t offset) {
  std::vector<BaseRelocation> relocations;
  size_t at = 0;
  const auto fail = [&](const char* what) {
    throw Error(fmt::format("the base relocations are damaged: {}", what), name, offset + at);
  };
  while (at < table.size()) {
    if (table.size() - at < kBlockHeader) fail("a block is cut off");
    const auto page = load<uint32_t>(&table[at]), size = load<uint32_t>(&table[at + 4]);
    if (size < kBlockHeader || size % 2 != 0 || size > table.size() - at)
      fail("a block has an impossible size");
    if (page > UINT32_MAX - kPage) fail("a block is for an impossible page");
    for (size_t word = at + kBlockHeader; word < at + size; word += 2) {
      const auto value = load<uint16_t>(&table[word]);
      BaseRelocation relocation{page + value % kPage, static_cast<uint8_t>(value / kPage), 0};
      if (relocation.kind == kAbsolute) continue;
      if (relocation.kind == kHighAdjusted) {
        word += 2;
        if (word >= at + size) fail("the last relocation of a block lacks its second word");
        relocation.low = load<uint16_t>(&table[word]);
      }
      relocations.push_back(relocation);
    }
    at += size;
  }
  return relocations;
}

std::vector<uint8_t> write_base_relocations(std::span<const BaseRelocation> relocations) {
  ByteWriter out;
  for (size_t i = 0; i < relocations.size();) {
    const uint32_t page = relocations[i].place / kPage * kPage;
    const size_t block = out.size();
    out.write(page);
    out.write(uint32_t{0});
    for (; i < relocations.size() && relocations[i].place / kPage * kPage == page; ++i) {
      out.write(static_cast<uint16_t>(relocations[i].kind * kPage + relocations[i].place % kPage));
      if (relocations[i].kind == kHighAdjusted) out.write(relocations[i].low);
    }
    out.align(4);
    out.patch(block + 4, static_cast<uint32_t>(out.size() - block));
  }
  return std::move(out.bytes());
}

}  // namespace respike::pe

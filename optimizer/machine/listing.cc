// Listings. Where each group is a word with one instruction, the listing follows from codec and
// text; other machines bring their own Listing (ia64/listing.cc).
//
// Example: Alpha's word 0x47ff041f at 0x120000100 becomes a line with the code "47ff041f" and the
// text "nop".

#include "optimizer/machine/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "optimizer/machine/machine.h"

namespace respike {
unsigned PlainListing::unit() const {
  return machine_.codec.groups.alignment();
}

size_t PlainListing::list(std::span<const uint8_t> code, size_t end, uint64_t address,
                          std::vector<ListedLine>& lines) const {
  const size_t count = std::min((end + unit() - 1) / unit(), code.size() / unit());
  std::vector<Instruction> instructions(count);
  machine_.codec.decode(code.first(count * unit()), 0, instructions.data());
  std::vector<uint8_t> encoded;
  for (const Instruction& instruction : instructions) {
    encoded.clear();
    machine_.codec.encode({&instruction, 1}, encoded);
    uint32_t word = 0;
    std::memcpy(&word, encoded.data(), std::min(encoded.size(), sizeof word));
    const uint64_t at = address + instruction.origin;
    ListedLine line{at, fmt::format("{:08x}", word), machine_.text.print(instruction, at), {}};
    if (is_direct(machine_.facts(instruction).flow))
      line.target = at + static_cast<uint64_t>(int64_t{instruction.immediate});
    lines.push_back(std::move(line));
  }
  return count * unit();
}

}  // namespace respike

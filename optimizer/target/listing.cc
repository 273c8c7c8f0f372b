// Listings of machines that have a Target follow from it; the others bring their own.

#include "optimizer/target/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "optimizer/target/ia64/listing.h"
#include "optimizer/target/targets.h"

namespace respike {
namespace {

class TargetListing final : public Listing {
 public:
  explicit TargetListing(const Target& target) : target_(target) {}

  unsigned unit() const override { return target_.code_alignment(); }

  void list(std::span<const uint8_t> code, uint64_t address,
            std::vector<ListedLine>& lines) const override {
    std::vector<uint8_t> encoded;
    for (const Instruction& instruction : decode(code)) {
      encoded.clear();
      target_.encode({&instruction, 1}, encoded);
      uint32_t word = 0;
      std::memcpy(&word, encoded.data(), std::min(encoded.size(), sizeof word));
      const uint64_t at = address + instruction.origin;
      ListedLine line{at, fmt::format("{:08x}", word), target_.print(instruction, at), {}};
      if (is_direct(target_.control_flow(instruction)))
        line.target = at + static_cast<uint64_t>(int64_t{instruction.immediate});
      lines.push_back(std::move(line));
    }
  }

 private:
  std::span<const uint8_t> whole_units(std::span<const uint8_t> code) const {
    return code.first(code.size() / unit() * unit());
  }

  std::vector<Instruction> decode(std::span<const uint8_t> code) const {
    const auto whole = whole_units(code);
    std::vector<Instruction> instructions(target_.decoded_count(whole));
    target_.decode(whole, 0, instructions.data());
    return instructions;
  }

  const Target& target_;
};

}  // namespace

const Listing* find_listing(Machine machine) {
  static const TargetListing alpha(alpha_target());
  switch (machine) {
    case Machine::alpha:
      return &alpha;
    case Machine::ia64:
      return &ia64_listing();
    default:
      return nullptr;
  }
}

}  // namespace respike

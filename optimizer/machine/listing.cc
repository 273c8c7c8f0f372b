// Listings of machines that have a Machine follow from it; the others bring their own.

#include "optimizer/machine/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "optimizer/machine/ia64/listing.h"
#include "optimizer/machine/machines.h"

namespace respike {
namespace {

class TargetListing final : public Listing {
 public:
  explicit TargetListing(const Machine& machine) : machine_(machine) {}

  unsigned unit() const override { return machine_.code_alignment(); }

  void list(std::span<const uint8_t> code, uint64_t address,
            std::vector<ListedLine>& lines) const override {
    std::vector<uint8_t> encoded;
    for (const Instruction& instruction : decode(code)) {
      encoded.clear();
      machine_.encode({&instruction, 1}, encoded);
      uint32_t word = 0;
      std::memcpy(&word, encoded.data(), std::min(encoded.size(), sizeof word));
      const uint64_t at = address + instruction.origin;
      ListedLine line{at, fmt::format("{:08x}", word), machine_.print(instruction, at), {}};
      if (is_direct(machine_.control_flow(instruction)))
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
    std::vector<Instruction> instructions(machine_.decoded_count(whole));
    machine_.decode(whole, 0, instructions.data());
    return instructions;
  }

  const Machine& machine_;
};

}  // namespace

const Listing* find_listing(MachineId machine) {
  static const TargetListing alpha(alpha_machine());
  switch (machine) {
    case MachineId::alpha:
      return &alpha;
    case MachineId::ia64:
      return &ia64_listing();
    default:
      return nullptr;
  }
}

}  // namespace respike

// Padding between procedures is data if something refers to it.
//
// Problem: zeros, no-ops and traps between procedures look like padding, which layouts overwrite.
// Hand-written code keeps constants there: a mask of zeros, or a table of bytes that read like
// no-ops.
//
// Idea: code that uses the bytes refers to them: an instruction by distance or by a number, a word
// of data, a dynamic relocation, or another image by a symbol. If something refers to an address in
// a gap between procedures, all bytes of the gap stay. Code may refer to a table by an address
// before or after it, so the border of the used bytes is unknown.
//
// Words with relocations count as data, see fill_gaps() in pieces.cc.
//
// Example: "pshufb mask(%rip),%xmm0; ret; .p2align 4; mask: .zero 16" reads 16 zeros. Neither a
// symbol nor an instruction among these bytes says that they are not padding.
//
// Limits: an address outside of the gap, in the code beside it, does not keep the gap.

#include <algorithm>
#include <optional>

#include "optimizer/ir/lookup.h"
#include "optimizer/lift/lifter.h"

namespace respike {
namespace {

class ReferredGaps {
 public:
  explicit ReferredGaps(Lifter& lifter) : lifter_(lifter) {}

  void run() {
    for (const DistantOperand& operand : lifter_.distant_operands) keep(operand.target);
    for (const RelocationTable& table : lifter_.image.relocations) {
      const Section& section = lifter_.image.sections[table.target];
      if (!section.allocated() || is_unwind_section(section.name)) continue;
      for (const Relocation& relocation : table.relocations)
        if (relocation.role != RelocationRole::ignored) follow(relocation, section.executable());
    }
    follow_dynamic();
    std::ranges::sort(gaps_);
    gaps_.erase(std::unique(gaps_.begin(), gaps_.end()), gaps_.end());
    auto& kept = lifter_.program.kept;
    kept.insert(kept.end(), gaps_.begin(), gaps_.end());
  }

 private:
  using Gap = std::pair<uint64_t, uint64_t>;

  /// The gap that holds the address; nullopt: the address is in a procedure, or not in code.
  std::optional<Gap> gap_at(uint64_t address) const {
    const CodeSection* code = lifter_.code_at(address);
    if (code == nullptr || lifter_.range_at(address) != kNone) return std::nullopt;
    const auto& ranges = lifter_.program.ranges;
    const size_t next = lifter_.program.range_index.starts_up_to(ranges, address);
    return Gap{next == 0 ? code->start : std::max(code->start, ranges[next - 1].end),
               next == ranges.size() ? code->end : std::min(code->end, ranges[next].start)};
  }

  void keep(uint64_t address) {
    if (const auto gap = gap_at(address)) gaps_.push_back(*gap);
  }

  /// Distances in code are decoded elsewhere. Words of data that refer to procedures are known. The
  /// relocation of a word that counts from the start of its table seems to refer to a place after
  /// its target, by the word's offset in the table.
  void follow(const Relocation& relocation, bool in_code) {
    if (relocation.symbol >= lifter_.image.symbols.size()) return;
    const Symbol& symbol = lifter_.image.symbols[relocation.symbol];
    if (symbol.defined_in_section() && symbol.type != Symbol::Type::section) keep(symbol.value);
    const RelocationRole role = relocation.role;
    const bool distance =
        role == RelocationRole::pc_relative32 || role == RelocationRole::pc_relative64;
    const bool address = role == RelocationRole::address64 || role == RelocationRole::address32;
    if (!address && (!distance || in_code)) return;
    if (pointer_at(lifter_.program, relocation.address) == nullptr)
      keep(symbol.value + static_cast<uint64_t>(relocation.addend));
  }

  void follow_dynamic() {
    for (const DynamicRelocationTable& table : lifter_.image.dynamic_relocations)
      for (const Relocation& relocation : table.relocations)
        if (relocation.symbol == 0) keep(static_cast<uint64_t>(relocation.addend));
    // Names of fragments are hidden, and nothing refers to them. Relocations refer to local symbols
    // on Itanium.
    for (const Symbol& symbol : lifter_.image.dynamic_symbols)
      if (symbol.defined_in_section() && (!symbol.local || symbol.visibility == 0))
        keep(symbol.value);
  }

  Lifter& lifter_;
  std::vector<Gap> gaps_;
};

}  // namespace

void keep_referred_gaps(Lifter& lifter) {
  if (lifter.machine.evidence.data_in_gaps) ReferredGaps(lifter).run();
}

}  // namespace respike

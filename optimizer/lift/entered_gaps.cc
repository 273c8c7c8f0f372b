// Which gaps between procedures are code.
//
// A gap counts as code when code leads to it (a branch, a call by name, start-up code, control that
// runs into it) or when it has relocations that only instructions have. Otherwise the gap stays as
// it is, byte for byte. So does any code to which the gap would branch if it were code.
//
// Example: "jmp helper" in a procedure enters the gap that starts at the symbol helper, which has
// no type. Nothing enters a table of constants after the procedure.

#include "optimizer/base/bytes.h"
#include "optimizer/lift/pieces.h"

namespace respike {
namespace {

/// Which gaps are entered: from known code by direct branches and calls, by start-up code, or by
/// control that runs into them; then from entered gaps.
class EnteredGaps {
 public:
  EnteredGaps(const Lifter& lifter, const std::vector<Piece>& pieces) : lifter_(lifter) {
    for (const Piece& piece : pieces)
      if (piece.is_gap) gaps_.push_back(piece);
    entered_.resize(gaps_.size());
    for (const Piece& piece : pieces)
      if (!piece.is_gap) follow(piece);
    follow_relocations();
    enter(lifter.image.entry);
    for (const LoaderEntry& entry : lifter.image.loader_entries) enter(entry.value);
    follow_start_up_arrays();
    follow_descriptors();
    for (const uint64_t place : unnamed_entries(lifter)) enter(place);
    for (const uint64_t place : unnamed_entries_that_load_gp(lifter)) enter(place);
    for (uint32_t i = 0; i < lifter.image.symbols.size(); ++i)
      if (names_start(lifter, lifter.image.symbols[i]) && lifter.is_code_symbol(i))
        enter(lifter.image.symbols[i].value);
    for (const Piece& gap : gaps_)
      if (runs_into(gap.start)) enter(gap.start);
    while (!work_.empty()) {
      const Piece gap = gaps_[work_.back()];
      work_.pop_back();
      follow(gap);
    }
  }

  /// `gap`: its number among the gaps.
  bool is_entered(size_t gap) const { return entered_[gap]; }

 private:
  /// An entry is the start of a gap, or the place after the two instructions at its start that load
  /// gp. Control that comes to no-ops at the end of the gap goes on to the code after the gap.
  void enter(uint64_t address) {
    const uint32_t index = piece_at(gaps_, address);
    if (index == kNone || entered_[index]) return;
    const CodeMap& map = lifter_.map();
    const auto [start, end] = std::pair(gaps_[index].start, gaps_[index].end);
    if (address > map.group_end(map.group_end(start))) return;
    if (address != start && lifter_.is_padding(address, end)) return;
    entered_[index] = true;
    work_.push_back(index);
  }

  /// Whether control runs into the address. Calls do not count: anything may come after the last
  /// call.
  bool runs_into(uint64_t address) const {
    const CodeMap& map = lifter_.map();
    const uint64_t first = lifter_.code_at(address)->start;
    while (address > first && lifter_.is_padding(map.previous(address), address))
      address = map.previous(address);
    if (address == first) return false;
    const Instruction& before = *lifter_.instruction_at(map.previous(address));
    return lifter_.machine.facts(before).falls_through &&
           !is_call(lifter_.machine.facts(before).flow);
  }

  void follow(const Piece& piece) {
    for (const Instruction& instruction : lifter_.code_in(piece.start, piece.end)) {
      const ControlFlow flow = lifter_.machine.facts(instruction).flow;
      if (flow == ControlFlow::branch || flow == ControlFlow::conditional_branch ||
          flow == ControlFlow::call)
        enter(lifter_.branch_target(lifter_.program.origin_base + instruction.origin, instruction));
    }
  }

  /// Gaps are code if other code calls them by name or if they have relocations that only
  /// instructions have.
  void follow_relocations() {
    const auto& symbols = lifter_.image.symbols;
    for (const CodeSection& code : lifter_.code)
      for (const Relocation& relocation : *code.relocations) {
        const RelocationRole role = relocation.role;
        if (role == RelocationRole::hint && relocation.symbol < symbols.size())
          enter(symbols[relocation.symbol].value);
        const uint32_t gap = is_data(role) ? kNone : piece_at(gaps_, relocation.address);
        if (gap != kNone) enter(gaps_[gap].start);
      }
  }

  static bool is_data(RelocationRole role) {
    return role == RelocationRole::address64 || role == RelocationRole::address32 ||
           role == RelocationRole::gp_relative32 || role == RelocationRole::pc_relative32 ||
           role == RelocationRole::pc_relative64 || role == RelocationRole::image_relative32;
  }

  void follow_descriptors() {
    for (const uint64_t entry : descriptor_entries(lifter_)) enter(entry);
  }

  void follow_start_up_arrays() {
    for (const Section& section : lifter_.image.sections) {
      const bool array = section.name == ".init_array" || section.name == ".fini_array" ||
                         section.name == ".preinit_array";
      if (!array) continue;
      for (size_t at = 0; at + 8 <= section.contents.size(); at += 8)
        enter(load<uint64_t>(&section.contents[at]));
      for (const auto& table : lifter_.image.dynamic_relocations)
        for (const Relocation& relocation : table.relocations)
          if (section.contains(relocation.address)) enter(static_cast<uint64_t>(relocation.addend));
    }
  }

  const Lifter& lifter_;
  std::vector<Piece> gaps_;
  std::vector<bool> entered_;
  std::vector<uint32_t> work_;
};

}  // namespace

void find_data(const Lifter& lifter, std::vector<Piece>& pieces) {
  const EnteredGaps known(lifter, pieces);
  const std::vector<uint64_t> patchable = patchable_places(lifter);
  size_t gap = 0;
  for (Piece& piece : pieces) {
    if (!piece.is_gap) continue;
    piece.is_data = !known.is_entered(gap++);
    if (piece.is_data || first_in(patchable, piece.start, piece.end)) continue;
    trim_padding(lifter, piece);
  }
}

}  // namespace respike

// Copies of prologs.
//
// Where unwinders read prologs (Windows NT on Alpha), a rewriting puts a copy of a procedure's
// prolog before each fragment, and the fragment's entry in the unwind table starts there. The copy
// is never executed. So a later rewriting cuts it off the piece, unless code leads into it.
//
// Example: "lda sp,-32(sp); stq ra,0(sp)" before a cold fragment of f, whose entry in .pdata says
// that its prolog ends after these two instructions.

#include <algorithm>

#include "optimizer/lift/pieces.h"

namespace respike {
namespace {

/// Copies of prologs that an earlier rewriting put before fragments, for unwinders to read. If code
/// leads into an apparent copy, the copy is code.
class PrologCopies {
 public:
  PrologCopies(const Lifter& lifter, const std::vector<Piece>& pieces, Ownership& owner)
      : lifter_(lifter) {
    for (uint32_t i = 0; i < pieces.size(); ++i) {
      const uint32_t entry = owner.find(i);
      if (entry == i) continue;
      const Fde *fde = fde_at(pieces[i].start), *of_entry = fde_at(pieces[entry].start);
      if (fde == nullptr || of_entry == nullptr || fde->rows.size() < 2 || of_entry->rows.empty() ||
          fde->rows.back().state != of_entry->rows.back().state)
        continue;
      const uint64_t end = fde->rows.back().address;
      if (end < pieces[i].end && !is_entered_from_before(pieces[i].start))
        copies_.push_back({pieces[i].start, end});
    }
    if (!copies_.empty()) drop_those_that_are_code();
  }

  /// Takes the copies off their pieces.
  void cut(std::vector<Piece>& pieces) const {
    for (Piece& piece : pieces)
      if (const auto* copy = copy_at(piece.start); copy != nullptr) piece.start = copy->end;
  }

 private:
  struct Copy {
    uint64_t start = 0;
    uint64_t end = 0;  // half-open
    bool is_code = false;
  };

  const Fde* fde_at(uint64_t start) const {
    const auto& fdes = lifter_.unwind.fdes;
    const auto fde = std::ranges::lower_bound(fdes, start, {}, &Fde::start);
    return fde != fdes.end() && fde->start == start ? &*fde : nullptr;
  }

  bool is_entered_from_before(uint64_t start) const {
    const CodeSection* code = lifter_.code_at(start);
    if (std::ranges::binary_search(lifter_.provenance->dead_ends, start)) return false;
    return code == nullptr || !is_cut_off(lifter_, code->start, true, start);
  }

  /// The copy that holds an address of code, or nullptr.
  const Copy* copy_at(uint64_t address) const {
    const auto next = std::ranges::upper_bound(copies_, address, {}, &Copy::start);
    if (next == copies_.begin() || address >= (next - 1)->end) return nullptr;
    return &*(next - 1);
  }

  void lead_to(uint64_t address) {
    if (const Copy* copy = copy_at(address)) const_cast<Copy*>(copy)->is_code = true;
  }

  void drop_those_that_are_code() {
    for (const CodeSection& code : lifter_.code)
      for (size_t i = 0; i < code.marks.size(); ++i) {
        const ControlFlow flow = lifter_.machine.facts(code.instructions[i]).flow;
        if (flow == ControlFlow::branch || flow == ControlFlow::conditional_branch ||
            flow == ControlFlow::call)
          lead_to(lifter_.branch_target(code.address(i), code.instructions[i]));
      }
    for (const RelocationTable& table : lifter_.image.relocations)
      if (!is_unwind_section(lifter_.image.sections[table.target].name))
        for (const Relocation& relocation : table.relocations)
          if (relocation.symbol < lifter_.image.symbols.size())
            lead_to(lifter_.symbol_value(relocation.symbol) +
                    static_cast<uint64_t>(relocation.addend));
    for (const Symbol& symbol : lifter_.image.symbols)
      if (symbol.type != Symbol::Type::section) lead_to(symbol.value);
    lead_to(lifter_.image.entry);
    std::erase_if(copies_, [](const Copy& copy) { return copy.is_code; });
  }

  const Lifter& lifter_;
  std::vector<Copy> copies_;  // by address
};

}  // namespace

void cut_prolog_copies(const Lifter& lifter, std::vector<Piece>& pieces, Ownership& owner) {
  const UnwindFormat* format = unwind_format_of(lifter.image);
  if (!lifter.provenance || format == nullptr || !format->reads_prologs) return;
  PrologCopies(lifter, pieces, owner).cut(pieces);
}

}  // namespace respike

// Which pieces are one procedure.
//
// Two kinds of pieces join the procedure that they came from: pieces that the compiler split off
// (NAME.cold, or landing pads that an LSDA places in another piece), and fragments of an earlier
// rewriting.
//
// Example: f and f.cold of one source file are one procedure with two ranges.

#include <string_view>
#include <unordered_map>

#include "optimizer/lift/pieces.h"

namespace respike {
namespace {

/// "f" for "f.cold" and "f.cold.3", empty for other names.
std::string_view split_from(std::string_view name) {
  const size_t at = name.rfind(".cold");
  if (at == std::string_view::npos || at == 0) return {};
  const std::string_view rest = name.substr(at + 5);
  const bool number = rest.size() > 1 && rest[0] == '.' &&
                      rest.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return rest.empty() || number ? name.substr(0, at) : std::string_view{};
}

/// The pieces that start at procedures from whose names parts were split.
class SplitProcedures {
 public:
  SplitProcedures(const Lifter& lifter, const std::vector<Piece>& pieces,
                  std::span<const uint32_t> parts) {
    const auto& symbols = lifter.image.symbols;
    for (uint32_t i : parts) by_name_[split_from(symbols[pieces[i].symbol].name)];
    uint32_t file = 0;
    for (uint32_t i = 0; i < symbols.size(); ++i) {
      if (symbols[i].type == Symbol::Type::file) file = i;
      file_of_.push_back(symbols[i].local ? file : 0);
      if (symbols[i].type != Symbol::Type::procedure || !lifter.is_code_symbol(i)) continue;
      const auto named = by_name_.find(symbols[i].name);
      const uint32_t piece = piece_at(pieces, symbols[i].value);
      if (named != by_name_.end() && piece != kNone && pieces[piece].start == symbols[i].value)
        named->second.push_back({file_of_.back(), piece});
    }
  }

  /// The piece of the procedure that `part`, a symbol's name, was split from: the procedure of the
  /// same source file, or the only procedure of that name. kNone: unknown. Example: libgcc has two
  /// read_encoded_value_with_base, in two files, each with a part
  /// read_encoded_value_with_base.cold.
  uint32_t parent(std::string_view part, uint32_t symbol) const {
    const std::vector<Named>& all = by_name_.at(split_from(part));
    const auto only = [](uint32_t& known, uint32_t piece) {
      known = known == kNone || known == piece ? piece : kSeveral;
    };
    uint32_t here = kNone, anywhere = kNone;
    for (const Named& named : all) {
      only(anywhere, named.piece);
      if (named.file == file_of_[symbol]) only(here, named.piece);
    }
    const uint32_t found = here != kNone ? here : anywhere;
    return found == kSeveral ? kNone : found;
  }

 private:
  static constexpr uint32_t kSeveral = kNone - 1;
  struct Named {
    uint32_t file;  // the symbol of its source file; 0: a procedure of all files
    uint32_t piece;
  };
  std::unordered_map<std::string_view, std::vector<Named>> by_name_;
  std::vector<uint32_t> file_of_;  // by symbol
};

void join_compiler_splits(const Lifter& lifter, const std::vector<Piece>& pieces,
                          Ownership& owner) {
  const auto& symbols = lifter.image.symbols;
  std::vector<uint32_t> cold;
  for (uint32_t i = 0; i < pieces.size(); ++i)
    if (pieces[i].from_symbol && !split_from(symbols[pieces[i].symbol].name).empty())
      cold.push_back(i);
  if (cold.empty()) return;
  const SplitProcedures procedures(lifter, pieces, cold);
  for (uint32_t i : cold) {
    const uint32_t symbol = pieces[i].symbol,
                   parent = procedures.parent(symbols[symbol].name, symbol);
    if (parent != kNone && parent != i) owner.unite(i, parent);
  }
}

void join_landing_pads(const Lifter& lifter, const std::vector<Piece>& pieces, Ownership& owner) {
  for (const Fde& fde : lifter.unwind.fdes)
    for (const Fde::CallSite& site : fde.call_sites) {
      if (site.landing_pad == 0 || (site.landing_pad >= fde.start && site.landing_pad < fde.end))
        continue;
      const uint32_t from = piece_at(pieces, fde.start), to = piece_at(pieces, site.landing_pad);
      if (from != kNone && to != kNone && from != to && owner.find(from) != owner.find(to))
        owner.unite(to, from);
    }
}

void join_fragments(const Lifter& lifter, const std::vector<Piece>& pieces, Ownership& owner) {
  if (!lifter.provenance) return;
  for (const auto& fragment : lifter.provenance->fragments) {
    const uint32_t piece = piece_at(pieces, fragment.start);
    const uint32_t entry = piece_at(pieces, fragment.owner);
    if (piece != kNone && entry != kNone && pieces[piece].start == fragment.start)
      owner.unite(piece, entry);
  }
}

}  // namespace

Ownership join_pieces(const Lifter& lifter, const std::vector<Piece>& pieces) {
  Ownership owner(pieces.size());
  join_fragments(lifter, pieces, owner);
  join_compiler_splits(lifter, pieces, owner);
  join_landing_pads(lifter, pieces, owner);  // last: cannot know which piece has the entry
  return owner;
}

}  // namespace respike

// Where procedures are.
//
// Compilers give every procedure a sized symbol of procedure type; hand-written code may have a
// symbol of no type, only an FDE, or nothing. So pieces of code come from fragments that an earlier
// rewriting noted, then from symbols, then from FDEs that no symbol covers; the gaps between these
// are pieces, too. Overlapping pieces are one procedure with several entries. Pieces that the
// compiler split off (NAME.cold, or landing pads that an LSDA places in another piece) and
// fragments join the procedure they came from.
//
// Example: the symbols f (32 bytes), f.cold (16 bytes) and an FDE without a symbol give two
// procedures: f with two ranges, and one with a made-up name.
//
// Some images name few procedures, or do not say where they end (Image::names_procedures). There,
// gaps are cut where somebody calls or keeps the address of code into which no control runs, and
// where code loads gp from the procedure value. A cut too many does no harm: branches between
// procedures are understood.
//
// A gap may be data. It counts as code when code leads to it (a branch, a call by name, start-up
// code, control that runs into it) or when it has relocations that only instructions have.
// Otherwise it stays as it is, byte for byte, and so does any code to which it would branch if it
// were code.

#include <algorithm>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/base/disjoint_sets.h"
#include "optimizer/ir/procedure_name.h"
#include "optimizer/lift/lifter.h"

namespace respike {
namespace {

struct Piece {
  uint64_t start = 0;
  uint64_t end = 0;
  uint32_t symbol = kNone;  // the symbol that names it
  bool from_symbol = false;
  bool is_gap = false;  // neither a symbol of procedure type nor unwind information names it
  bool is_data = false;
};

/// Whether an earlier rewriting made the symbol for a fragment: fragments have no entry.
bool names_fragment(const Lifter& lifter, const Symbol& symbol) {
  if (!lifter.provenance || !symbol.local) return false;
  const size_t at = symbol.name.rfind(".frag.");
  return at != std::string_view::npos && at + 6 < symbol.name.size() &&
         symbol.name.find_first_not_of("0123456789", at + 6) == std::string_view::npos;
}

/// The first place from `address` on at which code can be cut: between groups.
uint64_t cut_from(const Lifter& lifter, const CodeSection& code, uint64_t address) {
  if (address >= code.end) return code.end;
  return lifter.map().starts_group(address) ? address
                                            : std::min(lifter.map().group_end(address), code.end);
}

/// Whether a symbol only says where a procedure starts: nothing tells its end, and what follows may
/// be a procedure without a name.
bool names_start(const Lifter& lifter, const Symbol& symbol) {
  return !lifter.image.names_procedures && symbol.type == Symbol::Type::procedure &&
         symbol.size == 0 && !names_fragment(lifter, symbol);
}

/// Sorted, disjoint pieces from symbols of procedure type.
std::vector<Piece> pieces_of_symbols(const Lifter& lifter) {
  std::vector<Piece> pieces;
  const auto& symbols = lifter.image.symbols;
  for (uint32_t i = 0; i < symbols.size(); ++i) {
    const Symbol& symbol = symbols[i];
    const bool data = symbol.type == Symbol::Type::object && symbol.size != 0;
    if (symbol.type != Symbol::Type::procedure && !data) continue;
    if (!lifter.is_code_symbol(i) || names_fragment(lifter, symbol)) continue;
    if (names_start(lifter, symbol)) continue;
    const CodeSection* code = lifter.code_at(symbol.value);
    if (code == nullptr || !lifter.map().starts_group(symbol.value)) continue;
    const uint64_t size = std::min(symbol.size, code->end - symbol.value);
    const uint64_t end = cut_from(lifter, *code, symbol.value + size);
    pieces.push_back(
        {.start = symbol.value, .end = end, .symbol = i, .from_symbol = true, .is_data = data});
  }
  // Of symbols that start together one names the procedure: one with a size, of these a global one,
  // of these the first. A rewriting keeps all of this (move_symbol() in emitter_tables.cc), but not
  // how large symbols are.
  std::stable_sort(pieces.begin(), pieces.end(), [&](const Piece& a, const Piece& b) {
    if (a.start != b.start) return a.start < b.start;
    const Symbol &x = symbols[a.symbol], &y = symbols[b.symbol];
    if ((x.size != 0) != (y.size != 0)) return x.size != 0;
    return x.local < y.local;
  });
  std::vector<Piece> merged;
  for (const Piece& piece : pieces) {
    if (!merged.empty() &&
        (piece.start < merged.back().end || piece.start == merged.back().start)) {
      merged.back().end = std::max(merged.back().end, piece.end);
      merged.back().is_data |= piece.is_data;
    } else {
      merged.push_back(piece);
    }
  }
  return merged;
}

bool covered(const std::vector<Piece>& pieces, uint64_t start, uint64_t end) {
  const auto next = std::lower_bound(pieces.begin(), pieces.end(), end,
                                     [](const Piece& p, uint64_t a) { return p.start < a; });
  if (next == pieces.begin()) return false;
  const Piece& before = *(next - 1);
  return before.end > start || before.start == start;
}

/// Adds the `candidates` (sorted by start) that lie in code and that no piece covers.
void add_uncovered(const Lifter& lifter, std::vector<Piece>& pieces,
                   const std::vector<Provenance::Range>& candidates) {
  std::vector<Piece> added;
  for (const auto& [start, end] : candidates) {
    const CodeSection* code = lifter.code_at(start);
    if (code == nullptr || end > code->end || end <= start) continue;
    if (!lifter.map().starts_group(start)) continue;
    if (covered(pieces, start, end)) continue;
    if (!added.empty() && start < added.back().end) continue;
    added.push_back({start, cut_from(lifter, *code, end)});
  }
  const auto middle = static_cast<ptrdiff_t>(pieces.size());
  pieces.insert(pieces.end(), added.begin(), added.end());
  std::inplace_merge(pieces.begin(), pieces.begin() + middle, pieces.end(),
                     [](const Piece& a, const Piece& b) { return a.start < b.start; });
}

void add_pieces_of_fdes(const Lifter& lifter, std::vector<Piece>& pieces) {
  std::vector<Provenance::Range> ranges;
  for (const Fde& fde : lifter.unwind.fdes) ranges.push_back({fde.start, fde.end});
  add_uncovered(lifter, pieces, ranges);
}

/// Fragments that an earlier rewriting made, each cut where the entry of its procedure is.
std::vector<Piece> pieces_of_fragments(const Lifter& lifter) {
  std::vector<Provenance::Range> ranges;
  for (const auto& [start, end, owner] : lifter.provenance->fragments) {
    const bool cut = owner > start && owner < end && lifter.map().starts_group(owner);
    ranges.push_back({start, cut ? owner : end});
    if (cut) ranges.push_back({owner, end});
  }
  std::vector<Piece> pieces;
  add_uncovered(lifter, pieces, ranges);
  return pieces;
}

/// Fragments go before symbols: a symbol inside a fragment only names its own start.
void add_pieces_of_fragments(const Lifter& lifter, std::vector<Piece>& pieces) {
  if (!lifter.provenance || lifter.provenance->fragments.empty()) return;
  std::vector<Piece> result = pieces_of_fragments(lifter);
  const auto middle = static_cast<ptrdiff_t>(result.size());
  for (Piece piece : pieces) {
    const auto first = result.begin(), last = first + middle;
    const auto next = std::lower_bound(first, last, piece.start,
                                       [](const Piece& p, uint64_t a) { return p.start < a; });
    if (next != last && next->start == piece.start) {
      next->symbol = piece.symbol;
      next->from_symbol = piece.from_symbol;
      continue;
    }
    if (next != first && (next - 1)->end > piece.start) continue;
    if (next != last) piece.end = std::min(piece.end, next->start);
    result.push_back(piece);
  }
  std::inplace_merge(result.begin(), result.begin() + middle, result.end(),
                     [](const Piece& a, const Piece& b) { return a.start < b.start; });
  pieces = std::move(result);
}

/// Drops the stubs of far branches: a branch to a stub counts as a branch to the stub's target.
void drop_far_stubs(const Lifter& lifter, std::vector<Piece>& pieces) {
  if (!lifter.provenance) return;
  const auto& stubs = lifter.provenance->far_stubs;
  std::erase_if(pieces, [&](const Piece& piece) {
    auto after =
        std::upper_bound(stubs.begin(), stubs.end(), piece.start,
                         [](uint64_t a, const Provenance::Range& r) { return a < r.start; });
    return after != stubs.begin() && piece.start < (after - 1)->end;
  });
}

/// Addresses of symbols without a type, sorted: hand-written code names its procedures by such
/// symbols.
std::vector<uint64_t> untyped_symbols(const Lifter& lifter) {
  std::vector<uint64_t> result;
  for (uint32_t i = 0; i < lifter.image.symbols.size(); ++i) {
    const Symbol& symbol = lifter.image.symbols[i];
    const bool untyped = symbol.type == Symbol::Type::none || symbol.type == Symbol::Type::object ||
                         names_start(lifter, symbol);
    if (untyped && lifter.is_code_symbol(i)) result.push_back(symbol.value);
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// Whether control cannot come from the code before `address`. Where only padding lies between
/// `start` and `address`, the answer for `start`.
bool is_cut_off(const Lifter& lifter, uint64_t start, bool start_is_cut_off, uint64_t address) {
  while (address > start && lifter.is_padding(lifter.map().previous(address), address))
    address = lifter.map().previous(address);
  if (address == start) return start_is_cut_off;
  return !lifter.machine.facts(*lifter.instruction_at(lifter.map().previous(address)))
              .falls_through;
}

/// Takes groups of padding off the end, but for the first group.
void trim_padding(const Lifter& lifter, Piece& piece) {
  uint64_t last = lifter.map().previous_group(piece.end);
  for (; last > piece.start && lifter.is_padding(last, piece.end);
       last = lifter.map().previous_group(last))
    piece.end = last;
}

/// The addresses in the tables of no-ops that somebody may patch (-fpatchable-function-entry of gcc
/// and clang; -mrecord-mcount, also of calls), sorted. With `=4,2` two of four no-ops stand in
/// front of each procedure.
std::vector<uint64_t> patchable_places(const Lifter& lifter) {
  std::vector<uint64_t> places;
  for (const RelocationTable& table : lifter.image.relocations) {
    const std::string& name = lifter.image.sections[table.target].name;
    if (name != "__patchable_function_entries" && name != "__mcount_loc") continue;
    for (const Relocation& relocation : table.relocations)
      if (relocation.role == RelocationRole::address64)
        places.push_back(lifter.symbol_value(relocation.symbol) +
                         static_cast<uint64_t>(relocation.addend));
  }
  std::sort(places.begin(), places.end());
  return places;
}

/// Places in code that hold an address, sorted: their bytes may be zero in the file, where linkers
/// leave the address to the dynamic linker.
std::vector<uint64_t> words_in_code(const Lifter& lifter) {
  std::vector<uint64_t> words;
  for (const CodeSection& code : lifter.code)
    for (const Relocation& relocation : *code.relocations)
      if (relocation.role == RelocationRole::address64) words.push_back(relocation.address);
  for (const DynamicRelocationTable& table : lifter.image.dynamic_relocations)
    for (const Relocation& relocation : table.relocations)
      if (lifter.code_at(relocation.address) != nullptr) words.push_back(relocation.address);
  std::sort(words.begin(), words.end());
  return words;
}

/// Places in code that something refers to, or that hold an address, sorted; of images of Windows
/// alone.
std::vector<uint64_t> used_places(const Lifter& lifter) {
  std::vector<uint64_t> places;
  if (lifter.image.calling_standard != CallingStandard::windows) return places;
  for (const RelocationTable& table : lifter.image.relocations) {
    if (is_unwind_section(lifter.image.sections[table.target].name)) continue;
    for (const Relocation& relocation : table.relocations) {
      places.push_back(relocation.address);
      if (relocation.symbol < lifter.image.symbols.size())
        places.push_back(lifter.symbol_value(relocation.symbol) +
                         static_cast<uint64_t>(relocation.addend));
    }
  }
  std::erase_if(places, [&](uint64_t place) { return lifter.code_at(place) == nullptr; });
  std::sort(places.begin(), places.end());
  return places;
}

/// Whether [start, end) is too short for anything but what aligns the procedure behind. Compilers
/// for Windows NT have their constants elsewhere, and linkers pad with zeros.
bool aligns_next(const Lifter& lifter, uint64_t start, uint64_t end) {
  constexpr uint64_t kAlignment = 16;
  return lifter.image.calling_standard == CallingStandard::windows && end % kAlignment == 0 &&
         end - start < kAlignment;
}

/// The first of the sorted `places` in [start, end); nullopt: there is none.
std::optional<uint64_t> first_in(std::span<const uint64_t> places, uint64_t start, uint64_t end) {
  const auto found = std::ranges::lower_bound(places, start);
  return found != places.end() && *found < end ? std::optional(*found) : std::nullopt;
}

/// Where the image does not name its procedures: places behind padding of zeros, sorted.
std::vector<uint64_t> places_behind_zeros(const Lifter& lifter) {
  if (lifter.image.names_procedures) return {};
  const auto is_zero = [&](const CodeSection& code, size_t i) {
    return !lifter.machine.facts(code.instructions[i]).nop &&
           lifter.is_padding(code.address(i), code.address(i + 1));
  };
  std::vector<uint64_t> places;
  for (const CodeSection& code : lifter.code)
    for (size_t i = 1; i < code.marks.size(); ++i)
      if (is_zero(code, i - 1) && !is_zero(code, i)) places.push_back(code.address(i));
  return places;
}

/// Where the image does not name its procedures: places at which code starts because somebody calls
/// them or keeps their addresses, sorted.
std::vector<uint64_t> unnamed_entries(const Lifter& lifter) {
  if (lifter.image.names_procedures) return {};
  std::vector<uint64_t> places = likely_formed_addresses(lifter);
  places.push_back(lifter.image.entry);
  for (const CodeSection& code : lifter.code)
    for (size_t i = 0; i < code.marks.size(); ++i)
      if (lifter.machine.facts(code.instructions[i]).flow == ControlFlow::call)
        places.push_back(lifter.branch_target(code.address(i), code.instructions[i]));
  for (const RelocationTable& table : lifter.image.relocations) {
    if (is_unwind_section(lifter.image.sections[table.target].name)) continue;
    for (const Relocation& relocation : table.relocations)
      if (lifter.is_code_symbol(relocation.symbol))
        places.push_back(lifter.symbol_value(relocation.symbol) +
                         static_cast<uint64_t>(relocation.addend));
  }
  std::erase_if(places, [&](uint64_t place) {
    return lifter.code_at(place) == nullptr || !lifter.map().starts_group(place);
  });
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

/// Where the image does not name its procedures: entries of procedures that compute gp from their
/// own addresses, sorted.
std::vector<uint64_t> unnamed_entries_that_load_gp(const Lifter& lifter) {
  return lifter.image.names_procedures ? std::vector<uint64_t>() : entries_that_load_gp(lifter);
}

/// Pieces without a size (symbols of size 0) reach to the next piece; gaps that are not padding
/// become pieces of their own, and so do no-ops that may be patched.
void fill_gaps(const Lifter& lifter, std::vector<Piece>& pieces) {
  std::vector<Piece> result;
  size_t i = 0;
  const CodeMap& map = lifter.map();
  std::vector<uint64_t> untyped = untyped_symbols(lifter);
  // Whatever control seems to come from above: calls and traps that never return.
  const std::vector<uint64_t> entries = unnamed_entries_that_load_gp(lifter);
  for (const auto& places : {unnamed_entries(lifter), places_behind_zeros(lifter), entries})
    untyped.insert(untyped.end(), places.begin(), places.end());
  std::sort(untyped.begin(), untyped.end());
  const std::vector<uint64_t> patchable = patchable_places(lifter);
  const std::vector<uint64_t> words = words_in_code(lifter), used = used_places(lifter);
  for (const CodeSection& code : lifter.code) {
    uint64_t at = code.start;
    const auto add_trimmed = [&](uint64_t start, uint64_t end) {
      const auto is_nop = [&](const Instruction& x) { return lifter.machine.facts(x).nop; };
      const auto all_nops = [&](uint64_t group) {
        const auto code_there = lifter.code_from(group).first(map.groups().slots);
        return std::all_of(code_there.begin(), code_there.end(), is_nop);
      };
      const auto patched = first_in(patchable, start, end);
      while (start < patched.value_or(end) && all_nops(start)) start = map.group_end(start);
      if (start < end && patched) {
        result.push_back({.start = start, .end = end, .is_gap = true});
        return;
      }
      if (lifter.machine.codec.zeros_pad && lifter.is_padding(start, end) &&
          !first_in(words, start, end))
        return;
      if (aligns_next(lifter, start, end) && lifter.is_padding(start, end) &&
          !first_in(used, start, end))
        return;
      if (start < end) result.push_back({.start = start, .end = end, .is_gap = true});
    };
    const auto gap = [&](uint64_t end) {
      auto symbol = std::upper_bound(untyped.begin(), untyped.end(), at);
      uint64_t known = at;  // cut_off is for this place, so that no padding is read twice
      bool cut_off = true;
      for (; symbol != untyped.end() && *symbol < end; ++symbol) {
        if (!map.starts_group(*symbol)) continue;
        cut_off = is_cut_off(lifter, known, cut_off, *symbol);
        known = *symbol;
        if (!cut_off && !std::ranges::binary_search(entries, *symbol)) continue;
        add_trimmed(at, *symbol);
        at = *symbol;
      }
      add_trimmed(at, end);
    };
    for (; i < pieces.size() && pieces[i].start < code.end; ++i) {
      Piece piece = pieces[i];
      gap(piece.start);
      if (piece.end == piece.start) {
        piece.end = i + 1 < pieces.size() ? std::min(pieces[i + 1].start, code.end) : code.end;
        trim_padding(lifter, piece);
      }
      at = piece.end;
      if (piece.end > piece.start) result.push_back(piece);
    }
    gap(code.end);
  }
  pieces = std::move(result);
}

uint32_t piece_at(const std::vector<Piece>& pieces, uint64_t address) {
  auto after = std::upper_bound(pieces.begin(), pieces.end(), address,
                                [](uint64_t a, const Piece& p) { return a < p.start; });
  if (after == pieces.begin()) return kNone;
  --after;
  return address < after->end ? static_cast<uint32_t>(after - pieces.begin()) : kNone;
}

/// Sets of pieces of one procedure; the piece with the entry stands for the set.
using Ownership = DisjointSets;

/// "f" for "f.cold" and "f.cold.3", empty for other names.
std::string_view split_from(std::string_view name) {
  const size_t at = name.rfind(".cold");
  if (at == std::string_view::npos || at == 0) return {};
  const std::string_view rest = name.substr(at + 5);
  const bool number = rest.size() > 1 && rest[0] == '.' &&
                      rest.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return rest.empty() || number ? name.substr(0, at) : std::string_view{};
}

/// The pieces that start at procedures with the names that parts were split from.
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

  /// The piece of the procedure that `part`, a symbol's name, was split from: in the same source
  /// file, or the only one of its name. kNone: not known. Example: libgcc has two
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
    uint32_t file;  // its symbol; 0: a procedure of all files
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

/// Copies of prologs that an earlier rewriting put in front of fragments, for unwinders to read.
/// Code that leads into what looks like a copy makes it code.
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

/// Copies of prologs are no code, and room for code.
void cut_prolog_copies(const Lifter& lifter, std::vector<Piece>& pieces, Ownership& owner) {
  const UnwindFormat* format = unwind_format_of(lifter.image);
  if (!lifter.provenance || format == nullptr || !format->reads_prologs) return;
  PrologCopies(lifter, pieces, owner).cut(pieces);
}

std::string name_of(const Lifter& lifter, const Piece& piece,
                    const std::unordered_map<uint64_t, uint32_t>& untyped) {
  if (piece.symbol != kNone) return std::string(lifter.image.symbols[piece.symbol].name);
  const auto symbol = untyped.find(piece.start);
  if (symbol != untyped.end()) return std::string(lifter.image.symbols[symbol->second].name);
  return made_up_name(piece.start);
}

void make_procedures(Lifter& lifter, const std::vector<Piece>& pieces, Ownership& owner) {
  std::unordered_map<uint64_t, uint32_t> untyped;
  const auto& symbols = lifter.image.symbols;
  for (uint32_t i = 0; i < symbols.size(); ++i)
    if ((symbols[i].type == Symbol::Type::none || names_start(lifter, symbols[i])) &&
        !symbols[i].name.empty() && lifter.is_code_symbol(i))
      untyped.emplace(symbols[i].value, i);

  Program& program = lifter.program;
  std::vector<ProcedureId> id_of(pieces.size(), kNone);
  size_t count = 0;
  for (uint32_t i = 0; i < pieces.size(); ++i) count += owner.find(i) == i ? 1 : 0;
  program.procedures.reserve(count);
  program.ranges.reserve(pieces.size());
  for (uint32_t i = 0; i < pieces.size(); ++i) {
    if (owner.find(i) != i) continue;
    id_of[i] = static_cast<ProcedureId>(program.procedures.size());
    Procedure& procedure = program.procedures.emplace_back();
    procedure.name = name_of(lifter, pieces[i], untyped);
    procedure.address = pieces[i].start;
  }
  for (uint32_t i = 0; i < pieces.size(); ++i) {
    const ProcedureId id = id_of[owner.find(i)];
    program.ranges.push_back({pieces[i].start, pieces[i].end, id, 0, 0});
    program[id].size += pieces[i].end - pieces[i].start;
    lifter.mark(pieces[i].start, kLeader | kReferenced);
  }
  program.range_index = RangeIndex(program.ranges);
  for (uint32_t i = 0; i < symbols.size(); ++i) {
    if (!lifter.is_code_symbol(i) || symbols[i].type == Symbol::Type::section) continue;
    if (!lifter.image.sections[symbols[i].section].contains(symbols[i].value)) continue;
    const uint32_t range = lifter.range_at(symbols[i].value);
    if (range == kNone) continue;
    Procedure& procedure = program[program.ranges[range].procedure];
    procedure.symbols.push_back(i);
    if (!lifter.map().starts_group(symbols[i].value))
      lifter.make_opaque(procedure, fmt::format("the symbol {} names the middle of an instruction",
                                                symbols[i].name));
    const bool entry =
        symbols[i].type == Symbol::Type::procedure && !names_fragment(lifter, symbols[i]);
    unsigned marks = kLeader | kReferenced;
    if (entry) marks |= kEntryMark;
    lifter.mark(symbols[i].value, marks);
  }
}

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
  /// An entry is the start of a gap, or behind the two instructions at its start that load gp.
  void enter(uint64_t address) {
    const uint32_t index = piece_at(gaps_, address);
    if (index == kNone || entered_[index]) return;
    const CodeMap& map = lifter_.map();
    if (address > map.group_end(map.group_end(gaps_[index].start))) return;
    entered_[index] = true;
    work_.push_back(index);
  }

  /// Whether control runs into the address. Calls do not count: anything may be behind the last
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

  /// Gaps that other code calls by name, or that have relocations which only instructions have, are
  /// code.
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

/// Tells code from data among the gaps. Padding behind code is cut off; no-ops and zeros behind
/// data may belong to the data.
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

void leave_data(Lifter& lifter, const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces)
    if (piece.is_data) {
      const ProcedureId id = lifter.program.ranges[lifter.range_at(piece.start)].procedure;
      lifter.data.push_back(id);
      lifter.make_opaque(lifter.program[id], "nothing says that it is code");
    }
  std::sort(lifter.data.begin(), lifter.data.end());
}

/// Pins code in sections whose ends the program refers to by name: the program may compare
/// addresses with them, or count.
void pin_delimited_sections(Lifter& lifter) {
  std::set<std::string_view> names;
  for (const Symbol& symbol : lifter.image.symbols) {
    if (!symbol.defined_in_section()) continue;
    if (symbol.name.starts_with("__start_")) names.insert(symbol.name.substr(8));
    if (symbol.name.starts_with("__stop_")) names.insert(symbol.name.substr(7));
  }
  for (const CodeRange& range : lifter.program.ranges)
    if (names.contains(lifter.image.sections[lifter.code_at(range.start)->section].name))
      lifter.pin(lifter.program[range.procedure],
                 "the program knows where its section starts or ends");
}

/// Procedures with no-ops or calls that may be patched, or with such no-ops in front of them, stay.
/// The no-ops in front stay as data.
void leave_patchable_procedures(Lifter& lifter) {
  const auto& ranges = lifter.program.ranges;
  for (const uint64_t place : patchable_places(lifter)) {
    const uint32_t range = lifter.range_at(place);
    if (range == kNone) continue;
    const Instruction* there = lifter.instruction_at(place);
    const bool nop = there != nullptr && lifter.machine.facts(*there).nop;
    lifter.make_opaque(lifter.program[ranges[range].procedure],
                       nop ? "the no-ops in it may be patched" : "the code in it may be patched");
    if (std::ranges::binary_search(lifter.data, ranges[range].procedure) &&
        range + 1 < ranges.size())
      lifter.make_opaque(lifter.program[ranges[range + 1].procedure],
                         "the no-ops in front of it may be patched");
  }
}

/// Clang's -fsanitize=cfi checks addresses of procedures by their places in a table of jumps, of
/// which each is a procedure to the linker, or the first is and stands for the table. Example: f:
/// jmp f.cfi; int3; int3; int3. Checks of other images (-fsanitize-cfi-cross-dso) find the page of
/// __cfi_check.
void pin_tables_of_jumps(Lifter& lifter) {
  constexpr int kPadding = 3;  // bytes, of an entry without endbr64
  for (const CodeRange& range : lifter.program.ranges) {
    Procedure& procedure = lifter.program[range.procedure];
    if (procedure.name == "__cfi_check") lifter.pin(procedure, "others look for it by its address");
    if (procedure.name.starts_with("__typeid_"))
      lifter.pin(procedure, "it is the first entry of a table of jumps");
    const Instruction* jump = lifter.instruction_at(range.start);
    if (jump != nullptr && lifter.machine.facts(*jump).marks_target &&
        lifter.map().group_end(range.start) < range.end)
      jump = lifter.instruction_at(lifter.map().group_end(range.start));
    if (jump == nullptr || lifter.machine.facts(*jump).flow != ControlFlow::branch) continue;
    const uint64_t behind = lifter.map().group_end(lifter.program.origin_base + jump->origin);
    const auto padding = lifter.image.bytes_at(behind, kPadding);
    const uint8_t filler = lifter.machine.codec.filler;
    if (filler != 0 && behind + kPadding <= range.end && padding &&
        std::ranges::count(*padding, filler) == kPadding)
      lifter.pin(procedure, "it is an entry of a table of jumps");
  }
}

/// Clang's -fsanitize=kcfi puts a number in front of each procedure, which callers compare: __cfi_f
/// holds the number and ends where f starts. Control runs from __cfi_f into f, so f stays, too.
void pin_numbered_procedures(Lifter& lifter) {
  for (Procedure& procedure : lifter.program.procedures)
    if (procedure.name.starts_with("__cfi_"))
      lifter.pin(procedure, "callers look for it in front of another procedure");
}

/// Hand-written code measures a procedure by a label behind it. Example: `f_end` in front of g for
/// `f_end - f`. Where g follows without padding, the label and g have one address, so both stay.
/// Where instructions have one length, compilers put labels of their own at entries ($f..ng).
void pin_measured_procedures(Lifter& lifter) {
  if (lifter.map().groups().fixed()) return;
  const auto& ranges = lifter.program.ranges;
  for (const Symbol& symbol : lifter.image.symbols) {
    if (symbol.type != Symbol::Type::none || !symbol.defined_in_section()) continue;
    const uint32_t range = lifter.range_at(symbol.value);
    if (range == kNone || range == 0) continue;
    const CodeRange &before = ranges[range - 1], &behind = ranges[range];
    if (behind.start != symbol.value || before.end != symbol.value ||
        before.procedure == behind.procedure ||
        lifter.program[behind.procedure].name == symbol.name)
      continue;
    constexpr const char* kReason = "a label between two procedures may tell where one ends";
    lifter.pin(lifter.program[before.procedure], kReason);
    lifter.pin(lifter.program[behind.procedure], kReason);
  }
}

/// Finds for each range where the no-ops in front of it start.
void find_nops(Lifter& lifter) {
  const CodeMap& map = lifter.map();
  uint64_t end = 0;  // of the range before
  for (const CodeRange& range : lifter.program.ranges) {
    const uint64_t first = std::max(end, lifter.code_at(range.start)->start);
    uint64_t at = range.start;
    while (at > first && lifter.machine.facts(*lifter.instruction_at(map.previous(at))).nop)
      at = map.previous(at);
    lifter.nops_before.push_back(at);
    end = range.end;
  }
}

}  // namespace

void find_procedures(Lifter& lifter) {
  std::vector<Piece> pieces = pieces_of_symbols(lifter);
  add_pieces_of_fragments(lifter, pieces);
  if (lifter.provenance) add_uncovered(lifter, pieces, lifter.provenance->far_stubs);
  add_pieces_of_fdes(lifter, pieces);
  fill_gaps(lifter, pieces);
  drop_far_stubs(lifter, pieces);
  find_data(lifter, pieces);
  Ownership owner(pieces.size());
  join_fragments(lifter, pieces, owner);
  join_compiler_splits(lifter, pieces, owner);
  join_landing_pads(lifter, pieces, owner);  // last: cannot tell which piece has the entry
  cut_prolog_copies(lifter, pieces, owner);
  make_procedures(lifter, pieces, owner);
  find_nops(lifter);
  leave_data(lifter, pieces);
  pin_delimited_sections(lifter);
  leave_patchable_procedures(lifter);
  pin_tables_of_jumps(lifter);
  pin_numbered_procedures(lifter);
  pin_measured_procedures(lifter);

  // Wherever control comes from outside, a block starts.
  lifter.mark(lifter.image.entry, kLeader | kReferenced | kEntryMark);
  for (const LoaderEntry& entry : lifter.image.loader_entries)
    if (entry.enters_code()) lifter.mark(entry.value, kLeader | kReferenced | kEntryMark);

  // .init and .fini are pieced together from several objects: their order is their meaning.
  for (const CodeRange& range : lifter.program.ranges) {
    const CodeSection* code = lifter.code_at(range.start);
    const std::string& section = lifter.image.sections[code->section].name;
    if (section == ".init" || section == ".fini")
      lifter.pin(lifter.program[range.procedure],
                 "start-up code that the linker pieced together from several objects");
  }
}

void mark_unwind_places(Lifter& lifter) {
  for (const Fde& fde : lifter.unwind.fdes) {
    lifter.mark(fde.start, kLeader);
    lifter.mark(fde.end, kLeader);
    for (const Fde::CallSite& site : fde.call_sites) {
      lifter.mark(site.start, kLeader);
      lifter.mark(site.end, kLeader);
      if (site.landing_pad != 0)
        lifter.mark(site.landing_pad, kLeader | kReferenced | kLandingPadMark);
    }
  }
  std::vector<std::pair<uint64_t, uint64_t>> unknown = lifter.unreadable_unwind;
  for (const Fde& fde : lifter.unwind.fdes)
    if (is_opaque(lifter.unwind.tables, fde)) unknown.emplace_back(fde.start, fde.end);
  std::sort(unknown.begin(), unknown.end());
  const auto& ranges = lifter.program.ranges;
  auto range = ranges.begin();
  for (const auto& [start, end] : unknown) {
    while (range != ranges.end() && range->end <= start) ++range;
    for (; range != ranges.end() && range->start < end; ++range)
      lifter.make_opaque(lifter.program[range->procedure],
                         "its unwind information is not understood");
  }
}

}  // namespace respike

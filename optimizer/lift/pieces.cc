// Where pieces of code are.
//
// Compilers give every procedure a sized symbol of procedure type. Hand-written code may have a
// symbol of no type, only an FDE, or nothing. So pieces of code come first from fragments that an
// earlier rewriting noted, then from symbols, then from FDEs that no symbol covers; the gaps
// between these are pieces as well.
//
// Example: the symbols f (32 bytes), f.cold (16 bytes) and an FDE without a symbol give three
// pieces, and the hand-written code between two of them gives a fourth piece.
//
// Some images name few procedures, or do not say where they end (Image::names_procedures). There,
// gaps are cut where code into which no control runs is called or has its address kept, and where
// code loads gp from the procedure value. An unnecessary cut does no harm: branches between
// procedures are understood.

#include "optimizer/lift/pieces.h"

#include <algorithm>

namespace respike {
namespace {

/// The first place at or after `address` at which code can be cut: between groups.
uint64_t cut_from(const Lifter& lifter, const CodeSection& code, uint64_t address) {
  if (address >= code.end) return code.end;
  return lifter.map().starts_group(address) ? address
                                            : std::min(lifter.map().group_end(address), code.end);
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
  // Among symbols that start together, the symbol that names the procedure is one with a size;
  // among these, a global symbol; among these, the first. A rewriting keeps all of this
  // (move_symbol() in emitter_tables.cc), but not the sizes of symbols.
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

/// Fragments that an earlier rewriting made, cut at the entry of their procedure.
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

/// Addresses of symbols without a type, sorted: such symbols name hand-written procedures.
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

/// Places in code that hold an address, sorted: their bytes may be zero in the file, where linkers
/// leave it to the dynamic linker to write the address.
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

/// Places in code that something refers to, or that hold an address, sorted; only for images of
/// Windows.
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

/// Whether [start, end) is so short that it can only align the procedure after it. Compilers for
/// Windows NT keep their constants elsewhere, and linkers pad with zeros.
bool aligns_next(const Lifter& lifter, uint64_t start, uint64_t end) {
  constexpr uint64_t kAlignment = 16;
  return lifter.image.calling_standard == CallingStandard::windows && end % kAlignment == 0 &&
         end - start < kAlignment;
}

/// Where the image does not name its procedures: places after padding of zeros, sorted.
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

/// Pieces without a size (symbols of size 0) reach to the next piece. Gaps that are not padding
/// become pieces of their own, and so do no-ops that may be patched.
void fill_gaps(const Lifter& lifter, std::vector<Piece>& pieces) {
  std::vector<Piece> result;
  size_t i = 0;
  const CodeMap& map = lifter.map();
  std::vector<uint64_t> untyped = untyped_symbols(lifter);
  // Entries no matter what control seems to come from above: calls and traps that never return.
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
      uint64_t known = at;  // the place of `cut_off`, to read no padding twice
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

}  // namespace

bool names_fragment(const Lifter& lifter, const Symbol& symbol) {
  if (!lifter.provenance || !symbol.local) return false;
  const size_t at = symbol.name.rfind(".frag.");
  return at != std::string_view::npos && at + 6 < symbol.name.size() &&
         symbol.name.find_first_not_of("0123456789", at + 6) == std::string_view::npos;
}

bool names_start(const Lifter& lifter, const Symbol& symbol) {
  return !lifter.image.names_procedures && symbol.type == Symbol::Type::procedure &&
         symbol.size == 0 && !names_fragment(lifter, symbol);
}

bool is_cut_off(const Lifter& lifter, uint64_t start, bool start_is_cut_off, uint64_t address) {
  while (address > start && lifter.is_padding(lifter.map().previous(address), address))
    address = lifter.map().previous(address);
  if (address == start) return start_is_cut_off;
  return !lifter.machine.facts(*lifter.instruction_at(lifter.map().previous(address)))
              .falls_through;
}

void trim_padding(const Lifter& lifter, Piece& piece) {
  uint64_t last = lifter.map().previous_group(piece.end);
  for (; last > piece.start && lifter.is_padding(last, piece.end);
       last = lifter.map().previous_group(last))
    piece.end = last;
}

std::vector<uint64_t> patchable_places(const Lifter& lifter) {
  return addresses_in(lifter, {"__patchable_function_entries", "__mcount_loc"});
}

std::vector<uint64_t> addresses_in(const Lifter& lifter,
                                   std::initializer_list<std::string_view> sections) {
  std::vector<uint64_t> places;
  for (const RelocationTable& table : lifter.image.relocations) {
    const std::string_view name = lifter.image.sections[table.target].name;
    if (std::ranges::find(sections, name) == sections.end()) continue;
    for (const Relocation& relocation : table.relocations)
      if (relocation.role == RelocationRole::address64)
        places.push_back(lifter.symbol_value(relocation.symbol) +
                         static_cast<uint64_t>(relocation.addend));
  }
  std::sort(places.begin(), places.end());
  return places;
}

std::optional<uint64_t> first_in(std::span<const uint64_t> places, uint64_t start, uint64_t end) {
  const auto found = std::ranges::lower_bound(places, start);
  return found != places.end() && *found < end ? std::optional(*found) : std::nullopt;
}

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

std::vector<uint64_t> unnamed_entries_that_load_gp(const Lifter& lifter) {
  return lifter.image.names_procedures ? std::vector<uint64_t>() : entries_that_load_gp(lifter);
}

uint32_t piece_at(const std::vector<Piece>& pieces, uint64_t address) {
  auto after = std::upper_bound(pieces.begin(), pieces.end(), address,
                                [](uint64_t a, const Piece& p) { return a < p.start; });
  if (after == pieces.begin()) return kNone;
  --after;
  return address < after->end ? static_cast<uint32_t>(after - pieces.begin()) : kNone;
}

std::vector<Piece> find_pieces(const Lifter& lifter) {
  std::vector<Piece> pieces = pieces_of_symbols(lifter);
  add_pieces_of_fragments(lifter, pieces);
  if (lifter.provenance) add_uncovered(lifter, pieces, lifter.provenance->far_stubs);
  add_pieces_of_fdes(lifter, pieces);
  fill_gaps(lifter, pieces);
  drop_far_stubs(lifter, pieces);
  return pieces;
}

}  // namespace respike

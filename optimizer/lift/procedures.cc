// From pieces of code to procedures.
//
// Pieces (pieces.cc) that belong together (joins.cc) are the ranges of one procedure, named by the
// symbol at its entry, or by its address. Overlapping pieces are one procedure with several
// entries. A piece that may be data (entered_gaps.cc) is an opaque procedure.
//
// Example: the symbols f (32 bytes), f.cold (16 bytes) and an FDE without a symbol give two
// procedures: f with two ranges, and one with a made-up name.

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "optimizer/ir/procedure_name.h"
#include "optimizer/lift/pieces.h"

namespace respike {
namespace {

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

void leave_data(Lifter& lifter, const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces)
    if (piece.is_data) {
      const ProcedureId id = lifter.program.ranges[lifter.range_at(piece.start)].procedure;
      lifter.data.push_back(id);
      lifter.make_opaque(lifter.program[id], "nothing says that it is code");
    }
  std::sort(lifter.data.begin(), lifter.data.end());
}

/// Finds for each range where the no-ops before it start.
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
  std::vector<Piece> pieces = find_pieces(lifter);
  find_data(lifter, pieces);
  Ownership owner = join_pieces(lifter, pieces);
  cut_prolog_copies(lifter, pieces, owner);
  make_procedures(lifter, pieces, owner);
  find_nops(lifter);
  leave_data(lifter, pieces);
  pin_known_places(lifter);

  // A block starts wherever control comes from outside.
  lifter.mark(lifter.image.entry, kLeader | kReferenced | kEntryMark);
  for (const LoaderEntry& entry : lifter.image.loader_entries)
    if (entry.enters_code()) lifter.mark(entry.value, kLeader | kReferenced | kEntryMark);
}

/// Where an exception table is not understood, its landing pads are unknown, so the procedure
/// stays. When the pads may lie outside of the procedure, all other code that the compiler split
/// off the same function stays as well. Such code has the function's name up to the dot: f, f.cold,
/// f.__part.1.
static void keep_landing_pads(Lifter& lifter) {
  const char* const reason = "its exception table is not understood";
  const auto name_of_function = [](const Procedure& procedure) {
    return procedure.name.substr(0, procedure.name.find('.', 1));
  };
  std::set<std::string> names;
  for (const Fde& fde : lifter.unwind.fdes) {
    if (fde.kept_lsda == 0) continue;
    const auto& ranges = lifter.program.ranges;
    size_t range = lifter.program.range_index.starts_up_to(ranges, fde.start);
    if (range != 0 && ranges[range - 1].end > fde.start) --range;
    for (; range < ranges.size() && ranges[range].start < fde.end; ++range) {
      Procedure& procedure = lifter.program[ranges[range].procedure];
      lifter.make_opaque(procedure, reason);
      if (fde.pads_elsewhere && !procedure.name.empty())
        names.insert(std::string(name_of_function(procedure)));
    }
    if (fde.landing_pad_start != 0) lifter.make_opaque_at(fde.landing_pad_start, reason);
  }
  if (names.empty()) return;
  for (Procedure& procedure : lifter.program.procedures)
    if (names.contains(std::string(name_of_function(procedure))))
      lifter.make_opaque(procedure, reason);
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
  keep_landing_pads(lifter);
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

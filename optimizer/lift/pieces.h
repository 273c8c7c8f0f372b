#pragma once
// Pieces of code, from which procedures are made; private to this folder.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "optimizer/base/disjoint_sets.h"
#include "optimizer/lift/lifter.h"

namespace respike {

/// Contiguous code that no border of a procedure cuts, or data in the code.
struct Piece {
  uint64_t start = 0;
  uint64_t end = 0;
  uint32_t symbol = kNone;  // the symbol that names the piece
  bool from_symbol = false;
  bool is_gap = false;  // neither a symbol of procedure type nor unwind information names it
  bool is_data = false;
};

/// Sets of pieces of one procedure; the piece with the entry stands for the set.
using Ownership = DisjointSets;

/// All pieces of the image, by address, disjoint: what is code and what may be data.
std::vector<Piece> find_pieces(const Lifter&);

/// Separates code from data among the gaps. Padding after code is cut off; no-ops and zeros after
/// data may belong to the data. See entered_gaps.cc.
void find_data(const Lifter&, std::vector<Piece>&);

/// Unites the pieces that are one procedure. See joins.cc.
Ownership join_pieces(const Lifter&, const std::vector<Piece>&);

/// Cuts off copies of prologs and room for code; neither is code. See prolog_copies.cc.
void cut_prolog_copies(const Lifter&, std::vector<Piece>&, Ownership&);

/// Pins code that the program may find or patch in other ways than by references. See
/// pinned_code.cc.
void pin_known_places(Lifter&);

/// Index of the piece that holds the address, or kNone.
uint32_t piece_at(const std::vector<Piece>& pieces, uint64_t address);

/// Whether an earlier rewriting made the symbol for a fragment: fragments have no entry.
bool names_fragment(const Lifter& lifter, const Symbol& symbol);

/// Whether a symbol only says where a procedure starts: its end is unknown, and the code that
/// follows may be a procedure without a name.
bool names_start(const Lifter& lifter, const Symbol& symbol);

/// Whether control cannot come from the code before `address`. `start_is_cut_off` is the answer for
/// `start`; it also holds for `address` where only padding lies between the two.
bool is_cut_off(const Lifter& lifter, uint64_t start, bool start_is_cut_off, uint64_t address);

/// Takes groups of padding off the end, except the first of these groups.
void trim_padding(const Lifter& lifter, Piece& piece);

/// The addresses in the tables of no-ops that may be patched (-fpatchable-function-entry of gcc and
/// clang; -mrecord-mcount, also for calls), sorted. With `=4,2` two of four no-ops stand before
/// each procedure.
std::vector<uint64_t> patchable_places(const Lifter& lifter);

/// The addresses that words of these sections hold, sorted.
std::vector<uint64_t> addresses_in(const Lifter& lifter,
                                   std::initializer_list<std::string_view> sections);

/// The first of the sorted `places` in [start, end), or nullopt.
std::optional<uint64_t> first_in(std::span<const uint64_t> places, uint64_t start, uint64_t end);

/// Where the image does not name its procedures: places at which code starts because something
/// calls them or keeps their addresses, sorted.
std::vector<uint64_t> unnamed_entries(const Lifter& lifter);

/// Where the image does not name its procedures: entries of procedures that compute gp from their
/// own addresses, sorted.
std::vector<uint64_t> unnamed_entries_that_load_gp(const Lifter& lifter);

}  // namespace respike

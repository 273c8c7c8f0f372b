#pragma once
// What OCaml's runtime knows about code; see ocaml.cc. Private to this folder.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "optimizer/image/image.h"

namespace respike {

struct Lifter;

/// Half-open.
struct OcamlExtent {
  uint64_t start = 0, end = 0;
};
/// Whether one of the extents, which are sorted and do not overlap, holds the address.
bool any_holds(const std::vector<OcamlExtent>& extents, uint64_t address);

struct Ocaml {
  /// The code of OCaml and of the runtime in assembly; sorted.
  std::vector<OcamlExtent> code;
  /// Tables of return addresses, in data; sorted.
  std::vector<OcamlExtent> frame_tables;
  /// In a program: all code of OCaml, from the lowest start of a unit to the highest end. Words of
  /// data hold starts and ends of units; `hull_words` has these words by address; `true`: an end.
  OcamlExtent hull;
  std::vector<std::pair<uint64_t, bool>> hull_words;
  bool table_is_odd = false;  // a frame table holds a word that is not understood

  bool is_code(uint64_t address) const { return any_holds(code, address); }
};
Ocaml find_ocaml(const Image& image);

/// Whether the symbol is one of the labels at the ends of a unit, to which only the table of a
/// program refers.
bool is_ocaml_unit_label(const Lifter& lifter, const Symbol& symbol);

/// Whether the word of data at `word` is a return address of OCaml's code that a frame table lists:
/// `target` comes right after a call.
bool is_ocaml_return_address(const Lifter& lifter, uint64_t word, uint64_t target);
/// Keeps all of OCaml's code in place if the word, which refers to code in an unknown way, is in a
/// frame table.
void keep_odd_frame_table(Lifter& lifter, uint64_t word);
/// Whether the word is the start or the end of a unit in the table of a program.
std::optional<bool> ocaml_hull_word(const Lifter& lifter, uint64_t word);
/// Whether the instruction at `place` forms the address of an exception handler in its own
/// procedure, and the next instruction pushes that address.
bool forms_ocaml_handler(const Lifter& lifter, uint64_t place, uint64_t target);

}  // namespace respike

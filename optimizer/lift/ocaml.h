#pragma once
// What OCaml's runtime knows about code; see ocaml.cc. Private to this folder.

#include <cstdint>
#include <vector>

#include "optimizer/image/image.h"

namespace respike {

/// Addresses [start, end) that symbols of OCaml's compiler delimit.
struct OcamlExtent {
  uint64_t start = 0, end = 0;
};
/// Whether one of the extents, which are sorted and do not overlap, holds the address.
bool any_holds(const std::vector<OcamlExtent>& extents, uint64_t address);

/// The code of each compilation unit, and of the runtime in assembly; sorted.
std::vector<OcamlExtent> ocaml_code(const Image& image);
/// The tables of return addresses, in data; sorted. Each address in them is that behind a call.
std::vector<OcamlExtent> ocaml_frame_tables(const Image& image);

}  // namespace respike

#pragma once
// Debug information (DWARF) that follows the code.

#include <cstdint>
#include <string>
#include <vector>

#include "optimizer/base/diagnostics.h"
#include "optimizer/debug/address_map.h"
#include "optimizer/image/image.h"

namespace respike {

/// Whether the image has debug sections that would be stale in an output.
bool has_debug_sections(const Image& image);

/// Writes the debug sections of `image` for code in its new places: fills `replaced` and
/// `dropped_sections` of `output`, and adds sections of kinds that the input lacks. Sections that
/// cannot be understood are left out, with one warning. Never throws.
void write_debug_sections(const Image& image, const AddressMap& map, NewImage& output,
                          Diagnostics& diagnostics);

}  // namespace respike

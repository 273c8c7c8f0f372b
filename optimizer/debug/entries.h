#pragma once
// The entries of .debug_info and what they refer to; private to this folder.

#include "optimizer/base/diagnostics.h"
#include "optimizer/debug/address_map.h"
#include "optimizer/image/image.h"

namespace respike::debug {

/// Rewrites all sections of DWARF. Throws Error when one is damaged or not understood; then
/// `output` is unchanged.
void rewrite(const Image& image, const AddressMap& map, NewImage& output, Diagnostics& diagnostics);

}  // namespace respike::debug

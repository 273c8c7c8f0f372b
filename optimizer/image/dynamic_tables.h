#pragma once
// New dynamic symbols, by which a running program names its own code (dladdr).

#include <cstdint>
#include <vector>

#include "optimizer/image/image.h"

namespace respike {

/// `symbols`: the dynamic symbols of `image`, and after them new procedures, whose names must stay
/// invisible to other images. Completes the new symbols for NewImage::dynamic_symbols, and returns
/// for NewImage::moved the tables that grow, at addresses from `address` on. Returns nothing when a
/// table cannot grow; then the new symbols have to be left out.
std::vector<NewImage::MovedSection> grow_dynamic_tables(const Image& image,
                                                        std::vector<Symbol>& symbols,
                                                        uint64_t address);

}  // namespace respike

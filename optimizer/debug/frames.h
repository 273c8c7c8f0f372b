#pragma once
// .debug_frame: how to unwind, for debuggers only; private to this folder.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/debug/address_map.h"
#include "optimizer/debug/budget.h"

namespace respike::debug {

/// The section for code in its new places. Throws Error when the section is damaged.
std::vector<uint8_t> move_frames(std::span<const uint8_t> section, const AddressMap& map,
                                 Budget& budget);

}  // namespace respike::debug

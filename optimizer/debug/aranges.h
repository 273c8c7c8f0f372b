#pragma once
// .debug_aranges: which code belongs to which unit (DWARF 5, section 6.1.2); private to this
// folder.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/debug/address_map.h"
#include "optimizer/debug/budget.h"

namespace respike::debug {

/// The section for code in its new places: a range of the input may become several. Throws Error
/// when the section is damaged.
std::vector<uint8_t> move_aranges(std::span<const uint8_t> section, const AddressMap& map,
                                  Budget& budget);

}  // namespace respike::debug

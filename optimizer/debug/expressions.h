#pragma once
// Expressions of DWARF, which say where a value is (DWARF 5, sections 2.5, 2.6.1 and 7.7.1);
// private to this folder.

#include <cstdint>
#include <span>

#include "optimizer/debug/address_map.h"

namespace respike::debug {

/// Whether an expression needs a value that may be stale. The contents of an entry value do not
/// count: debuggers take that value from the caller. True for expressions with unknown operations.
bool needs_any(const StaleValues& stale, std::span<const uint8_t> expression, unsigned offset_size);

/// Moves the addresses of procedures in an expression, up to the first unknown operation.
void move_addresses(const AddressMap& map, std::span<uint8_t> expression, unsigned offset_size);

}  // namespace respike::debug

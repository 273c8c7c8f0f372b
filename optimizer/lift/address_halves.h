#pragma once
// Addresses formed by two instructions when only the first has a relocation. Private to this
// folder.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "optimizer/lift/lifter.h"

namespace respike {

/// Finds the lower halves that belong to relocations of the role address_high. Makes references for
/// addresses of code, and notes tables whose addresses are formed. Needs all references of data.
void find_address_halves(Lifter& lifter);

}  // namespace respike

#pragma once
// Addresses that single instructions hold whole. Private to this folder; see addresses.cc.

#include "optimizer/lift/lifter.h"

namespace respike {

/// Finds what instructions refer to, on machines whose instructions hold whole addresses. Adds to
/// Lifter::found, and words of the global offset table to the code pointers; Lifter::tables gets
/// every address outside of code that an instruction forms, by address, Lifter::held_data the
/// others.
void find_whole_addresses(Lifter& lifter);

}  // namespace respike

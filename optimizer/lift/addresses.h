#pragma once
// Whole addresses in single instructions. Private to this folder; see addresses.cc.

#include "optimizer/lift/lifter.h"

namespace respike {

/// Finds the addresses to which instructions refer, on machines whose instructions hold whole
/// addresses. Adds to Lifter::found, and adds words of the global offset table to the code
/// pointers. Lifter::tables gets every address outside of code that an instruction forms and where
/// a table may start, Lifter::held_data every other such address.
void find_whole_addresses(Lifter& lifter);

}  // namespace respike

#pragma once
// The format of Itanium's unwind regions: a table that a program header leads to.

#include "optimizer/unwind/unwind.h"

namespace respike {

extern const UnwindFormat kRegionsFormat;

/// What libgcc's unwinder assumes of the table (rules.cc).
std::span<const ImageRule> region_rules();

}  // namespace respike

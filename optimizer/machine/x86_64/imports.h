#pragma once
// Stubs of the procedure linkage table, and calls through their pointers.

#include "optimizer/machine/imports.h"

namespace respike::x86_64 {

extern const Imports kImports;

}  // namespace respike::x86_64

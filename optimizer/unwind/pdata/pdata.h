#pragma once
// The function table of Windows NT's images for RISC machines, .pdata, as a format of unwind
// tables.

#include "optimizer/unwind/unwind.h"

namespace respike {

extern const UnwindFormat kFunctionTableFormat;

}  // namespace respike

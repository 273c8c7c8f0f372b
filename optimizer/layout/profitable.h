#pragma once
// Whether a layout by a profile gains enough, by its forecast.

#include <vector>

#include "optimizer/ir/program.h"
#include "optimizer/layout/profiled.h"

namespace respike {

/// Whether a layout gains more than it risks. At each call of code that the forecast knows no place
/// of, caller and callee may throw a line of the other one out of the cache, in the input as in the
/// output. So moving code has to gain more than one such miss for each of these calls, or much.
bool is_worth_it(const Forecast& forecast, const Machine& machine);

/// Procedures for which no order was found that costs no more than the input's, such as a loop
/// whose end has a name of its own: the two are parted. Small losses are accepted.
std::vector<ProcedureId> losing_procedures(const Forecast& forecast, const Program& program);

}  // namespace respike

#pragma once
// Factories: the only way to get a Target.

#include "optimizer/ir/target.h"

namespace respike {

const Target& alpha_target();

/// The target of a machine; throws Error when Respike has none for it.
const Target& target_for(Machine machine);

}  // namespace respike

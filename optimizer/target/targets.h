#pragma once
// Factories: the only way to get a Target.

#include "optimizer/ir/target.h"

namespace respike {

const Target& alpha_target();
const Target& ia64_target();

/// Whether there is one: images of other machines can only be looked at (listing.h).
bool has_target(Machine machine);

/// The target of a machine; throws Error when Respike has none for it.
const Target& target_for(Machine machine);

}  // namespace respike

#pragma once
// Factories: the only way to get a Machine.

#include "optimizer/machine/machine.h"

namespace respike {

const Machine& alpha_machine();
const Machine& ia64_machine();

/// Whether there is one: images of other machines can only be looked at (listing.h).
bool has_machine(MachineId machine);

/// The target of a machine; throws Error when Respike has none for it.
const Machine& machine_for(MachineId machine);

}  // namespace respike

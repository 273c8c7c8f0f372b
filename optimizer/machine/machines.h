#pragma once
// The machines that Respike has. A Machine is obtained only from here.

#include "optimizer/base/machine_id.h"
#include "optimizer/machine/machine.h"

namespace respike {

class Image;

const Machine& alpha_machine();
const Machine& alpha_windows_machine();
const Machine& ia64_machine();
const Machine& x86_64_machine();

/// Whether Respike has the machine: code of other machines can be neither lifted nor listed.
bool has_machine(MachineId id);

/// Throws Error when Respike does not have the machine.
const Machine& machine_for(MachineId id);
/// The same with the calling standard of the image, if the machine has several.
const Machine& machine_for(const Image& image);

}  // namespace respike

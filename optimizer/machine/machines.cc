// The one place that knows which machines Respike has a target for.

#include "optimizer/machine/machines.h"

#include "optimizer/base/error.h"

namespace respike {

bool has_machine(MachineId machine) {
  return machine == MachineId::alpha || machine == MachineId::ia64;
}

const Machine& machine_for(MachineId machine) {
  switch (machine) {
    case MachineId::alpha:
      return alpha_machine();
    case MachineId::ia64:
      return ia64_machine();
    default:
      throw Error("no target for this machine yet");
  }
}

}  // namespace respike

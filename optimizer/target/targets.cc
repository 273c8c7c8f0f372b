// The one place that knows which machines Respike has a target for.

#include "optimizer/target/targets.h"

#include "optimizer/base/error.h"

namespace respike {

bool has_target(Machine machine) {
  return machine == Machine::alpha || machine == Machine::ia64;
}

const Target& target_for(Machine machine) {
  switch (machine) {
    case Machine::alpha:
      return alpha_target();
    case Machine::ia64:
      return ia64_target();
    default:
      throw Error("no target for this machine yet");
  }
}

}  // namespace respike

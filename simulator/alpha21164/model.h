#pragma once
// The model of the Alpha 21164 (EV5), 1995. See model.cc.

#include <memory>

#include "simulator/machine_model.h"

namespace respike::simulator::alpha21164 {

std::unique_ptr<MachineModel> make_model();

}  // namespace respike::simulator::alpha21164

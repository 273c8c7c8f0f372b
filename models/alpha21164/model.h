#pragma once
// The model of the Alpha 21164 (EV5), 1995. See model.cc.

#include <memory>

#include "models/machine_model.h"

namespace respike::measure::alpha21164 {

std::unique_ptr<MachineModel> make_model();

}  // namespace respike::measure::alpha21164

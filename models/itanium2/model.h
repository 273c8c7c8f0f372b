#pragma once
// The model of the Itanium 2 (McKinley), 2002. See model.cc.

#include <memory>

#include "models/machine_model.h"

namespace respike::measure::itanium2 {

std::unique_ptr<MachineModel> make_model();

}  // namespace respike::measure::itanium2

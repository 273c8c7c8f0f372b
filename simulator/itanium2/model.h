#pragma once
// The model of the Itanium 2 (McKinley), 2002. See model.cc.

#include <memory>

#include "simulator/machine_model.h"

namespace respike::simulator::itanium2 {

std::unique_ptr<MachineModel> make_model();

}  // namespace respike::simulator::itanium2

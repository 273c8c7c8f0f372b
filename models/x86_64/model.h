#pragma once
// The models of x86-64 processors. See model.cc.

#include <memory>

#include "models/machine_model.h"

namespace respike::measure::x86 {

std::unique_ptr<MachineModel> make_zen3();
std::unique_ptr<MachineModel> make_goldencove();

}  // namespace respike::measure::x86

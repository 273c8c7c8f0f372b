#pragma once
// The models of x86-64 processors. See model.cc.

#include <memory>

#include "simulator/machine_model.h"

namespace respike::simulator::x86 {

std::unique_ptr<MachineModel> make_zen3();
std::unique_ptr<MachineModel> make_goldencove();

}  // namespace respike::simulator::x86

#pragma once
// The audit module, by which the dynamic linker notes the libraries that a program opens while it
// runs (tas/runtime/opened.c).

#include <cstdint>
#include <span>

#include "optimizer/base/machine_id.h"

namespace respike {

/// The bytes of a shared library; empty when this build of Respike has no module for the machine.
std::span<const uint8_t> audit_module(MachineId machine);

}  // namespace respike

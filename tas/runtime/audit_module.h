#pragma once
// The module by which a machine's dynamic linker notes what a program opens while it runs.
// tas/runtime/opened.c says how it works.

#include <cstdint>
#include <span>

#include "optimizer/base/machine.h"

namespace respike {

/// A shared library's bytes; empty when this build of Respike has none for the machine.
std::span<const uint8_t> audit_module(Machine machine);

}  // namespace respike

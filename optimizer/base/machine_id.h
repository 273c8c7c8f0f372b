#pragma once
// The machines whose images Respike knows.

#include <cstdint>

namespace respike {

enum class MachineId : uint8_t { alpha, ia64, x86_64 };

}  // namespace respike

#pragma once
// Stubs through which code calls procedures of other images.

#include <cstdint>
#include <optional>

#include "optimizer/ir/program.h"

namespace respike {

/// The address of the pointer through which the code at `location` jumps, if it is such a stub.
std::optional<uint64_t> pointer_of_stub(const Program& program, const CodeLocation& location);

}  // namespace respike

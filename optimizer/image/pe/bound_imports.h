#pragma once
// Imports that were bound: their slots hold addresses of one build of a library.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/image/pe/headers.h"

namespace respike::pe {

/// Gives the slots of bound imports the names of the imports back, and clears their dates. Returns
/// whether there were bound imports. Damaged tables are left as they are.
bool unbind_imports(std::span<uint8_t> file, const Headers& headers);

}  // namespace respike::pe

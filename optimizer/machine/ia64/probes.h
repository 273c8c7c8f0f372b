#pragma once
// Private to this folder.

#include "optimizer/machine/probes.h"

namespace respike {

const Probes& ia64_probes();

}  // namespace respike

#pragma once
// Private to this folder.

#include "optimizer/machine/probes.h"

namespace respike {

const Probes& x86_64_probes();

}  // namespace respike

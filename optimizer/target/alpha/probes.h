#pragma once
// Private to this folder.

#include "optimizer/ir/probes.h"

namespace respike {

const Probes& alpha_probes();

}  // namespace respike

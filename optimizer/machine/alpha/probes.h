#pragma once
// Private to this folder.

#include "optimizer/machine/probes.h"

namespace respike {

const Probes& alpha_probes();
const Probes& alpha_windows_probes();

}  // namespace respike

#pragma once
// Private to this folder.

#include "optimizer/ir/code_motion.h"

namespace respike {

const CodeMotion& alpha_code_motion();

}  // namespace respike

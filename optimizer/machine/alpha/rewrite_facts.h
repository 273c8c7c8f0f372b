#pragma once
// Private to this folder.

#include "optimizer/machine/rewrite_facts.h"

namespace respike {

const RewriteFacts& alpha_rewrite_facts();

}  // namespace respike

#pragma once
// Saves of registers that hot code need not do.

#include "optimizer/transform/hotcold/hot_procedure.h"
#include "optimizer/transform/hotcold/partial_dead_code.h"

namespace respike {

struct RemovedSaves {
  Removed preserved;       // saves and restores of preserved registers
  Removed return_address;  // of the return address
};

/// Takes saves and restores out of the hot procedure where the register is not changed in it, or
/// where another, free one can take its place; stubs save what is left to save.
RemovedSaves eliminate_saves(HotProcedure& procedure);

}  // namespace respike

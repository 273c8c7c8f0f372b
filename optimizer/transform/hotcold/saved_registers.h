#pragma once
// Saves of registers that hot code does not need.

#include "optimizer/transform/hotcold/hot_procedure.h"
#include "optimizer/transform/hotcold/partial_dead_code.h"

namespace respike {

struct RemovedSaves {
  Removed preserved;       // saves and restores of preserved registers
  Removed return_address;  // of the return address
};

/// Removes saves and restores of a register from the hot procedure where hot code does not change
/// the register, or a free register can take its place; stubs save the register.
RemovedSaves eliminate_saves(HotProcedure& procedure);

}  // namespace respike

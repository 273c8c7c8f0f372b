// Compilers guess where a branch goes, and a guess that is built in as a static prediction is wrong
// each time that it is wrong. Counts know better. Branches that did not run keep their hints.

#include "optimizer/transform/predictions.h"

#include "optimizer/machine/machine.h"

namespace respike {

uint64_t predict_branches(Program& program) {
  uint64_t changed = 0;
  for (Procedure& procedure : program.procedures) {
    if (!procedure.movable()) continue;
    for (BasicBlock& block : procedure.blocks) {
      const Edge* taken = block.edge(Edge::Kind::taken);
      const Edge* fall = block.edge(Edge::Kind::fall_through);
      if (taken == nullptr || fall == nullptr || block.instructions.empty()) continue;
      Instruction& branch = block.instructions.back();
      if (branch.is_pseudo() ||
          program.machine->control_flow(branch) != ControlFlow::conditional_branch)
        continue;
      const uint64_t executed = taken->count + fall->count;
      if (executed < taken->count || executed == 0) continue;  // too often to be added
      const Instruction before = branch;
      program.machine->predict(branch, taken->count, executed);
      changed += !(branch == before);
    }
  }
  return changed;
}

}  // namespace respike

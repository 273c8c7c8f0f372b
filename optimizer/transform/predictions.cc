// Compilers guess where a branch goes, and put the guess into the branch's hint. Example: a
// compiler considered a check unlikely and hinted "not taken"; by the counts the branch was taken
// 90 times of 100, so the hint becomes "taken". Branches that did not run keep their hints.

#include "optimizer/transform/predictions.h"

#include "optimizer/machine/machine.h"

namespace respike {

uint64_t predict_branches(Program& program) {
  const auto predict = program.machine->branches.predict;
  if (predict == nullptr) return 0;
  uint64_t changed = 0;
  for (Procedure& procedure : program.procedures) {
    if (!procedure.movable()) continue;
    for (BasicBlock& block : procedure.blocks) {
      const Edge* taken = block.edge(Edge::Kind::taken);
      const Edge* fall = block.edge(Edge::Kind::fall_through);
      if (taken == nullptr || fall == nullptr || block.instructions.empty()) continue;
      Instruction& branch = block.instructions.back();
      if (branch.is_pseudo() ||
          program.machine->facts(branch).flow != ControlFlow::conditional_branch)
        continue;
      const uint64_t executed = taken->count + fall->count;
      if (executed < taken->count || executed == 0) continue;  // the sum overflowed, or never ran
      const Instruction before = branch;
      predict(branch, taken->count, executed);
      changed += !(branch == before);
    }
  }
  return changed;
}

}  // namespace respike

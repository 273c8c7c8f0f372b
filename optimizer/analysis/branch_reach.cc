// Finds short branches that do not reach their targets.
//
// The branches at the end of a block, its own branch and an appended branch, are encoded as if each
// block were at its given address. A branch whose displacement does not fit its short form has to
// become long. Placement repeats this until all branches reach (emit/placement.cc).
//
// Example: an x86-64 block ends in a `jne` of two bytes, which reaches -128 to +127 bytes. With its
// target 300 bytes ahead, `own` of the result is true.

#include "optimizer/analysis/branch_reach.h"

#include "optimizer/machine/machine.h"

namespace respike {

Packing::Branches out_of_reach(const Program& program, const Packing& packing,
                               const BlockNumbers& numbers, std::span<const uint64_t> addresses,
                               ProcedureId procedure, BlockId id, BlockRun& run) {
  const Packing::Branches is_short = packing.short_branches(procedure, id);
  if (!is_short) return {};
  packing.arrange(procedure, id, run);
  const BasicBlock& block = program[procedure].blocks[id];
  const BlockEnd how = packing.end(procedure, id);
  const size_t own = run.code.size() - (appends_branch(how) ? 2 : 1);
  const auto reaches = [&](size_t index, Edge::Kind side) {
    Instruction branch = run.code[index];
    return program.machine->fixups.apply(
        branch, ReferenceKind::branch, addresses[numbers(procedure, id)] + run.places[index],
        addresses[numbers(procedure, block.edge(side)->target)], 0);
  };
  return {
      .own = is_short.own && !reaches(own, side_of_own_branch(how)),
      .appended = is_short.appended && !reaches(run.code.size() - 1, side_of_appended_branch(how))};
}

}  // namespace respike

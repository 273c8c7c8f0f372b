// Example: a loop with 3 blocks of 4 instructions, which is entered twice and turns 10 times each
// time, has 20 turns, 2 entries, trip count 10, and executed up to 240 instructions. Only edges
// that ran count, so that the handler of an exception that was never thrown leads into no loop.
// Cycles that were entered at several places are not natural loops, and are not listed.

#include "views/hot_loops.h"

#include "optimizer/analysis/dominators.h"
#include "optimizer/analysis/loops.h"
#include "optimizer/base/saturating.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/profile/profile.h"

namespace respike {
namespace {

void add_loops(const Program& program, const Procedure& procedure, std::vector<HotLoop>& result) {
  const BlockGraph graph = make_executed_graph(procedure);
  const Loops found = find_loops(graph, Dominators(graph));
  std::vector<HotLoop> loops(found.loops.size());
  for (size_t i = 0; i < loops.size(); ++i) {
    const Loop& loop = found.loops[i];
    const BasicBlock& header = procedure.blocks[loop.header];
    loops[i] = {.procedure = procedure.name,
                .procedure_address = procedure.address,
                .address = program.address_of(header),
                .turns = header.count,
                .depth = loop.depth};
    if (header.count != 0) loops[i].entries = loop_entries(procedure, loop);
  }
  for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
    const BasicBlock& block = procedure.blocks[b];
    const uint64_t executed = saturating_multiply(count_instructions(block), block.count);
    for (uint32_t l = found.innermost[b]; l != kNoLoop; l = found.loops[l].parent) {
      ++loops[l].blocks;
      loops[l].executed = saturating_add(loops[l].executed, executed);
    }
  }
  for (HotLoop& loop : loops)
    if (loop.turns != 0) result.push_back(std::move(loop));
}

}  // namespace

HotLoops find_hot_loops(const Program& program) {
  HotLoops result;
  for (const Procedure& procedure : program.procedures) {
    uint64_t executed = 0;
    for (const BasicBlock& block : procedure.blocks)
      executed =
          saturating_add(executed, saturating_multiply(count_instructions(block), block.count));
    result.executed = saturating_add(result.executed, executed);
    if (executed != 0) add_loops(program, procedure, result.loops);
  }
  return result;
}

}  // namespace respike

// Needless loads of gp are removed, and can be put back.
//
// Callers reload gp after calls, since a callee may change it. Where analysis/needless_gp_loads.h
// proves that the register holds the value already, both halves of the load are removed from their
// block. The comparison of input and output needs the loads of the input, so the old instruction
// list of each changed block is kept and put_back() restores it.
//
// Example: "bsr g; ldah gp,1(ra); lda gp,16(gp); addq a0,a1,v0", where g keeps gp, becomes "bsr g;
// addq a0,a1,v0". A block that would only hold a branch without its loads keeps them.

#include "optimizer/transform/gp_loads.h"

#include <algorithm>

#include "optimizer/machine/machine.h"
#include "optimizer/transform/nops.h"

namespace respike {
namespace {

bool is_in(const GpLoad& load, uint32_t index) {
  return index == load.upper || index == load.lower;
}

/// Whether a block has more than `loads`, no-ops and a branch.
bool does_something(const Machine& machine, const BasicBlock& block,
                    std::span<const GpLoad> loads) {
  for (uint32_t i = 0; i < block.instructions.size(); ++i) {
    const Instruction& instruction = block.instructions[i];
    if (instruction.is_pseudo() || machine.facts(instruction).nop ||
        machine.facts(instruction).flow == ControlFlow::branch)
      continue;
    if (std::none_of(loads.begin(), loads.end(), [&](const GpLoad& l) { return is_in(l, i); }))
      return true;
  }
  return false;
}

}  // namespace

DroppedGpLoads drop_gp_loads(Program& program, std::optional<CallGraph>& calls) {
  DroppedGpLoads dropped;
  const std::vector<GpLoad> all = find_needless_gp_loads(program, calls);
  std::vector<bool> untouchable;
  ProcedureId procedure = kNone;
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::find_if(first, all.end(), [&](const GpLoad& l) {
      return l.procedure != first->procedure || l.block != first->block;
    });
    const std::span<const GpLoad> loads(first, last);
    first = last;
    const GpLoad& load = loads.front();
    if (!program[load.procedure].movable()) continue;
    if (procedure != load.procedure) {
      procedure = load.procedure;
      untouchable = untouchable_blocks(*program.machine, program[procedure]);
    }
    BasicBlock& block = program[procedure].blocks[load.block];
    if (untouchable[load.block] || block.has(BasicBlock::kAddressTaken) ||
        !does_something(*program.machine, block, loads))
      continue;
    dropped.loads.insert(dropped.loads.end(), loads.begin(), loads.end());
    dropped.blocks.push_back({procedure, load.block, block.instructions});
    std::vector<Instruction> kept;
    for (uint32_t i = 0; i < block.instructions.size(); ++i)
      if (std::none_of(loads.begin(), loads.end(), [&](const GpLoad& l) { return is_in(l, i); }))
        kept.push_back(block.instructions[i]);
    block.instructions.assign(*program.arena, kept);
  }
  return dropped;
}

void put_back(Program& program, const DroppedGpLoads& dropped) {
  for (const DroppedGpLoads::Block& block : dropped.blocks)
    program[block.procedure].blocks[block.block].instructions = block.instructions;
}

}  // namespace respike

// No-ops are removed from code that may move.
//
// Compilers align code with no-ops, and linkers leave no-ops in place of instructions that a
// relaxed call does not need. The layout aligns code anew, so all of them can go. They stay in
// untouchable blocks, and a block that would become empty keeps all of its no-ops. Machines whose
// encoder drops no-ops (Codec::drops_nops) need no pass.
//
// Example: "bsr g; unop; addq a0,a1,v0" becomes "bsr g; addq a0,a1,v0".

#include "optimizer/transform/nops.h"

#include <algorithm>

#include "optimizer/machine/machine.h"

namespace respike {
namespace {

uint64_t drop_from(const Machine& machine, BasicBlock& block) {
  const auto is_nop = [&](const Instruction& i) {
    return !i.is_pseudo() && !i.has_reference() && machine.facts(i).nop;
  };
  const auto begin = block.instructions.begin();
  const auto end = block.instructions.end();
  const auto kept = static_cast<uint64_t>(std::count_if(
      begin, end, [&](const Instruction& i) { return !i.is_pseudo() && !is_nop(i); }));
  if (kept == 0) return 0;
  const auto last = std::remove_if(begin, end, is_nop);
  const auto dropped = static_cast<uint32_t>(end - last);
  block.instructions = ArenaList<Instruction>::adopt(begin, block.instructions.size() - dropped);
  return dropped;
}

}  // namespace

std::vector<bool> untouchable_blocks(const Machine& machine, const Procedure& procedure) {
  std::vector<bool> result(procedure.blocks.size());
  for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
    const BasicBlock& block = procedure.blocks[b];
    if (std::any_of(block.instructions.begin(), block.instructions.end(),
                    [&](const Instruction& i) {
                      return !i.is_pseudo() && machine.facts(i).role != SequenceRole::none;
                    }))
      result[b] = true;
    if (!block.has(BasicBlock::kGluedToNext)) continue;
    result[b] = true;
    if (const Edge* next = block.edge(Edge::Kind::fall_through)) result[next->target] = true;
  }
  return result;
}

uint64_t drop_nops(Program& program) {
  uint64_t dropped = 0;
  if (program.machine->codec.drops_nops) return 0;
  for (Procedure& procedure : program.procedures) {
    if (!procedure.movable()) continue;
    const std::vector<bool> untouchable = untouchable_blocks(*program.machine, procedure);
    for (BlockId b = 0; b < procedure.blocks.size(); ++b)
      if (!untouchable[b]) dropped += drop_from(*program.machine, procedure.blocks[b]);
  }
  return dropped;
}

}  // namespace respike

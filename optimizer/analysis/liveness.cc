// Live registers of one procedure: the textbook's backward problem over the generic solver. Whole
// images take register_flow.cc, which solves all procedures at once.

#include "optimizer/analysis/liveness.h"

#include "optimizer/analysis/dataflow.h"

namespace respike {
namespace {

struct Problem {
  const Procedure& procedure;
  const std::vector<BlockEnd>& ends;
  std::vector<RegisterSet> used, defined;  // per block; `used` before being defined there

  RegisterSet start() const { return {}; }
  RegisterSet initial(BlockId block) const { return ends[block].used; }
  void meet(RegisterSet& into, const RegisterSet& from, BlockId, BlockId block) const {
    into |= from & ends[block].through;
  }
  RegisterSet transfer(BlockId block, RegisterSet live) const {
    return used[block] | (live - defined[block]);
  }
};

}  // namespace

std::vector<BlockEnd> standard_ends(const Procedure& procedure, const Machine& machine,
                                    const RegisterSet& at_exit) {
  const RegisterSet all = RegisterSet::first(machine.register_count());
  const Abi& abi = machine.abi();
  RegisterSet call_uses(std::span(abi.arguments));
  call_uses.add(abi.stack_pointer);
  call_uses.add(abi.return_address);
  if (abi.global_pointer) call_uses.add(*abi.global_pointer);
  if (abi.procedure_value) call_uses.add(*abi.procedure_value);
  std::vector<BlockEnd> ends(procedure.blocks.size(), {.used = {}, .through = all});
  for (BlockId id = 0; id < procedure.blocks.size(); ++id) {
    const BasicBlock& block = procedure.blocks[id];
    if (block.instructions.empty()) continue;
    const Instruction& last = block.instructions.back();
    switch (machine.control_flow(last)) {
      case ControlFlow::call:
      case ControlFlow::indirect_call: {
        const Operands operands = machine.operands(last);
        const bool standard = operands.size > operands.uses &&
                              operands.registers[operands.uses] == abi.return_address;
        if (standard)
          ends[id] = {call_uses, all - RegisterSet(std::span(abi.scratch))};
        else
          ends[id].used = all;
        break;
      }
      case ControlFlow::return_jump:
        ends[id].used = at_exit;
        break;
      case ControlFlow::indirect_jump:
        if (block.successors.empty() || block.has(BasicBlock::kMayLeave)) ends[id].used = all;
        break;
      case ControlFlow::stop:
        break;
      case ControlFlow::none:
        if (block.successors.empty()) ends[id].used = all;
        break;
      case ControlFlow::branch:
      case ControlFlow::conditional_branch:
        if (last.has_reference()) ends[id].used = all;
        break;
    }
  }
  return ends;
}

Liveness find_liveness(const Procedure& procedure, const Machine& machine,
                       const std::vector<BlockEnd>& ends) {
  const size_t blocks = procedure.blocks.size();
  Problem problem{procedure, ends, std::vector<RegisterSet>(blocks),
                  std::vector<RegisterSet>(blocks)};
  for (BlockId id = 0; id < blocks; ++id) {
    const auto& list = procedure.blocks[id].instructions;
    for (uint32_t i = list.size(); i-- > 0;) {
      step_back(machine, list[i], problem.used[id]);
      if (!list[i].is_pseudo() && list[i].predicate == 0)
        problem.defined[id] |= defs_of(machine.operands(list[i]));
    }
  }
  auto values = solve_blocks<Direction::backward>(make_block_graph(procedure), problem);
  return {std::move(values.before), std::move(values.after)};
}

}  // namespace respike

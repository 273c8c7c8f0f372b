#include "optimizer/layout/calls.h"

#include "optimizer/ir/target.h"

namespace respike {

std::vector<CodeCall> find_calls(const Program& program) {
  std::vector<CodeCall> calls;
  auto observed = program.observed_calls.begin();
  for (ProcedureId id = 0; id < program.procedures.size(); ++id) {
    const Procedure& procedure = program[id];
    for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
      const BasicBlock& block = procedure.blocks[b];
      if (block.instructions.empty()) continue;
      CodeCall call{.caller = id, .block = b, .callee = {}};
      const Instruction& last = block.instructions.back();
      if (last.has_reference()) {
        const Reference& reference = procedure.references[static_cast<size_t>(last.immediate)];
        if (reference.kind == ReferenceKind::branch) call.callee = reference.target;
      }
      while (observed != program.observed_calls.end() &&
             (observed->procedure < id || (observed->procedure == id && observed->block < b)))
        ++observed;
      if (call.callee.procedure == kNone && observed != program.observed_calls.end() &&
          observed->procedure == id && observed->block == b)
        call.callee = {.procedure = observed->callee, .block = 0};
      if (call.callee.procedure == kNone) continue;
      call.returns = is_call(program.target->control_flow(last)) &&
                     block.edge(Edge::Kind::fall_through) != nullptr;
      calls.push_back(call);
    }
  }
  return calls;
}

}  // namespace respike

// Interprocedural register dataflow.
//
// Two sets per block summarize the paths from its start to the ways out of its procedure: `used`,
// the registers that some path reads before it writes them, and `through`, the registers that some
// path does not write. They do not depend on the callers. At an entry they are Goodwin's summary:
// call-used is `used`, call-defined is the complement of `through`. Before a call, used(callee) is
// live, and so are the registers of through(callee) that are live after the call. Let `exit` be the
// registers that callers need when the procedure returns. The registers live at the start of a
// block are
//
//     used  |  (exit & through)
//
// since liveness asks for each register separately whether there is a path. So the second phase,
// from callers to callees, only has to find one set per procedure instead of solving for all blocks
// again.
//
// Example: f: `addq $16,1,$0; ret`. used = {$16, $26}, through = all but $0. A caller that needs $0
// and $9 after its call gives exit = {$0, $9}; live at f's start are $16, $26 and $9.
//
// First phase: one worklist over all blocks of the image; a block depends on its successors and, at
// a call, on the entry of the callee. Callees are taken first. Sets only grow, so recursion
// converges. Second phase: one worklist over procedures, callers first.
//
// Assumptions about unknown code:
//
// - An unknown callee that is called by the standard may read arguments, the registers that the
//   standard itself needs, and every scratch register that some procedure whose address is taken
//   reads first, since closures get their environment in one of these. It changes scratch
//   registers.
// - A call that leaves its return address elsewhere (division routines of some machines) follows
//   rules of its own: if the callee is unknown, it reads all registers and changes none. When a
//   procedure returns through another register and callers are unknown, all registers are live at
//   its returns.
// - Unknown callers read results, preserved registers and the global pointer. They also read
//   registers that the procedure wrote and did not read again, since hand-written routines return
//   values in other registers than the standard's. The same holds for unknown callees.
// - Flags go neither into unknown code nor out of it (Abi::flags).
// - Opaque procedures read all registers and change none.
//
// Exceptions. The preserved registers that a landing pad reads, and the stack, are live everywhere
// in the blocks that it covers, not only at calls, since some languages let any instruction throw.
// The unwinder restores no other registers, so no others matter. When unwinding goes through a
// procedure without a landing pad, a caller's pad may need preserved registers. So the preserved
// registers that any caller up the stack needs are live wherever the frame does not hold them
// (`unwind`).
//
// Saving and restoring. A register that a procedure saves and restores is in `through` and not in
// `used`. frame_shape.h proves that within the procedure; besides, no callee may read the register,
// or change it without preserving it.
//
// Updates. update() solves the blocks of one procedure anew, with the old facts about its callers
// and callees. Example: hot-cold optimization takes the save of s0 out of the hot path of f(),
// which adds blocks to f(). Callers may still assume that f() reads and changes what the old f()
// did, since the new f() reads and changes no more.
//
// Signal handlers run between any two instructions. They change no register, but need the stack.

#include "optimizer/analysis/register_flow.h"

#include "optimizer/analysis/register_flow_solver.h"
#include "optimizer/machine/machine.h"

namespace respike {

RegisterFlow::RegisterFlow(const Program& program, const CallGraph& calls) {
  with_smallest_set(program.machine->register_count, [&]<size_t W>() {
    solution_ = std::make_unique<RegisterFlowSolver<W>>(program, calls);
  });
}
RegisterFlow::~RegisterFlow() = default;
RegisterFlow::RegisterFlow(RegisterFlow&&) noexcept = default;

void RegisterFlow::update(ProcedureId procedure) {
  solution_->update(procedure);
}
RegisterSet RegisterFlow::live_before(ProcedureId procedure, BlockId block, uint32_t index) const {
  return solution_->live_before(procedure, block, index);
}
RegisterSet RegisterFlow::live_in(ProcedureId procedure, BlockId block) const {
  return solution_->live_in(procedure, block);
}
std::vector<RegisterSet> RegisterFlow::live_points(ProcedureId procedure, BlockId block) const {
  return solution_->live_points(procedure, block);
}
RegisterSummary RegisterFlow::summary(ProcedureId procedure, BlockId entry) const {
  return solution_->summary(procedure, entry);
}
RegisterSet RegisterFlow::live_at_exit(ProcedureId procedure) const {
  return solution_->live_at_exit(procedure);
}
RegisterSet RegisterFlow::unknown_uses() const {
  return solution_->unknown_uses();
}

}  // namespace respike

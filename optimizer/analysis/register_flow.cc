// Interprocedural register dataflow.
//
// For every block two sets say all that matters of the paths from its start to the ways out of its
// procedure: `used`, registers that some path reads before it writes them, and `through`, registers
// that some path leaves alone. They do not depend on who calls the procedure. At an entry they are
// Goodwin's summary: call-used is `used`, call-defined is what is not in `through`; in front of a
// call, used(callee) and whatever is live behind it and in through(callee) is live. Then, with
// `exit` for what the callers need when the procedure returns, the registers live at the start of
// any block are
//
//     used  |  (exit & through)
//
// because liveness asks of each register by itself whether there is a path. So the second phase,
// from callers to callees, only has to find one set per procedure, not solve for all blocks again.
//
// First phase: one worklist over all blocks of the image; a block depends on its successors and, at
// a call, on the entry of the callee. Callees are taken first. Sets only grow, so recursion
// converges. Second phase: one worklist over procedures, callers first.
//
// What is known of code that is not seen:
//  - Unknown callees that are called by the standard may read arguments, the registers the standard
//    itself needs, and any scratch register that some procedure whose address is taken reads first:
//    closures get their environment in one. They change scratch registers.
//  - A call that leaves its return address elsewhere (division routines of some machines) has its
//    own rules: if the callee is unknown it reads everything and changes nothing. A procedure that
//    returns through another register has everything live at its exits when callers are unknown.
//  - Unknown callers find results, preserved registers and the global pointer; and what the
//    procedure computed and nobody read before it returned: hand-written routines return values in
//    other registers than those of the standard. Likewise before calls of unknown procedures.
//  - Opaque procedures read everything and change nothing.
//
// Exceptions. What a landing pad needs of preserved registers and the stack is needed everywhere in
// a block that it covers, not only at a call, since some languages let any instruction throw. The
// unwinder restores nothing else, so nothing else gets there. When a procedure has no landing pad
// and unwinding goes through it, a caller's may need preserved registers, so that those which any
// caller up the stack needs are live wherever the frame does not hold them (`unwind`).
//
// Saving and restoring. A register that a procedure saves and restores is not used and goes
// through: proven by frame_shape.h within the procedure; and it must not be read by one of its
// callees, nor changed by one that does not preserve it.
//
// Updates. update() solves for the blocks of a single procedure anew, with what was known of its
// callers and callees. For example: hot-cold optimization takes the save of s0 out of the hot path
// of f(), which adds blocks to f(); whoever calls f() may go on to believe that f() reads and
// changes what the old f() did, since the new f() does not more than that.
//
// Signal handlers run between any two instructions and change nothing, but need the stack.

#include "optimizer/analysis/register_flow.h"

#include "optimizer/analysis/register_flow_solver.h"
#include "optimizer/machine/machine.h"

namespace respike {

RegisterFlow::RegisterFlow(const Program& program, const CallGraph& calls) {
  if (program.machine->register_count() <= BasicRegisterSet<1>::kCapacity)
    solution_ = std::make_unique<RegisterFlowSolver<1>>(program, calls);
  else
    solution_ = std::make_unique<RegisterFlowSolver<8>>(program, calls);
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

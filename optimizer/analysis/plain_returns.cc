// Which calls return in the plain way: once, and by the callee's own returns.
//
// The summary of a procedure's registers holds after a call of the procedure only if control gets
// there by its own returns. But longjmp jumps to the return point of setjmp, and swapcontext goes
// on after the call that left another stack. Names do not identify all such procedures, but code
// does: to jump to a return point, code has to know the return address, which only the callee gets.
// So plain procedures
//
// - do not pass the return address on: they jump through it, compute gp from it, or store it on
//   their stack, where only unwinders look for it, and unwinders continue in landing pads;
// - stay on the stack of their caller, since another stack holds return addresses of other callers:
//   they only add constants to the stack pointer. That excludes procedures whose frame grows.
// The return address is in the register of the calling standard. It is also in registers in which
// calls that do not follow the standard leave it: calls of the procedure itself, or of a procedure
// that branches to it.
//
// Example: setjmp stores $26 in the buffer that $16 points to: it passes the return address on, so
// it is not plain. `stq $26,0($30)` in a prolog stores it on the stack: plain.
//
// A procedure that returns elsewhere goes there with the stack of that place. So it sets the stack
// pointer to a value it got, or adds a distance that is no constant, as code does that ends in
// __builtin_eh_return; or it computes a return address of its own; or it branches to a procedure
// that returns elsewhere.

#include "optimizer/analysis/plain_returns.h"

#include <algorithm>

#include "optimizer/analysis/block_summary.h"
#include "optimizer/analysis/register_set.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/machine/machine.h"

namespace respike {
namespace {

class ReturnAnalysis {
 public:
  ReturnAnalysis(const Program& program, const CallGraph& calls)
      : program_(program),
        machine_(*program.machine),
        calls_(calls),
        sp_(machine_.abi.stack_pointer),
        links_(program.procedures.size()) {}

  std::vector<bool> run() {
    find_links();
    std::vector<bool> plain(program_.procedures.size());
    for (ProcedureId p = 0; p < plain.size(); ++p) plain[p] = is_plain(p);
    return plain;
  }

  std::vector<bool> run_other() {
    std::vector<bool> other(program_.procedures.size());
    std::vector<ProcedureId> work;
    for (ProcedureId p = 0; p < other.size(); ++p) {
      if (returns_to_caller(p) && returns_by_standard(p)) continue;
      other[p] = true;
      work.push_back(p);
    }
    const auto add = [&](ProcedureId p) {
      if (other[p]) return;
      other[p] = true;
      work.push_back(p);
    };
    while (!work.empty()) {
      const ProcedureId p = work.back();
      work.pop_back();
      for (const Call& call : calls_.calls_of(p))
        if (call.known() && call.kind == Call::Kind::tail) add(call.callee);
      for (const uint32_t index : calls_.callers_of(p))
        if (calls_.calls()[index].kind == Call::Kind::tail) add(calls_.calls()[index].caller);
    }
    return other;
  }

 private:
  /// Finds, per procedure, the registers that may hold the return address at its entry.
  void find_links() {
    std::vector<ProcedureId> work;
    for (ProcedureId p = 0; p < links_.size(); ++p) links_[p].add(machine_.abi.return_address);
    for (const Call& call : calls_.calls()) {
      if (!call.known() || call.standard || call.kind == Call::Kind::tail) continue;
      const auto& block = program_[call.caller].blocks[call.block];
      const Operands operands = machine_.operands(block.instructions.back());
      for (unsigned k = operands.uses; k < operands.size; ++k)
        links_[call.callee].add(operands.registers[k]);
      work.push_back(call.callee);
    }
    while (!work.empty()) {
      const ProcedureId p = work.back();
      work.pop_back();
      for (const Call& call : calls_.calls_of(p)) {
        if (!call.known() || call.kind != Call::Kind::tail) continue;
        if (links_[call.callee].includes(links_[p])) continue;
        links_[call.callee] |= links_[p];
        work.push_back(call.callee);
      }
    }
  }

  bool is_plain(ProcedureId p) const {
    return holds_for_all(p, [&](const Instruction& i, const Operands& operands) {
      return !passes_on(program_[p], i, operands, links_[p]) && keeps_stack(i, operands);
    });
  }

  bool returns_to_caller(ProcedureId p) const {
    return holds_for_all(p, [&](const Instruction& i, const Operands& operands) {
      return keeps_stack(i, operands) && keeps_link(i, operands);
    });
  }

  /// False when the instruction computes a return address, which then is not the caller's.
  bool keeps_link(const Instruction& i, const Operands& operands) const {
    const auto end = operands.registers + operands.size;
    if (std::find(operands.registers + operands.uses, end, machine_.abi.return_address) == end)
      return true;
    const ControlFlow flow = machine_.facts(i).flow;
    const ValueSource source = machine_.facts(i).source;
    return flow == ControlFlow::call || flow == ControlFlow::indirect_call ||
           source == ValueSource::loaded || source == ValueSource::copied;
  }

  /// Whether f(instruction, operands) is true for all instructions of a procedure; false for an
  /// opaque procedure.
  template <typename F>
  bool holds_for_all(ProcedureId p, F f) const {
    if (program_[p].state == Procedure::State::opaque) return false;
    for (const BasicBlock& block : program_[p].blocks)
      for (const Instruction& i : block.instructions) {
        if (i.is_pseudo()) continue;
        if (i.opcode == kInvalid || !f(i, machine_.operands(i))) return false;
      }
    return true;
  }

  /// Whether all returns of the procedure go through the standard's register.
  bool returns_by_standard(ProcedureId p) const {
    if (!machine_.abi.return_address) return true;
    const Procedure& procedure = program_[p];
    for (const BasicBlock& block : procedure.blocks) {
      if (end_of(machine_, procedure, block) != End::leaves) continue;
      const Operands operands = machine_.operands(block.instructions.back());
      const auto end = operands.registers + operands.uses;
      if (std::find(operands.registers, end, machine_.abi.return_address) == end) return false;
    }
    return true;
  }

  bool keeps_stack(const Instruction& i, const Operands& operands) const {
    return !changes_stack(operands) || adds_constant(i, operands);
  }

  /// Whether the instruction may pass the return address on.
  bool passes_on(const Procedure& procedure, const Instruction& i, const Operands& operands,
                 const RegisterSet& links) const {
    const auto end = operands.registers + operands.uses;
    const auto uses_link = [&](const Register* from, const Register* to) {
      return std::any_of(from, to, [&](Register r) { return links.contains(r); });
    };
    if (!uses_link(operands.registers, end)) return false;
    if (machine_.facts(i).flow != ControlFlow::none) return false;
    if (i.has_reference()) return !is_gp_load(procedure, i);
    // A store on the stack: its last register, the base, is the stack pointer.
    const bool on_stack =
        machine_.based_operand(i) && operands.size == operands.uses && *(end - 1) == sp_;
    return !on_stack || uses_link(end - 1, end);
  }

  bool changes_stack(const Operands& operands) const {
    const auto end = operands.registers + operands.size;
    return std::find(operands.registers + operands.uses, end, sp_) != end;
  }

  /// Whether the instruction is sp += constant.
  bool adds_constant(const Instruction& i, const Operands& operands) const {
    if (i.has_reference() || operands.uses != 1 || operands.registers[0] != sp_) return false;
    if (machine_.fixups.is_upper_half(i)) return true;
    const auto operand = machine_.based_operand(i);
    return operand && operand->kind == BasedOperand::Kind::address;
  }

  const Program& program_;
  const Machine& machine_;
  const CallGraph& calls_;
  const Register sp_;
  std::vector<RegisterSet> links_;  // per procedure
};

}  // namespace

std::vector<bool> find_plain_returns(const Program& program, const CallGraph& calls) {
  return ReturnAnalysis(program, calls).run();
}

std::vector<bool> find_other_returns(const Program& program, const CallGraph& calls) {
  return ReturnAnalysis(program, calls).run_other();
}

}  // namespace respike

// Calls that come back as they went.
//
// What a procedure does to registers holds behind a call of it if control gets there by its own
// ways out. It may get there otherwise: longjmp jumps behind the call of setjmp, swapcontext goes
// on behind the call by which another stack was left. Names do not tell all of them, but the code
// does: whoever jumps there has to know the address, and only the callee is given it. So these
// procedures
//  - keep it to themselves: they jump through it, compute gp from it, or store it on their stack,
//    where unwinders alone look for it, and those go on in landing pads;
//  - stay on the stack of their caller, since what is stored on another is another's address: they
//    add nothing but constants to the stack pointer. That leaves out those whose frame grows.
// The register is that of the calling standard, and what is left in by calls that do not follow
// it, of the procedure itself or of one that branches to it.
//
// Who goes elsewhere goes there with the stack of that place. So it sets the stack pointer to what
// it was told, or adds a distance that is no constant, as code does that ends in
// __builtin_eh_return; or it computes a return address of its own; or it branches to another that
// returns elsewhere.

#include "optimizer/analysis/plain_returns.h"

#include <algorithm>

#include "optimizer/analysis/block_summary.h"
#include "optimizer/analysis/register_set.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/ir/target.h"

namespace respike {
namespace {

class ReturnAnalysis {
 public:
  ReturnAnalysis(const Program& program, const CallGraph& calls)
      : program_(program),
        target_(*program.target),
        calls_(calls),
        sp_(target_.abi().stack_pointer),
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
  /// Registers that hold the return address when control enters each procedure.
  void find_links() {
    std::vector<ProcedureId> work;
    for (ProcedureId p = 0; p < links_.size(); ++p) links_[p].add(target_.abi().return_address);
    for (const Call& call : calls_.calls()) {
      if (!call.known() || call.standard || call.kind == Call::Kind::tail) continue;
      const auto& block = program_[call.caller].blocks[call.block];
      const Operands operands = target_.operands(block.instructions.back());
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

  /// A return address that was computed is not the caller's.
  bool keeps_link(const Instruction& i, const Operands& operands) const {
    const auto end = operands.registers + operands.size;
    if (std::find(operands.registers + operands.uses, end, target_.abi().return_address) == end)
      return true;
    const ControlFlow flow = target_.control_flow(i);
    const ValueSource source = target_.value_source(i);
    return flow == ControlFlow::call || flow == ControlFlow::indirect_call ||
           source == ValueSource::loaded || source == ValueSource::copied;
  }

  /// Whether f(instruction, operands) is true for all that a procedure has; false for opaque ones.
  template <typename F>
  bool holds_for_all(ProcedureId p, F f) const {
    if (program_[p].state == Procedure::State::opaque) return false;
    for (const BasicBlock& block : program_[p].blocks)
      for (const Instruction& i : block.instructions) {
        if (i.is_pseudo()) continue;
        if (i.opcode == kInvalid || !f(i, target_.operands(i))) return false;
      }
    return true;
  }

  /// Jumps that leave the procedure go through the standard's register, where they are no calls.
  bool returns_by_standard(ProcedureId p) const {
    const Procedure& procedure = program_[p];
    for (const BasicBlock& block : procedure.blocks) {
      if (end_of(target_, procedure, block) != End::leaves) continue;
      const Operands operands = target_.operands(block.instructions.back());
      const auto end = operands.registers + operands.uses;
      if (std::find(operands.registers, end, target_.abi().return_address) == end) return false;
    }
    return true;
  }

  bool keeps_stack(const Instruction& i, const Operands& operands) const {
    return !changes_stack(operands) || adds_constant(i, operands);
  }

  /// Whether the instruction may tell somebody the return address.
  bool passes_on(const Procedure& procedure, const Instruction& i, const Operands& operands,
                 const RegisterSet& links) const {
    const auto end = operands.registers + operands.uses;
    const auto uses_link = [&](const Register* from, const Register* to) {
      return std::any_of(from, to, [&](Register r) { return links.contains(r); });
    };
    if (!uses_link(operands.registers, end)) return false;
    if (target_.control_flow(i) != ControlFlow::none) return false;
    if (i.has_reference()) return !is_gp_load(procedure, i);
    // A store on the stack: of the first register, the last one being the base.
    const bool on_stack =
        target_.is_lower_half(i) && operands.size == operands.uses && *(end - 1) == sp_;
    return !on_stack || uses_link(end - 1, end);
  }

  bool changes_stack(const Operands& operands) const {
    const auto end = operands.registers + operands.size;
    return std::find(operands.registers + operands.uses, end, sp_) != end;
  }

  /// sp += constant. Such an addition is one that copies when its field is zero.
  bool adds_constant(const Instruction& i, const Operands& operands) const {
    if (i.has_reference() || operands.uses != 1 || operands.registers[0] != sp_) return false;
    if (target_.is_upper_half(i)) return true;
    Instruction copy = i;
    copy.immediate = 0;
    return target_.is_lower_half(i) && target_.value_source(copy) == ValueSource::copied;
  }

  const Program& program_;
  const Target& target_;
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

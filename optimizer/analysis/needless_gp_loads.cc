// Needless loads of the global pointer.
//
// By the calling standard a callee may return with another gp, so callers load theirs again. Where
// GpValidity can prove, without trusting code, that the register holds the procedure's gp before
// the load, the load changes nothing. Removing such a load changes no register anywhere, so the
// proofs of other such loads still hold, and all may go.
//
// Example: `bsr $26,f; ldah $29,2($26); lda $29,-8($29)`: f() is in the same image and never
// changes $29, so the two instructions after the call are a needless load.
//
// Only loads that compute gp from the return address of a direct call are candidates. The load at a
// procedure's entry is for unknown callers, and the procedure's symbol says that it is there;
// landing pads are entered from everywhere. Both halves must be in one block, and no instruction
// between them may use the register, which holds half of the sum there.

#include "optimizer/analysis/needless_gp_loads.h"

#include <algorithm>

#include "optimizer/analysis/gp_validity.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/machine/machine.h"

namespace respike {
namespace {

class LoadFinder {
 public:
  LoadFinder(const Program& program, ProcedureId id, Register gp)
      : machine_(*program.machine), procedure_(program[id]), id_(id), gp_(gp) {}

  /// Adds all loads after direct calls.
  void find(std::vector<GpLoad>& loads) const {
    for (BlockId b = 0; b < procedure_.blocks.size(); ++b) {
      const auto& list = procedure_.blocks[b].instructions;
      for (uint32_t i = 0; i < list.size(); ++i) {
        if (!is_half(list[i]) || !machine_.fixups.is_upper_half(list[i]) ||
            !is_behind_call(list[i]))
          continue;
        const uint32_t lower = lower_half(list.span(), i);
        if (lower != kNone) loads.push_back({id_, b, i, lower, list[i].immediate});
      }
    }
  }

 private:
  bool is_half(const Instruction& i) const { return !i.is_pseudo() && is_gp_load(procedure_, i); }

  bool is_behind_call(const Instruction& i) const {
    const CodeLocation& anchor = reference_of(procedure_, i)->target;
    if (anchor.where != CodeLocation::Where::return_point || anchor.procedure != id_) return false;
    const auto& list = procedure_.blocks[anchor.block].instructions;
    return !list.empty() && machine_.facts(list.back()).flow == ControlFlow::call;
  }

  /// The index of the lower half of the load whose upper half is at `upper`; kNone when the lower
  /// half is not in this block, or when an instruction between them reads or writes gp.
  uint32_t lower_half(std::span<const Instruction> list, uint32_t upper) const {
    const Operands operands = machine_.operands(list[upper]);
    if (operands.size != operands.uses + 1 || operands.registers[operands.uses] != gp_)
      return kNone;
    for (uint32_t i = upper + 1; i < list.size(); ++i) {
      if (list[i].is_pseudo()) continue;
      if (list[i].opcode == kInvalid) return kNone;
      const Operands next = machine_.operands(list[i]);
      const auto end = next.registers + next.size;
      if (std::find(&next.registers[0], end, gp_) == end) continue;
      const bool other_half = is_half(list[i]) && list[i].immediate == list[upper].immediate &&
                              machine_.fixups.is_lower_half(list[i]) && next.uses == 1 &&
                              next.size == 2 && next.registers[0] == gp_ &&
                              next.registers[1] == gp_;
      return other_half ? i : kNone;
    }
    return kNone;
  }

  const Machine& machine_;
  const Procedure& procedure_;
  const ProcedureId id_;
  const Register gp_;
};

}  // namespace

std::vector<GpLoad> find_needless_gp_loads(const Program& program,
                                           std::optional<CallGraph>& calls) {
  std::vector<GpLoad> loads;
  const auto gp = program.machine->global_pointer();
  if (!gp) return loads;
  for (ProcedureId id = 0; id < program.procedures.size(); ++id)
    if (program[id].state != Procedure::State::opaque) LoadFinder(program, id, *gp).find(loads);
  if (loads.empty()) return loads;
  std::vector<ProcedureId> procedures;
  for (const GpLoad& load : loads)
    if (procedures.empty() || procedures.back() != load.procedure)
      procedures.push_back(load.procedure);
  if (!calls) calls.emplace(program);
  const GpValidity validity(program, *calls, procedures);
  std::erase_if(loads, [&](const GpLoad& load) {
    return !validity.before(load.procedure, load.block, load.upper) ||
           !validity.before(load.procedure, load.block, load.lower + 1);
  });
  return loads;
}

}  // namespace respike

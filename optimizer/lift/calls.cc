// Which registers calls leave alone.
//
// A call by the calling standard keeps the preserved registers. Compilers call a few routines of
// their run-time library in another way, such as the division routines of machines without a
// division instruction: the return address is in another register, and all but a few registers are
// kept (SupportCall).
//
// Example: an interpreter divides by such a routine and then jumps to its next operation, whose
// address waited in a scratch register during the call.
//
// Two facts together identify such a call: the register of the return address, and the symbol of
// the callee, from the branch or from the relocation of the slot that the address was loaded from.
// That the callee keeps its promise is assumed, as for the standard: the routines pass arguments to
// the kernel's trap handler on the way, so their code does not prove the promise.

#include "optimizer/lift/calls.h"

#include <algorithm>
#include <string_view>

#include "optimizer/ir/lookup.h"

namespace respike {
namespace {

constexpr uint32_t kMostBefore = 256;  // instructions between the load of an address and the call

template <typename T>
bool has(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// The symbol from whose slot the block loads register `r` before its last instruction.
std::optional<uint32_t> loaded_symbol(const Lifter& lifter, const BasicBlock& block, Register r) {
  const auto& list = block.instructions;
  const uint32_t end = list.size() - 1;
  for (uint32_t i = end; i-- > (end > kMostBefore ? end - kMostBefore : 0);) {
    if (list[i].is_pseudo()) continue;
    const Operands operands = lifter.machine.operands(list[i]);
    const Register* behind = operands.registers + operands.size;
    if (std::find(operands.registers + operands.uses, behind, r) == behind) continue;
    const Relocation* relocation =
        lifter.relocation_at(lifter.program.origin_base + list[i].origin, RelocationRole::got_load);
    if (relocation == nullptr || relocation->symbol >= lifter.image.symbols.size())
      return std::nullopt;
    return relocation->symbol;
  }
  return std::nullopt;
}

/// The callee's name in the symbol table, without a version; empty when the callee is unknown.
std::string_view callee_name(const Lifter& lifter, const Procedure& procedure,
                             const BasicBlock& block) {
  const Instruction& call = block.instructions.back();
  if (const Reference* reference = reference_of(procedure, call)) {
    const CodeLocation& target = reference->target;
    if (target.where != CodeLocation::Where::block_start) return {};
    return lifter.program[target.procedure].name;
  }
  const Operands operands = lifter.machine.operands(call);
  if (operands.uses != 1) return {};
  const auto symbol = loaded_symbol(lifter, block, operands.registers[0]);
  if (!symbol) return {};
  const std::string_view name = lifter.image.symbols[*symbol].name;
  return name.substr(0, name.find('@'));
}

}  // namespace

Survivors::Survivors(const Lifter& lifter, const Procedure& procedure, const BasicBlock& block,
                     Effort& effort)
    : abi_(lifter.machine.abi) {
  const Operands operands = lifter.machine.operands(block.instructions.back());
  if (operands.size != operands.uses + 1) return;
  const Register link = operands.registers[operands.uses];
  if (link == abi_.return_address || !Effort::spend(effort.instructions, kMostBefore)) return;
  const std::string_view name = callee_name(lifter, procedure, block);
  for (const SupportCall& call : abi_.support_calls)
    if (call.link == link && has(call.names, name)) convention_ = &call;
}

bool Survivors::contains(Register r) const {
  return has(abi_.preserved, r) || (convention_ != nullptr && !has(convention_->changed, r));
}

}  // namespace respike

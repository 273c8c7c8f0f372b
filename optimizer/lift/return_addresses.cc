// Callees that use their return address for more than to return.
//
// Problem: hand-written code puts data behind a call. The callee finds the data by its return
// address, and returns behind the data. To the lifter the data is code, which layouts may part from
// the call.
//
// Idea: follow the first instructions of the callee with the depth of the stack, along jumps and
// into what comes behind, 64 instructions at most. The return address is used where an instruction
// pops it into a register with which the callee computes, or changes it on the stack. gcc's
// __morestack is known by its name: it returns one byte behind the call.
//
// Example: "show: pop %rsi; 1: lodsb; test %al,%al; jnz 1b; push %rsi; ret" goes on behind the
// string that stands behind the call. vfork only puts its return address back.
//
// Limits: calls through pointers, and callees that reach the return address by other registers.

#include "optimizer/lift/return_addresses.h"

#include <algorithm>

#include "optimizer/ir/lookup.h"

namespace respike {
namespace {

class Callee {
 public:
  Callee(const Lifter& lifter, Effort& effort)
      : lifter_(lifter),
        program_(lifter.program),
        returns_(*lifter.machine.pushed_returns),
        effort_(effort) {}

  bool uses_return_address(CodeLocation at) {
    for (size_t count = 0; count < kLongest;) {
      const Procedure& procedure = program_[at.procedure];
      const BasicBlock& block = procedure.blocks[at.block];
      for (const Instruction& i : block.instructions) {
        if (i.is_pseudo()) continue;
        if (++count == kLongest) return false;
        if (i.origin == kNone) continue;  // a branch to the code behind, which was added
        if (!Effort::spend(effort_.instructions, 1)) return true;
        switch (returns_.follow(i, lifter_.bytes_of(i), depth_)) {
          case PushedReturns::Use::none:
            continue;
          case PushedReturns::Use::changed:
            return true;
          case PushedReturns::Use::taken:
            return computes_with(procedure, depth_.taken);
          case PushedReturns::Use::unknown:
            return false;
        }
      }
      if (!go_on(at, block)) return false;
    }
    return false;
  }

 private:
  static constexpr size_t kLongest = 64;  // instructions

  /// Moves on to the next block, the target of a jump or the code behind, also of another
  /// procedure.
  bool go_on(CodeLocation& at, const BasicBlock& block) const {
    const InstructionFacts facts = lifter_.machine.facts(block.instructions.back());
    std::optional<CodeLocation> next;
    if (facts.flow == ControlFlow::branch)
      next = target_of(at.procedure, block);
    else if (facts.falls_through && !is_call(facts.flow) && block.origin != kNone)
      next = code_at(program_.address_of(block) + block.origin_size);
    if (next) at = *next;
    return next.has_value();
  }

  /// Where the branch that ends a block leads. The answer is the same whether the block is
  /// connected already or not, since it is remembered for other callers.
  std::optional<CodeLocation> target_of(ProcedureId id, const BasicBlock& block) const {
    const Instruction& last = block.instructions.back();
    if (const Edge* edge = block.edge(Edge::Kind::taken))
      return CodeLocation{
          .where = CodeLocation::Where::block_start, .procedure = id, .block = edge->target};
    if (const Reference* reference = reference_of(program_[id], last))
      return reference->target.where == CodeLocation::Where::block_start
                 ? reference->target
                 : code_at(reference->target.address);
    return code_at(lifter_.branch_target(program_.origin_base + last.origin, last));
  }

  /// The code to which control comes that goes to an address, through padding, too.
  std::optional<CodeLocation> code_at(uint64_t address) const {
    const auto where = lifter_.resolve_flow(address);
    return where ? block_at(program_, *where) : std::nullopt;
  }

  /// Whether some instruction does more with a register than move it to the stack and back.
  bool computes_with(const Procedure& procedure, Register r) {
    for (const BasicBlock& block : procedure.blocks) {
      if (!Effort::spend(effort_.instructions, block.instructions.size())) return true;
      for (const Instruction& i : block.instructions) {
        if (i.is_pseudo() || returns_.moves(i)) continue;
        const Operands operands = lifter_.machine.operands(i);
        const auto all = std::span(operands.registers).first(operands.size);
        if (std::ranges::find(all, r) != all.end()) return true;
      }
    }
    return false;
  }

  const Lifter& lifter_;
  const Program& program_;
  const PushedReturns& returns_;
  Effort& effort_;
  PushedReturns::Depth depth_;
};

}  // namespace

bool ReturnAddresses::are_used_by(const CodeLocation& callee) {
  if (lifter_.machine.pushed_returns == nullptr) return false;
  const auto [known, fresh] =
      known_.emplace(uint64_t{callee.procedure} << 32 | callee.block, false);
  if (fresh)
    known->second = lifter_.program[callee.procedure].name.starts_with("__morestack") ||
                    Callee(lifter_, effort_).uses_return_address(callee);
  return known->second;
}

}  // namespace respike

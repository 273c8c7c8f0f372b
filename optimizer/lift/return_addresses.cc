// Callees that do more with their return address than return.
//
// Problem: hand-written code puts data after a call. The callee finds the data by its return
// address, and returns to the place after the data. To the lifter the data is code, which layouts
// may part from the call.
//
// Idea: follow the first instructions of the callee with the depth of the stack, on both sides of
// conditional jumps, along jumps and into the code after the callee, for at most 128 instructions
// in total. The return address is used where an instruction pops it into a register with which the
// callee computes, or changes it on the stack. gcc's __morestack is known by its name: it returns
// one byte after the return point.
//
// Example: "show: pop %rsi; 1: lodsb; test %al,%al; jnz 1b; push %rsi; ret" returns to the code
// after the string that follows the call. vfork only puts its return address back.
//
// Limits. Not found are calls through pointers, callees that reach the return address by registers
// other than the stack and frame pointers, uses after a call in the callee, and callees that only
// read the return address, as many C functions do.

#include "optimizer/lift/return_addresses.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "optimizer/base/parallel.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/lift/jumps.h"

namespace respike {
namespace {

class CalleeWalk {
 public:
  CalleeWalk(const Lifter& lifter, Effort& effort)
      : lifter_(lifter),
        program_(lifter.program),
        returns_(*lifter.machine.pushed_returns),
        effort_(effort) {}

  bool uses_return_address(const Callee& callee) {
    const CodeLocation entry{.procedure = callee.procedure, .block = callee.block};
    go_to(entry, {});
    for (size_t count = 0; !places_.empty();) {
      const Place place = places_.back();
      places_.pop_back();
      PushedReturns::Depth depth = place.depth;
      const Procedure& procedure = program_[place.at.procedure];
      const BasicBlock& block = procedure.blocks[place.at.block];
      bool known = true;
      for (const Instruction& i : block.instructions) {
        if (i.is_pseudo()) continue;
        if (++count == kLongest) return false;
        if (i.origin == kNone) continue;  // an added branch to the code that follows
        if (!Effort::spend(effort_.instructions, 1)) return true;
        const PushedReturns::Use use = returns_.follow(i, lifter_.bytes_of(i), depth);
        if (use == PushedReturns::Use::changed) return true;
        if (use == PushedReturns::Use::taken && computes_with(procedure, depth.taken)) return true;
        known = use == PushedReturns::Use::none;
        if (!known) break;
      }
      if (known) go_on(place.at, block, depth);
    }
    return false;
  }

 private:
  static constexpr size_t kLongest = 128;  // instructions

  /// A block, and the stack at its start.
  struct Place {
    CodeLocation at;
    PushedReturns::Depth depth;
  };

  /// Follows a block unless the block was followed before.
  void go_to(const CodeLocation& at, const PushedReturns::Depth& depth) {
    if (seen_.emplace(at.procedure, at.block).second) places_.push_back({at, depth});
  }

  /// Goes on at the target of a jump and at the code that follows, also in other procedures.
  void go_on(const CodeLocation& at, const BasicBlock& block, const PushedReturns::Depth& depth) {
    const InstructionFacts facts = lifter_.machine.facts(block.instructions.back());
    if (is_call(facts.flow)) return;
    if (facts.falls_through && block.origin != kNone)
      if (const auto next = code_at(program_.address_of(block) + block.origin_size))
        go_to(*next, depth);
    if (is_direct(facts.flow))
      if (const auto target = target_of(at.procedure, block)) go_to(*target, depth);
  }

  /// Where the branch that ends a block leads. The answer is the same whether or not the block is
  /// connected already, since it is remembered for other callers.
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

  /// The code to which control that goes to an address comes, including control through padding.
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
  std::vector<Place> places_;                       // to be followed
  std::set<std::pair<ProcedureId, BlockId>> seen_;  // blocks that are or were in `places_`
};

}  // namespace

std::vector<Callee> users_of_return_addresses(const Lifter& lifter, std::vector<Callee> callees) {
  if (lifter.machine.pushed_returns == nullptr) return {};
  std::ranges::sort(callees);
  callees.erase(std::unique(callees.begin(), callees.end()), callees.end());
  std::vector<uint8_t> uses(callees.size());
  const size_t count = callees.size();
  parallel_for(kParts, [&](size_t part) {
    Effort effort = Effort(lifter).share_of_part();
    for (size_t i = count * part / kParts; i < count * (part + 1) / kParts; ++i)
      uses[i] = lifter.program[callees[i].procedure].name.starts_with("__morestack") ||
                CalleeWalk(lifter, effort).uses_return_address(callees[i]);
  });
  std::vector<Callee> users;
  for (size_t i = 0; i < count; ++i)
    if (uses[i] != 0) users.push_back(callees[i]);
  return users;
}

}  // namespace respike

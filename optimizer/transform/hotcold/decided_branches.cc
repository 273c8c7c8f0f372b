// Conditional constant propagation (Wegman, Zadeck: Constant Propagation with Conditional Branches,
// TOPLAS 13(2), 1991), with classes of values in place of constants.
//
// A branch only tests the sign of a register, its lowest bit, and whether it is zero. These
// properties make the classes of values (machine/rewrite_facts.h); the analysis computes, for each
// register, the set of classes that its value may be in. Constants and results of comparisons have
// small sets. Along each edge of a branch the set keeps only the classes for which the branch takes
// the edge. An edge with an empty set is never taken, and code after it does not count, so one
// decided branch decides others. Compilers had to leave such branches, since cold code led back
// with other values; in the hot procedure it does not.
//
// Example: `clr $9`, and a cold block that sets $9 to 1 and comes back, before `bne $9`. In the hot
// procedure $9 is zero at the branch, so the branch is never taken.
//
// A copy has the set of its source, but a branch on the copy does not narrow the source's set.
// Blocks that nothing reaches stay as they are.

#include "optimizer/transform/hotcold/decided_branches.h"

#include <algorithm>
#include <optional>

namespace respike {
namespace {

/// Per register: the classes that its value may be in. Empty: control does not reach this point.
using Knowledge = std::vector<ValueClasses>;

class BranchDecisions {
 public:
  explicit BranchDecisions(HotProcedure& procedure)
      : procedure_(procedure), machine_(procedure.machine()), before_(procedure.blocks.size()) {}

  Removed run() {
    follow();
    Removed removed;
    for (uint32_t b = 0; b < procedure_.hot; ++b) {
      const auto edge = only_edge(b);
      if (!edge) continue;
      HotBlock& block = procedure_.blocks[b];
      removed.add(block.code.back(), block.count);
      block.code.pop_back();
      block.successors = {block.successors[*edge]};
      block.only_edge = edge;
    }
    if (removed.instructions != 0) renew_graph(procedure_);
    return removed;
  }

 private:
  void follow() {
    for (const uint32_t entry : procedure_.entries)
      before_[entry].assign(machine_.register_count, kAnyClass);
    std::vector<uint32_t> work(procedure_.entries.begin(), procedure_.entries.end());
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      const Knowledge behind = behind_code(b);
      const std::vector<uint32_t>& successors = procedure_.blocks[b].successors;
      for (uint32_t e = 0; e < successors.size(); ++e)
        if (!procedure_.is_stub(successors[e]) && meet(successors[e], along(b, e, behind)))
          work.push_back(successors[e]);
    }
  }

  /// Adds possible classes at the start of a block; true when some of them were new.
  bool meet(uint32_t block, const Knowledge& more) {
    Knowledge& known = before_[block];
    if (more.empty()) return false;
    if (known.empty()) {
      known = more;
      return true;
    }
    bool changed = false;
    for (size_t r = 0; r < known.size(); ++r) {
      changed |= (known[r] | more[r]) != known[r];
      known[r] |= more[r];
    }
    return changed;
  }

  Knowledge behind_code(uint32_t block) const {
    Knowledge known = before_[block];
    for (const HotInstruction& i : procedure_.blocks[block].code) step(i.instruction, known);
    procedure_.changed_by[block].for_each([&](Register r) { known[r] = kAnyClass; });
    return known;
  }

  void step(const Instruction& i, Knowledge& known) const {
    const Operands operands = machine_.operands(i);
    ValueClasses result = kAnyClass;
    const bool computes = i.predicate == 0 && !i.has_reference() &&
                          operands.size == operands.uses + 1 && machine_.rewrite->is_pure(i);
    if (computes) result = machine_.rewrite->possible_results(i);
    if (computes && operands.uses != 0 && machine_.facts(i).source == ValueSource::copied)
      result &= known[operands.registers[operands.uses - 1]];
    for (unsigned k = operands.uses; k < operands.size; ++k) known[operands.registers[k]] = result;
  }

  /// The conditional branch at the end of a block, if the classes for which it is taken are known.
  struct Branch {
    std::optional<Register> reads;  // nullopt: reads a zero
    ValueClasses taken = 0;
  };
  std::optional<Branch> branch_of(uint32_t b) const {
    const HotBlock& block = procedure_.blocks[b];
    if (block.code.empty() || block.successors.size() != 2 || procedure_.calls[b])
      return std::nullopt;
    const Instruction& last = block.code.back().instruction;
    if (machine_.facts(last).flow != ControlFlow::conditional_branch || last.predicate != 0)
      return std::nullopt;
    const Operands operands = machine_.operands(last);
    const auto taken = machine_.rewrite->taken_for(last);
    if (!taken || operands.uses > 1 || operands.size != operands.uses) return std::nullopt;
    Branch branch{std::nullopt, *taken};
    if (operands.uses == 1) branch.reads = operands.registers[0];
    return branch;
  }

  /// The classes for which the branch takes an edge.
  ValueClasses classes_along(uint32_t block, uint32_t edge, const Branch& branch) const {
    const Procedure& procedure = (*procedure_.program)[procedure_.id];
    const Edge& original = procedure.blocks[procedure_.blocks[block].place].successors[edge];
    return original.kind == Edge::Kind::taken ? branch.taken : kAnyClass & ~branch.taken;
  }

  Knowledge along(uint32_t block, uint32_t edge, Knowledge known) const {
    const auto branch = branch_of(block);
    if (!branch) return known;
    const ValueClasses classes = classes_along(block, edge, *branch);
    ValueClasses zero = kZeroValue;
    ValueClasses& value = branch->reads ? known[*branch->reads] : zero;
    value &= classes;
    return value == 0 ? Knowledge() : known;
  }

  /// The edge that a decided branch takes; nullopt for other branches.
  std::optional<uint32_t> only_edge(uint32_t block) const {
    if (before_[block].empty() || procedure_.blocks[block].untouchable) return std::nullopt;
    if (!branch_of(block)) return std::nullopt;
    const Knowledge behind = behind_code(block);
    const bool first = !along(block, 0, behind).empty();
    const bool second = !along(block, 1, behind).empty();
    if (first == second) return std::nullopt;
    return first ? 0 : 1;
  }

  HotProcedure& procedure_;
  const Machine& machine_;
  std::vector<Knowledge> before_;  // per hot block
};

}  // namespace

Removed remove_decided_branches(HotProcedure& procedure) {
  return BranchDecisions(procedure).run();
}

}  // namespace respike

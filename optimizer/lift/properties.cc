// Properties of whole procedures that need all edges: which calls never return, and which blocks
// must stay neighbours.
//
// Example: die() only calls exit() and never returns, so the block that calls die() gets no
// fall-through edge. A load-locked and its store-conditional stay in neighbouring blocks.

#include <algorithm>
#include <utility>
#include <vector>

#include "optimizer/base/parallel.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/lift/lifter.h"

namespace respike {
namespace {

/// Finds the procedures that may return: procedures with a return, or with a way out that may lead
/// to a return. It does not matter whether the return is reached: the only return may come after a
/// call that never returns, but a mistake here would lose the code after every call of the
/// procedure.
///
/// Where calls push the return address, a callee may drop its own return address and return to the
/// caller of its caller. Unwind information could not describe that, and compiled code has unwind
/// information. So a procedure may return where it calls a procedure without unwind information
/// that may return.
class ReturnAnalysis {
 public:
  ReturnAnalysis(Program& program, const Machine& machine) : program_(program), machine_(machine) {
    waiting_.resize(program.procedures.size());
  }

  void run() {
    for (Procedure& procedure : program_.procedures) procedure.returns = false;
    for (ProcedureId id = 0; id < program_.procedures.size(); ++id) {
      if (!program_[id].movable()) returns(id);
      for (const BasicBlock& block : program_[id].blocks) look_at(id, block);
    }
    while (!work_.empty()) {
      const ProcedureId id = work_.back();
      work_.pop_back();
      for (const ProcedureId before : std::exchange(waiting_[id], {})) returns(before);
    }
  }

 private:
  void returns(ProcedureId id) {
    if (program_[id].returns) return;
    program_[id].returns = true;
    work_.push_back(id);
  }

  void look_at(ProcedureId id, const BasicBlock& block) {
    const Instruction& last = block.instructions.back();
    const ControlFlow flow = machine_.facts(last).flow;
    if (flow == ControlFlow::return_jump ||
        (flow == ControlFlow::indirect_jump &&
         (block.successors.empty() || block.has(BasicBlock::kMayLeave))))
      returns(id);
    const Reference* reference = branch_of(program_[id], last);
    if (reference == nullptr) return;
    if (flow == ControlFlow::call && !may_drop_its_caller(reference->target)) return;
    if (reference->target.where != CodeLocation::Where::block_start)
      returns(id);
    else
      waiting_[reference->target.procedure].push_back(id);
  }

  bool may_drop_its_caller(const CodeLocation& callee) const {
    return machine_.pushed_returns != nullptr && callee.where == CodeLocation::Where::block_start &&
           program_[callee.procedure].blocks[callee.block].cfi_state == kNone;
  }

  Program& program_;
  const Machine& machine_;
  std::vector<std::vector<ProcedureId>> waiting_;  // per procedure: its branchers
  std::vector<ProcedureId> work_;                  // may return; their branchers do not know yet
};

/// Removes blocks that only held an added branch to another procedure: `blocks`, in ascending
/// order, to which nothing leads now. All blocks after the first of them are added blocks, to which
/// only edges refer.
void remove_added(Procedure& procedure, std::span<const BlockId> blocks) {
  for (size_t i = blocks.size(); i-- > 0;)
    procedure.blocks.erase(procedure.blocks.begin() + blocks[i]);
  for (BasicBlock& block : procedure.blocks)
    for (Edge& edge : block.successors)
      edge.target -=
          static_cast<BlockId>(std::ranges::lower_bound(blocks, edge.target) - blocks.begin());
}

/// Drops the fall-through edges of calls that never return. Returns whether this removed branches
/// to other procedures: if so, more calls may turn out never to return.
bool drop_returns(Program& program, const Machine& machine) {
  std::vector<BlockId> added;
  bool removed = false;
  for (Procedure& procedure : program.procedures) {
    added.clear();
    for (BasicBlock& block : procedure.blocks) {
      const Instruction& last = block.instructions.back();
      if (!last.has_reference() || machine.facts(last).flow != ControlFlow::call) continue;
      if (last.predicate != 0) continue;  // it may be skipped
      const CodeLocation& to = reference_of(procedure, last)->target;
      if (to.where != CodeLocation::Where::block_start || program[to.procedure].returns) continue;
      for (uint32_t i = 0; i < block.successors.size(); ++i) {
        if (block.successors[i].kind != Edge::Kind::fall_through) continue;
        const BlockId target = block.successors[i].target;
        if (procedure.blocks[target].origin == kNone) added.push_back(target);
        block.successors.erase(i--);
      }
      block.flags &= ~uint32_t{BasicBlock::kGluedToNext};  // a landing pad may follow
    }
    std::ranges::sort(added);
    if (added.empty()) continue;
    remove_added(procedure, added);
    removed = true;
  }
  return removed;
}

/// Glues the blocks of sequences that must stay contiguous.
class SequenceGluer {
 public:
  SequenceGluer(Procedure& procedure, const Machine& machine, const std::vector<BlockId>& starts)
      : procedure_(procedure), machine_(machine), starts_(starts) {}

  void run() {
    for (BlockId id = 0; id < procedure_.blocks.size(); ++id) {
      bool reserved = false, shadow = false;
      for (const Instruction& instruction : procedure_.blocks[id].instructions) {
        if (instruction.is_pseudo()) continue;
        switch (machine_.facts(instruction).role) {
          case SequenceRole::none:
            break;
          case SequenceRole::reservation_begin:
            reserved = true;
            break;
          case SequenceRole::reservation_end:
            reserved = false;
            break;
          case SequenceRole::shadow_begin:
            shadow = true;
            break;
          case SequenceRole::shadow_end:
            shadow = false;
            break;
        }
      }
      if (reserved) {
        glue_from(id, SequenceRole::reservation_end);
        if (reservation_branches(id)) stay("a locked sequence takes branches");
      }
      if (shadow) glue_from(id, SequenceRole::shadow_end);
    }
  }

 private:
  /// Glues the blocks from `id` to the block where a sequence ends, if control falls through all of
  /// them. A procedure with a sequence that runs from one range into another, or into the entry,
  /// stays in place: layouts may part ranges.
  void glue_from(BlockId id, SequenceRole end) {
    constexpr int kLongest = 16;  // blocks
    std::vector<BlockId> path;
    bool crosses = false;
    for (int length = 0; length < kLongest; ++length) {
      const BasicBlock& block = procedure_.blocks[id];
      const Instruction& last = block.instructions.back();
      const ControlFlow flow = machine_.facts(last).flow;
      if (last.origin == kNone)
        return stay(kCrosses);  // runs into another procedure, see append_branch
      if (flow != ControlFlow::none && flow != ControlFlow::conditional_branch) return;
      const Edge* next = block.edge(Edge::Kind::fall_through);
      if (next == nullptr) return;
      path.push_back(id);
      crosses |= next->target != id + 1 ||
                 std::binary_search(starts_.begin(), starts_.end(), next->target);
      id = next->target;
      const auto& instructions = procedure_.blocks[id].instructions;
      if (std::none_of(instructions.begin(), instructions.end(), [&](const Instruction& i) {
            return !i.is_pseudo() && machine_.facts(i).role == end;
          }))
        continue;
      if (crosses) return stay(kCrosses);
      for (BlockId glued : path) procedure_.blocks[glued].flags |= BasicBlock::kGluedToNext;
      return;
    }
  }

  static constexpr const char* kCrosses =
      "a sequence that must stay contiguous runs from one piece into another";

  /// What a block does to a reservation that is held where it starts.
  enum class Passage { begins, ends, goes_on };
  Passage passage(const BasicBlock& block) const {
    for (const Instruction& i : block.instructions) {
      const SequenceRole role = i.is_pseudo() ? SequenceRole::none : machine_.facts(i).role;
      if (role == SequenceRole::reservation_begin) return Passage::begins;
      if (role == SequenceRole::reservation_end) return Passage::ends;
    }
    return Passage::goes_on;
  }

  /// Whether a path from the end of `id` to the end of its locked sequence leaves the glued blocks.
  /// If so, the code between the two ends is unknown.
  bool reservation_branches(BlockId id) const {
    for (;;) {
      const BasicBlock& block = procedure_.blocks[id];
      if (is_call(machine_.facts(block.instructions.back()).flow)) return false;
      const Edge* glued =
          block.has(BasicBlock::kGluedToNext) ? block.edge(Edge::Kind::fall_through) : nullptr;
      for (const Edge& edge : block.successors)
        if (&edge != glued && edge.kind != Edge::Kind::landing_pad && leads_to_end(edge.target))
          return true;
      if (glued == nullptr || passage(procedure_.blocks[glued->target]) != Passage::goes_on)
        return false;
      id = glued->target;
    }
  }

  /// Whether a reservation held at the start of a block may reach the end of the locked sequence.
  bool leads_to_end(BlockId start) const {
    constexpr size_t kMost = 64;  // blocks
    std::vector<BlockId> seen = {start};
    for (size_t i = 0; i < seen.size(); ++i) {
      const BasicBlock& block = procedure_.blocks[seen[i]];
      const Passage passes = passage(block);
      if (passes == Passage::ends) return true;
      if (passes == Passage::begins) continue;
      if (is_call(machine_.facts(block.instructions.back()).flow)) continue;
      for (const Edge& edge : block.successors)
        if (edge.kind != Edge::Kind::landing_pad && seen.size() < kMost &&
            std::find(seen.begin(), seen.end(), edge.target) == seen.end())
          seen.push_back(edge.target);
    }
    return false;
  }

  void stay(const char* reason) {
    if (!procedure_.movable()) return;
    procedure_.state = Procedure::State::pinned;
    procedure_.reason = reason;
  }

  Procedure& procedure_;
  const Machine& machine_;
  const std::vector<BlockId>& starts_;  // first blocks of the ranges, sorted
};

}  // namespace

void find_returns(Program& program, const Machine& machine) {
  do {
    ReturnAnalysis(program, machine).run();
  } while (drop_returns(program, machine));
}

void glue_sequences(Program& program, const Machine& machine) {
  std::vector<std::vector<BlockId>> starts(program.procedures.size());
  for (const CodeRange& range : program.ranges)
    starts[range.procedure].push_back(range.first_block);
  parallel_for(program.procedures.size(), [&](size_t id) {
    std::sort(starts[id].begin(), starts[id].end());
    SequenceGluer(program.procedures[id], machine, starts[id]).run();
  });
  pin_followers(program);
}

}  // namespace respike

// Properties of whole procedures that need all edges: which calls never return, and which blocks
// must stay neighbours.

#include <algorithm>
#include <utility>
#include <vector>

#include "optimizer/lift/lifter.h"

namespace respike {
namespace {

/// Finds the procedures that may return: those where a return, or a way out that may lead to one,
/// is reached from the entry when calls of procedures not yet known to return end there. Every
/// block is visited once; calls wait for their callee, so the time is linear.
class ReturnAnalysis {
 public:
  ReturnAnalysis(Program& program, const Target& target) : program_(program), target_(target) {
    first_.reserve(program.procedures.size());
    uint32_t blocks = 0;
    for (const Procedure& procedure : program.procedures) {
      first_.push_back(blocks);
      blocks += static_cast<uint32_t>(procedure.blocks.size());
    }
    seen_.resize(blocks);
    waiting_.resize(program.procedures.size());
  }

  void run() {
    for (Procedure& procedure : program_.procedures) procedure.returns = false;
    for (ProcedureId id = 0; id < program_.procedures.size(); ++id) {
      if (!program_[id].movable()) returns(id);
      for (BlockId block = 0; block < program_[id].blocks.size(); ++block)
        if (block == 0 || (program_[id].blocks[block].flags & kEntered) != 0) visit(id, block);
    }
    while (!work_.empty()) {
      const auto [id, block] = work_.back();
      work_.pop_back();
      follow(id, block);
    }
  }

 private:
  static constexpr uint32_t kEntered =
      BasicBlock::kEntry | BasicBlock::kAddressTaken | BasicBlock::kLandingPad;
  struct Place {
    ProcedureId procedure;
    BlockId block;
  };

  void visit(ProcedureId id, BlockId block) {
    if (seen_[first_[id] + block]) return;
    seen_[first_[id] + block] = true;
    work_.push_back({id, block});
  }

  void returns(ProcedureId id) {
    if (program_[id].returns) return;
    program_[id].returns = true;
    for (const Place& place : std::exchange(waiting_[id], {})) go_on(place.procedure, place.block);
  }

  /// What waited for the procedure that the last instruction refers to can go on.
  void go_on(ProcedureId id, BlockId block) {
    const BasicBlock& b = program_[id].blocks[block];
    if (target_.control_flow(b.instructions.back()) != ControlFlow::call) return returns(id);
    for (const Edge& edge : b.successors)
      if (edge.kind == Edge::Kind::fall_through) visit(id, edge.target);
  }

  void follow(ProcedureId id, BlockId block) {
    const Procedure& procedure = program_[id];
    const BasicBlock& b = procedure.blocks[block];
    const Instruction& last = b.instructions.back();
    const ControlFlow flow = target_.control_flow(last);
    const bool refers =
        last.has_reference() && procedure.references[last.immediate].kind == ReferenceKind::branch;
    for (const Edge& edge : b.successors)
      if (!(flow == ControlFlow::call && edge.kind == Edge::Kind::fall_through && refers))
        visit(id, edge.target);
    if (flow == ControlFlow::return_jump ||
        (flow == ControlFlow::indirect_jump &&
         (b.successors.empty() || b.has(BasicBlock::kMayLeave))))
      returns(id);
    if (!refers) return;
    const CodeLocation& to = procedure.references[last.immediate].target;
    if (to.where == CodeLocation::Where::block_start && to.procedure == id) visit(id, to.block);
    if (to.where != CodeLocation::Where::block_start || program_[to.procedure].returns)
      go_on(id, block);
    else
      waiting_[to.procedure].push_back({id, block});
  }

  Program& program_;
  const Target& target_;
  std::vector<uint32_t> first_;  // number of a procedure's first block among all
  std::vector<bool> seen_;
  std::vector<std::vector<Place>> waiting_;  // per callee
  std::vector<Place> work_;
};

/// A call that never returns has no fall-through edge.
void drop_returns(Program& program, const Target& target) {
  for (Procedure& procedure : program.procedures)
    for (BasicBlock& block : procedure.blocks) {
      const Instruction& last = block.instructions.back();
      if (!last.has_reference() || target.control_flow(last) != ControlFlow::call) continue;
      const CodeLocation& to = procedure.references[last.immediate].target;
      if (to.where != CodeLocation::Where::block_start || program[to.procedure].returns) continue;
      for (uint32_t i = 0; i < block.successors.size(); ++i)
        if (block.successors[i].kind == Edge::Kind::fall_through) block.successors.erase(i--);
      block.flags &= ~uint32_t{BasicBlock::kGluedToNext};  // a landing pad may follow it
    }
}

/// Glues the blocks from `id` to the one where a sequence ends, if straight control leads there.
void glue_from(Procedure& procedure, const Target& target, BlockId id, SequenceRole end) {
  constexpr int kLongest = 16;  // blocks
  std::vector<BlockId> path;
  for (int length = 0; length < kLongest; ++length) {
    const BasicBlock& block = procedure.blocks[id];
    const ControlFlow flow = target.control_flow(block.instructions.back());
    if (flow != ControlFlow::none && flow != ControlFlow::conditional_branch) return;
    const auto next =
        std::find_if(block.successors.begin(), block.successors.end(),
                     [](const Edge& edge) { return edge.kind == Edge::Kind::fall_through; });
    if (next == block.successors.end() || next->target == 0) return;
    path.push_back(id);
    id = next->target;
    const auto& instructions = procedure.blocks[id].instructions;
    if (std::any_of(instructions.begin(), instructions.end(), [&](const Instruction& i) {
          return !i.is_pseudo() && target.sequence_role(i) == end;
        })) {
      for (BlockId glued : path) procedure.blocks[glued].flags |= BasicBlock::kGluedToNext;
      return;
    }
  }
}

}  // namespace

void find_returns(Program& program, const Target& target) {
  ReturnAnalysis(program, target).run();
  drop_returns(program, target);
}

void glue_sequences(Program& program, const Target& target) {
  for (Procedure& procedure : program.procedures)
    for (BlockId id = 0; id < procedure.blocks.size(); ++id) {
      bool reserved = false, shadow = false;
      for (const Instruction& instruction : procedure.blocks[id].instructions) {
        if (instruction.is_pseudo()) continue;
        switch (target.sequence_role(instruction)) {
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
      if (reserved) glue_from(procedure, target, id, SequenceRole::reservation_end);
      if (shadow) glue_from(procedure, target, id, SequenceRole::shadow_end);
    }
}

}  // namespace respike

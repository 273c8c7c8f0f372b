// From blocks and their edges to a graph that conserves flow.
//
// Control leaves a block along the block's edges or out of the procedure, which is an edge to
// outside(). Exceptions are not followed: a landing pad is entered from outside, and the call that
// threw did not return. Calls of the procedure to its own blocks (recursion, local subroutines) are
// also entries from outside.
//
// Jumps that share targets, such as the dispatches of an interpreter, would need an edge for every
// pair of jump and target. With a hub in between, each jump and each target needs one edge. Only
// the counts of the pairs are lost. Example: 30 jumps to 200 targets are 230 edges instead of
// 6,000.
//
// Two edges between the same nodes on which no probe can be put are merged, since only the sum of
// their counts could be known.

#include "optimizer/profile/flow_graph.h"

#include <algorithm>

#include "optimizer/base/disjoint_sets.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/machine/machine.h"

namespace respike {
namespace {

using Kind = FlowEdge::Kind;

class Builder {
 public:
  Builder(const Program& program, ProcedureId id, const FlowGraphOptions& options)
      : program_(program),
        machine_(*program.machine),
        id_(id),
        procedure_(program[id]),
        options_(options) {}

  FlowGraph build() {
    graph_.blocks = static_cast<uint32_t>(procedure_.blocks.size());
    graph_.edges.reserve(graph_.blocks * 5 / 2);
    for (BlockId b = 0; b < graph_.blocks; ++b) add(graph_.in(b), graph_.out(b), Kind::block);
    find_entries();
    find_hubs();
    for (BlockId b = 0; b < graph_.blocks; ++b) add_ways_out(b);
    return std::move(graph_);
  }

 private:
  void add(uint32_t from, uint32_t to, Kind kind) { graph_.edges.push_back({from, to, kind}); }

  /// Marks in entered_ the blocks that control may enter without an edge.
  void find_entries() {
    entered_.assign(graph_.blocks, false);
    std::vector<bool> jumped_to(graph_.blocks);
    for (const BasicBlock& block : procedure_.blocks) {
      for (const Edge& edge : block.successors)
        if (edge.kind == Edge::Kind::indirect) jumped_to[edge.target] = true;
      const Instruction& last = block.instructions.back();
      if (const Reference* reference = branch_of(procedure_, last);
          reference != nullptr && reference->target.procedure == id_ &&
          reference->target.where == CodeLocation::Where::block_start)
        entered_[reference->target.block] = true;
    }
    for (BlockId b = 0; b < graph_.blocks; ++b) {
      const BasicBlock& block = procedure_.blocks[b];
      if ((b == 0 && options_.first_block_entered) || (b != 0 && block.has(BasicBlock::kEntry)) ||
          block.has(BasicBlock::kLandingPad) ||
          (block.has(BasicBlock::kAddressTaken) && !jumped_to[b]))
        entered_[b] = true;
    }
  }

  /// Gives every block with an indirect jump a hub, which it shares with blocks that have a common
  /// target.
  void find_hubs() {
    hub_.assign(graph_.blocks, kNone);
    DisjointSets sets(graph_.blocks * 2);  // jumps, then targets
    for (BlockId b = 0; b < graph_.blocks; ++b)
      for (const Edge& edge : procedure_.blocks[b].successors)
        if (edge.kind == Edge::Kind::indirect) sets.unite(b, graph_.blocks + edge.target);
    std::vector<uint32_t> hub_of(graph_.blocks * 2, kNone);
    std::vector<std::pair<uint32_t, BlockId>> targets;  // hub, target
    std::vector<bool> may_leave;
    for (BlockId b = 0; b < graph_.blocks; ++b) {
      const BasicBlock& block = procedure_.blocks[b];
      if (block.edge(Edge::Kind::indirect) == nullptr) continue;
      uint32_t& hub = hub_of[sets.find(b)];
      if (hub == kNone) {
        hub = graph_.hubs++;
        may_leave.push_back(false);
      }
      hub_[b] = hub;
      if (block.has(BasicBlock::kMayLeave)) may_leave[hub] = true;
      for (const Edge& edge : block.successors)
        if (edge.kind == Edge::Kind::indirect) targets.emplace_back(hub, edge.target);
    }
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    for (const auto& [hub, target] : targets)
      if (!may_leave[hub] || !entered_[target])
        add(graph_.hub(hub), graph_.in(target), Kind::indirect);
    for (uint32_t hub = 0; hub < graph_.hubs; ++hub)
      if (may_leave[hub]) add(graph_.hub(hub), graph_.outside(), Kind::exit);
  }

  void add_ways_out(BlockId b) {
    const BasicBlock& block = procedure_.blocks[b];
    const uint32_t out = graph_.out(b);
    const ControlFlow flow = machine_.facts(block.instructions.back()).flow;
    const bool call = is_call(flow);
    const bool cut = call && (options_.cut_all_calls ||
                              (b < options_.cut_calls.size() && options_.cut_calls[b]));
    unsigned ways = 0;
    bool leaves = false;
    // Almost no program continues after a stop: nothing is counted there.
    const bool stop =
        flow == ControlFlow::stop && !machine_.facts(block.instructions.back()).falls_through;
    for (const Edge& edge : block.successors) {
      if (stop) break;
      if (edge.kind == Edge::Kind::fall_through) {
        if (cut) {
          add(out, graph_.outside(), Kind::call);
          leaves = true;
          add(graph_.outside(), graph_.in(edge.target), Kind::call_return);
          // Returns of a glued call and other entries of the next block cannot be distinguished.
          if (block.has(BasicBlock::kGluedToNext)) entered_[edge.target] = false;
        } else {
          add(out, graph_.in(edge.target), Kind::fall_through);
        }
        ++ways;
      } else if (edge.kind == Edge::Kind::taken) {
        add(out, graph_.in(edge.target), Kind::taken);
        ++ways;
      }
    }
    if (hub_[b] != kNone) {
      add(out, graph_.hub(hub_[b]), Kind::indirect);
      ++ways;
    }
    // Conditional branches and jumps that a predicate may skip lead to two places; the block has no
    // edge for a place outside of the procedure.
    const bool skipped = (flow == ControlFlow::return_jump || flow == ControlFlow::indirect_jump) &&
                         machine_.facts(block.instructions.back()).falls_through;
    if (ways < (flow == ControlFlow::conditional_branch || skipped ? 2u : 1u)) {
      add(out, graph_.outside(), Kind::exit);
      leaves = true;
    }
    if (entered_[b]) add(graph_.outside(), graph_.in(b), Kind::entry);
    if (leaves) return;  // a leak could not be distinguished from the edge to outside()
    for (const Instruction& instruction : block.instructions)
      if (!instruction.is_pseudo() && machine_.facts(instruction).system_call) {
        add(graph_.outside(), out, Kind::leak);
        break;
      }
  }

  const Program& program_;
  const Machine& machine_;
  ProcedureId id_;
  const Procedure& procedure_;
  const FlowGraphOptions& options_;
  FlowGraph graph_;
  std::vector<bool> entered_;
  std::vector<uint32_t> hub_;  // by block
};

}  // namespace

FlowGraph build_flow_graph(const Program& program, ProcedureId procedure,
                           const FlowGraphOptions& options) {
  return Builder(program, procedure, options).build();
}

bool is_returning_call(const Program& program, const BasicBlock& block) {
  const ControlFlow flow = program.machine->facts(block.instructions.back()).flow;
  return is_call(flow) && block.edge(Edge::Kind::fall_through) != nullptr;
}

}  // namespace respike

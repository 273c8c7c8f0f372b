// How often loops and calls run can only be guessed, and guesses multiply along nested loops and
// down the call graph: one random procedure of a large program would then get nearly all of the
// execution. So estimates count only inside a procedure. Every procedure that may run gets a share
// of the execution that fits its size, so that hot and cold are distinguished within each
// procedure.

#include "optimizer/profile/static_counts.h"

#include <algorithm>
#include <map>

#include "optimizer/machine/machine.h"
#include "optimizer/profile/estimate.h"
#include "optimizer/profile/flow_graph.h"

namespace respike {
namespace {

uint64_t scaled(double executions) {
  return static_cast<uint64_t>(std::clamp(executions * kStaticScale, 0.0, 1e18));
}

/// How often control goes from one block to another by an indirect jump, directly or through a hub.
/// A hub passes flow on in the same proportions for every block that it comes from.
class IndirectFlow {
 public:
  IndirectFlow(const FlowGraph& graph, const std::vector<double>& flow)
      : graph_(graph), to_hub_(graph.blocks, kNone), sent_(graph.blocks), passed_(graph.hubs) {
    for (size_t e = graph.blocks; e < graph.edges.size(); ++e) {
      const FlowEdge& edge = graph.edges[e];
      if (edge.kind != FlowEdge::Kind::indirect) continue;
      if (graph.is_hub(edge.from)) {
        passed_[hub(edge.from)] += flow[e];
        arrives_[{hub(edge.from), graph.block_of(edge.to)}] += flow[e];
      } else {
        sent_[graph.block_of(edge.from)] = flow[e];
        if (graph.is_hub(edge.to)) to_hub_[graph.block_of(edge.from)] = hub(edge.to);
      }
    }
  }

  double between(BlockId from, BlockId to) const {
    const uint32_t hub = to_hub_[from];
    if (hub == kNone) return sent_[from];
    const auto arrives = arrives_.find({hub, to});
    if (arrives == arrives_.end() || passed_[hub] == 0) return 0;
    return sent_[from] * (arrives->second / passed_[hub]);
  }

 private:
  uint32_t hub(uint32_t node) const { return node - graph_.hub(0); }

  const FlowGraph& graph_;
  std::vector<uint32_t> to_hub_;  // by block
  std::vector<double> sent_;      // by block
  std::vector<double> passed_;    // by hub
  std::map<std::pair<uint32_t, BlockId>, double> arrives_;
};

void set_counts(Procedure& procedure, const FlowGraph& graph, const std::vector<double>& flow,
                double calls) {
  const IndirectFlow indirect(graph, flow);
  for (BlockId b = 0; b < graph.blocks; ++b) {
    procedure.blocks[b].count = scaled(flow[b] * calls);
    for (Edge& edge : procedure.blocks[b].successors)
      if (edge.kind == Edge::Kind::indirect)
        edge.count = scaled(indirect.between(b, edge.target) * calls);
  }
  for (size_t e = graph.blocks; e < graph.edges.size(); ++e) {
    const FlowEdge& edge = graph.edges[e];
    if (edge.kind == FlowEdge::Kind::fall_through || edge.kind == FlowEdge::Kind::taken) {
      const auto kind =
          edge.kind == FlowEdge::Kind::taken ? Edge::Kind::taken : Edge::Kind::fall_through;
      for (Edge& own : procedure.blocks[graph.block_of(edge.from)].successors)
        if (own.kind == kind) own.count = scaled(flow[e] * calls);
    }
  }
}

/// The number of calls, in units of kStaticScale, with which a procedure executes each of its
/// instructions kStaticScale times on average.
double calls_for_equal_shares(const Program& program, ProcedureId id,
                              const std::vector<double>& flow) {
  double size = 0, executed = 0;
  const Procedure& procedure = program[id];
  for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
    const auto instructions = static_cast<double>(procedure.blocks[b].instructions.size());
    size += instructions;
    executed += instructions * flow[b];
  }
  return executed == 0 ? 1 : size / executed;
}

}  // namespace

void set_static_counts(Program& program, const CallGraph& calls) {
  for (ProcedureId id = 0; id < program.procedures.size(); ++id) {
    if (!program[id].movable()) continue;
    const FlowGraph flow_graph = build_flow_graph(program, id, {});
    const std::vector<double> flow = estimate_flow(program, id, flow_graph);
    const double times = calls.unused(id) ? 0 : calls_for_equal_shares(program, id, flow);
    set_counts(program[id], flow_graph, flow, times);
  }
}

}  // namespace respike

#include "optimizer/profile/static_counts.h"

#include <algorithm>

#include "optimizer/analysis/call_graph.h"
#include "optimizer/ir/target.h"
#include "optimizer/profile/estimate.h"
#include "optimizer/profile/flow_graph.h"

namespace respike {
namespace {

constexpr double kMostCalls = 1e12;

uint64_t scaled(double executions) {
  return static_cast<uint64_t>(std::clamp(executions * kStaticScale, 0.0, 1e18));
}

void set_counts(Procedure& procedure, const FlowGraph& graph, const std::vector<double>& flow,
                double calls) {
  for (BlockId b = 0; b < graph.blocks; ++b) procedure.blocks[b].count = scaled(flow[b] * calls);
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

}  // namespace

void set_static_counts(Program& program) {
  const CallGraph graph(program);
  std::vector<double> calls(program.procedures.size());
  for (ProcedureId id = 0; id < calls.size(); ++id)
    calls[id] = graph.outside(id) == CallGraph::Outside::none || graph.unused(id) ? 0 : 1;
  const auto order = graph.bottom_up();
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    if (!program[*id].movable()) continue;
    const FlowGraph flow_graph = build_flow_graph(program, *id, {});
    const std::vector<double> flow = estimate_flow(program, *id, flow_graph);
    set_counts(program[*id], flow_graph, flow, calls[*id]);
    for (const Call& call : graph.calls_of(*id))
      if (call.known() && graph.components()[call.callee] != graph.components()[*id])
        calls[call.callee] =
            std::min(kMostCalls, calls[call.callee] + calls[*id] * flow[call.block]);
  }
}

}  // namespace respike

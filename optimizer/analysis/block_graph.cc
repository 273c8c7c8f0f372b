// Flow graphs as arrays. Building and walking a graph takes linear time and no recursion, since a
// procedure may have a million blocks in a row. Example: the edges 0->1, 0->2, 2->1 are the arrays
// first = 0 2 2 3 and targets = 1 2 1; the targets of node n are targets[first[n] .. first[n + 1]).

#include "optimizer/analysis/block_graph.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace respike {

Adjacency make_adjacency(size_t nodes, std::span<const std::pair<uint32_t, uint32_t>> edges) {
  Adjacency graph;
  graph.first.assign(nodes + 1, 0);
  for (const auto& [from, to] : edges) ++graph.first[from + 1];
  std::partial_sum(graph.first.begin(), graph.first.end(), graph.first.begin());
  graph.targets.resize(edges.size());
  std::vector<uint32_t> next(graph.first.begin(), graph.first.end() - 1);
  for (const auto& [from, to] : edges) graph.targets[next[from]++] = to;
  return graph;
}

Adjacency reversed(const Adjacency& graph) {
  const size_t nodes = graph.size();
  Adjacency result;
  result.first.assign(nodes + 1, 0);
  for (const uint32_t target : graph.targets) ++result.first[target + 1];
  std::partial_sum(result.first.begin(), result.first.end(), result.first.begin());
  result.targets.resize(graph.targets.size());
  std::vector<uint32_t> next(result.first.begin(), result.first.end() - 1);
  for (uint32_t node = 0; node < nodes; ++node)
    for (const uint32_t target : graph[node]) result.targets[next[target]++] = node;
  return result;
}

std::vector<uint32_t> postorder(const Adjacency& graph, std::span<const uint32_t> roots) {
  const size_t nodes = graph.size();
  std::vector<uint32_t> order;
  order.reserve(nodes);
  std::vector<bool> seen(nodes);
  std::vector<std::pair<uint32_t, uint32_t>> path;  // node, index of its next edge
  const auto walk = [&](uint32_t root) {
    if (seen[root]) return;
    seen[root] = true;
    path.emplace_back(root, graph.first[root]);
    while (!path.empty()) {
      auto& [node, next] = path.back();
      if (next == graph.first[node + 1]) {
        order.push_back(node);
        path.pop_back();
        continue;
      }
      const uint32_t target = graph.targets[next++];
      if (seen[target]) continue;
      seen[target] = true;
      path.emplace_back(target, graph.first[target]);
    }
  };
  for (const uint32_t root : roots) walk(root);
  for (uint32_t node = 0; node < nodes; ++node) walk(node);
  return order;
}

namespace {

template <typename F>
BlockGraph make_graph(const Procedure& procedure, F is_wanted) {
  const size_t nodes = procedure.blocks.size();
  BlockGraph graph;
  graph.successors.first.reserve(nodes + 1);
  graph.successors.first.push_back(0);
  for (const BasicBlock& block : procedure.blocks) {
    for (const Edge& edge : block.successors)
      if (is_wanted(edge)) graph.successors.targets.push_back(edge.target);
    graph.successors.first.push_back(static_cast<uint32_t>(graph.successors.targets.size()));
  }
  graph.predecessors = reversed(graph.successors);
  for (BlockId id = 0; id < nodes; ++id)
    if (id == 0 || procedure.blocks[id].has(BasicBlock::kEntry) || graph.predecessors[id].empty())
      graph.entries.push_back(id);
  graph.postorder = postorder(graph.successors, graph.entries);
  return graph;
}

}  // namespace

BlockGraph make_block_graph(const Procedure& procedure) {
  return make_graph(procedure, [](const Edge&) { return true; });
}

BlockGraph make_executed_graph(const Procedure& procedure) {
  return make_graph(procedure, [](const Edge& edge) { return edge.count != 0; });
}

}  // namespace respike

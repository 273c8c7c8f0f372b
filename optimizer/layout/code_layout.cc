// LLVM's layout algorithms, given Respike's counts.
//
// LLVM's ext-TSP orders nodes with sizes, counts and weighted edges by how often control falls
// through or jumps a short way. Here a node is a run of glued blocks, and an edge weighs what a
// fall-through along it saves instead of its count. LLVM's cache-directed sort orders pieces by
// calls between them; pieces with very many affinities keep only the strongest. Sources:
// code_layout.h.
//
// Example: the edges of a conditional branch run 90 and 10 times, and the edge of an unconditional
// branch 90 times. The two edges of count 90 do not weigh the same: the conditional branch saves a
// second branch 10 times, the unconditional branch saves itself 90 times.

#include "optimizer/layout/code_layout.h"

#include <llvm/Transforms/Utils/CodeLayout.h>

#include <algorithm>
#include <numeric>

#include "optimizer/layout/glued_runs.h"
#include "optimizer/layout/hotness.h"
#include "optimizer/machine/machine.h"

namespace respike {
namespace {

using llvm::codelayout::EdgeCount;

/// A count as a double may round up to 2^64, which does not fit into uint64_t.
uint64_t whole(double number) {
  return number < 0x1p64 ? static_cast<uint64_t>(number) : UINT64_MAX;
}

/// Nodes of a flow graph: runs of glued blocks.
struct Nodes {
  std::vector<std::vector<BlockId>> runs;
  std::vector<uint64_t> sizes, counts;
  std::vector<EdgeCount> edges;
};

constexpr double kScale = 16;  // ext-TSP takes whole numbers

/// The gain when control falls along the edge. ext-TSP alone would take the count. But a block
/// whose two successors are both placed elsewhere needs a second branch for the rarer successor,
/// while a block with one successor only needs its branch back. So a loop is better cut at a
/// conditional branch than at the jump back to its head.
double gain_of_following(const BasicBlock& block, const Edge& edge, double added_branch) {
  const Edge* fall = block.edge(Edge::Kind::fall_through);
  const Edge* taken = block.edge(Edge::Kind::taken);
  const bool two_ways = fall != nullptr && taken != nullptr;
  const uint64_t saved = two_ways ? std::min(fall->count, taken->count) : edge.count;
  return kScale * (static_cast<double>(edge.count) + added_branch * static_cast<double>(saved));
}

Nodes nodes_of(const Machine& machine, const Procedure& procedure,
               const std::vector<bool>& wanted) {
  Nodes nodes;
  std::vector<uint32_t> node_of(procedure.blocks.size(), kNone);
  for (auto& run : glued_runs(procedure)) {
    if (std::none_of(run.begin(), run.end(), [&](BlockId b) { return wanted[b]; })) continue;
    uint64_t size = 0, count = 0;
    for (const BlockId b : run) {
      node_of[b] = static_cast<uint32_t>(nodes.runs.size());
      size += code_size(machine, procedure.blocks[b]);
      count = std::max(count, procedure.blocks[b].count);
    }
    nodes.sizes.push_back(std::max<uint64_t>(size, 1));
    nodes.counts.push_back(count);
    nodes.runs.push_back(std::move(run));
  }
  for (uint32_t node = 0; node < nodes.runs.size(); ++node) {
    const BasicBlock& block = procedure.blocks[nodes.runs[node].back()];
    for (const Edge& edge : block.successors) {
      if (edge.kind != Edge::Kind::fall_through && edge.kind != Edge::Kind::taken) continue;
      const uint32_t to = node_of[edge.target];
      if (to != kNone && nodes.runs[to].front() == edge.target)
        nodes.edges.push_back(
            {node, to, whole(gain_of_following(block, edge, machine.costs.added_branch))});
    }
  }
  return nodes;
}

// Most affinities of a piece for the cache-directed sort. A merge of chains looks at all affinities
// of the merged chain, so a switch of 40,000 cases would take minutes. In CPython, LLVM and Clang
// no piece has as many.
constexpr uint32_t kMostAffinities = 4096;

/// The affinities between different pieces, without the weakest affinities of pieces that have more
/// than kMostAffinities.
std::vector<Affinity> strongest(size_t pieces, std::span<const Affinity> affinities) {
  std::vector<Affinity> result;
  std::vector<uint32_t> all(pieces);
  bool many = false;
  for (const Affinity& each : affinities) {
    if (each.from == each.to) continue;
    result.push_back(each);
    many |= ++all[each.from] > kMostAffinities;
    many |= ++all[each.to] > kMostAffinities;
  }
  if (!many) return result;
  std::vector<uint32_t> left(pieces, kMostAffinities);
  std::vector<uint32_t> order(result.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return result[a].weight > result[b].weight; });
  std::vector<bool> kept(result.size());
  for (const uint32_t i : order) {
    const Affinity& each = result[i];
    if (left[each.from] == 0 || left[each.to] == 0) continue;
    --left[each.from];
    --left[each.to];
    kept[i] = true;
  }
  size_t place = 0;
  std::erase_if(result, [&](const Affinity&) { return !kept[place++]; });
  return result;
}

}  // namespace

std::vector<BlockId> ext_tsp_blocks(const Machine& machine, const Procedure& procedure,
                                    const std::vector<bool>& wanted) {
  const Nodes nodes = nodes_of(machine, procedure, wanted);
  std::vector<BlockId> result;
  if (nodes.runs.empty()) return result;
  for (const uint64_t node :
       llvm::codelayout::computeExtTspLayout(nodes.sizes, nodes.counts, nodes.edges))
    result.insert(result.end(), nodes.runs[node].begin(), nodes.runs[node].end());
  return result;
}

std::vector<uint32_t> place_cache_directed(std::span<const uint64_t> sizes,
                                           std::span<const double> heat,
                                           std::span<const Affinity> affinities) {
  if (sizes.empty()) return {};  // LLVM's function requires a node
  std::vector<uint64_t> node_sizes, counts, offsets;
  std::vector<EdgeCount> calls;
  for (size_t i = 0; i < sizes.size(); ++i) {
    node_sizes.push_back(std::max<uint64_t>(sizes[i], 1));
    counts.push_back(whole(heat[i] / static_cast<double>(node_sizes.back())));
  }
  for (const Affinity& affinity : strongest(sizes.size(), affinities)) {
    calls.push_back({affinity.from, affinity.to, whole(affinity.weight)});
    offsets.push_back(affinity.offset);
  }
  const auto order =
      llvm::codelayout::computeCacheDirectedLayout(node_sizes, counts, calls, offsets);
  return {order.begin(), order.end()};
}

}  // namespace respike

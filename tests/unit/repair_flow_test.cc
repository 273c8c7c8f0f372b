// Repaired flow is conserved and as cheap as possible: compared with brute force on small graphs.

#include "optimizer/profile/repair_flow.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/flow_testing.h"

namespace respike {
namespace {

std::vector<uint64_t> repaired(uint32_t nodes, const std::vector<WantedFlow>& edges) {
  uint64_t effort = UINT64_MAX;
  return repair_flow(nodes, edges, effort).value();
}

void expect_conserved(uint32_t nodes, const std::vector<WantedFlow>& edges,
                      const std::vector<uint64_t>& flow) {
  ASSERT_EQ(flow.size(), edges.size());
  std::vector<uint64_t> balance(nodes);
  for (size_t e = 0; e < edges.size(); ++e) {
    ASSERT_LT(flow[e], uint64_t{1} << 62);
    balance[edges[e].to] += flow[e];
    balance[edges[e].from] -= flow[e];
  }
  for (uint32_t v = 0; v < nodes; ++v) EXPECT_EQ(balance[v], 0u) << "node " << v;
}

uint64_t cost_of(const std::vector<WantedFlow>& edges, const std::vector<uint64_t>& flow) {
  uint64_t cost = 0;
  for (size_t e = 0; e < edges.size(); ++e)
    cost += flow[e] > edges[e].wanted ? (flow[e] - edges[e].wanted) * edges[e].up
                                      : (edges[e].wanted - flow[e]) * edges[e].down;
  return cost;
}

/// Tries all flows of at most `most` on each edge.
uint64_t least_cost(uint32_t nodes, const std::vector<WantedFlow>& edges, uint64_t most) {
  std::vector<uint64_t> flow(edges.size());
  uint64_t least = std::numeric_limits<uint64_t>::max();
  for (;;) {
    std::vector<int64_t> balance(nodes);
    for (size_t e = 0; e < edges.size(); ++e) {
      balance[edges[e].to] += static_cast<int64_t>(flow[e]);
      balance[edges[e].from] -= static_cast<int64_t>(flow[e]);
    }
    if (std::all_of(balance.begin(), balance.end(), [](int64_t b) { return b == 0; }))
      least = std::min(least, cost_of(edges, flow));
    size_t e = 0;
    while (e < flow.size() && flow[e] == most) flow[e++] = 0;
    if (e == flow.size()) return least;
    ++flow[e];
  }
}

std::vector<WantedFlow> random_edges(Random& random, uint32_t nodes, uint32_t count,
                                     uint32_t most) {
  std::vector<WantedFlow> edges;
  for (uint32_t e = 0; e < count; ++e)
    edges.push_back({below(random, nodes), below(random, nodes), below(random, most + 1),
                     1 + below(random, 5), below(random, 5)});
  return edges;
}

TEST(RepairFlow, IsCheapestOnSmallGraphs) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const uint32_t nodes = 2 + below(random, 3);
    const auto edges = random_edges(random, nodes, 2 + below(random, 5), 3);
    const auto flow = repaired(nodes, edges);
    expect_conserved(nodes, edges, flow);
    EXPECT_EQ(cost_of(edges, flow), least_cost(nodes, edges, 6)) << seed;
  }
}

TEST(RepairFlow, WhatFitsStays) {
  const std::vector<WantedFlow> edges = {{0, 1, 7}, {1, 2, 3}, {1, 3, 4}, {2, 0, 3}, {3, 0, 4}};
  EXPECT_EQ(repaired(4, edges), (std::vector<uint64_t>{7, 3, 4, 3, 4}));
  EXPECT_TRUE(repaired(0, {}).empty());
  EXPECT_EQ(repaired(1, std::vector<WantedFlow>{{0, 0, 5}}), std::vector<uint64_t>{5});
}

/// A diamond in which one side has no count.
TEST(RepairFlow, WhatIsMissingFollows) {
  const std::vector<WantedFlow> edges = {{0, 1, 10, 9, 9}, {0, 2, 0, 1, 1},  {1, 3, 10, 9, 9},
                                         {2, 3, 0, 1, 1},  {3, 4, 25, 9, 9}, {4, 0, 25, 9, 9}};
  EXPECT_EQ(repaired(5, edges), (std::vector<uint64_t>{10, 15, 10, 15, 25, 25}));
}

TEST(RepairFlow, LargeGraphsAndNumbers) {
  Random random(1);
  const uint32_t nodes = 3'001, outside = nodes - 1;
  auto edges = random_edges(random, nodes, 7'500, 1000);
  for (uint32_t v = 0; v + 1 < nodes; ++v) {
    edges.push_back({v, outside, one_in(random, 100) ? kMostWantedFlow : 0, 20, 20});
    edges.push_back({outside, v, one_in(random, 100) ? kMostWantedFlow : 0, 20, 20});
  }
  expect_conserved(nodes, edges, repaired(nodes, edges));
}

TEST(RepairFlow, EffortIsLimited) {
  Random random(2);
  const auto edges = random_edges(random, 1000, 5000, 100);
  uint64_t effort = 10'000;
  EXPECT_FALSE(repair_flow(1000, edges, effort));
  EXPECT_EQ(effort, 0u);
  effort = 1'000'000'000;
  EXPECT_TRUE(repair_flow(1000, edges, effort));
  EXPECT_LT(effort, 1'000'000'000u);
}

}  // namespace
}  // namespace respike

// Compares solutions of flow equations with a machine that counts everything.

#include <gtest/gtest.h>

#include <algorithm>

#include "optimizer/profile/solve_flow.h"
#include "tests/unit/flow_testing.h"

namespace respike {
namespace {

constexpr int kPrograms = 300;

/// The flow into each node minus the flow out of it.
std::vector<uint64_t> excess(const FlowGraph& graph, const std::vector<uint64_t>& counts) {
  std::vector<uint64_t> result(graph.nodes());
  for (uint32_t e = 0; e < graph.edges.size(); ++e) {
    result[graph.edges[e].from] -= counts[e];
    result[graph.edges[e].to] += counts[e];
  }
  return result;
}

TEST(FlowSolver, WholeRuns) {
  for (int seed = 0; seed < kPrograms; ++seed) {
    Random random(seed);
    const ToyOptions options;
    const auto program = random_toy(random, options);
    const CounterMap map = counter_map_of(program, random);
    ToyMachine machine(program, map, options, random);
    machine.run();
    machine.run();
    const auto counters = machine.counters();
    for (size_t p = 0; p < program.size(); ++p) {
      const FlowGraph& graph = map.procedures[p].graph;
      ASSERT_TRUE(has_spanning_forest(graph));
      const FlowSolution solution = solve_flow(graph, counters);
      ASSERT_TRUE(solution.solvable);
      // Runs that were stopped are not whole.
      const auto missing = excess(graph, machine.counts[p]);
      const bool whole = std::all_of(missing.begin(), missing.end() - graph.hubs - 1,
                                     [](uint64_t x) { return x == 0; });
      if (!whole) continue;
      EXPECT_TRUE(solution.balanced());
      EXPECT_EQ(solution.counts, machine.counts[p]) << "seed " << seed << ", procedure " << p;
    }
  }
}

TEST(FlowSolver, CallsThatDidNotReturn) {
  int unbalanced = 0;
  for (int seed = 0; seed < kPrograms; ++seed) {
    Random random(1000 + seed);
    ToyOptions options;
    options.unknown_exits = 10;
    options.unknown_throws = 10;
    options.pads = 3;
    const auto program = random_toy(random, options);
    const CounterMap map = counter_map_of(program, random);
    ToyMachine machine(program, map, options, random);
    for (int i = 0; i < 5; ++i) machine.run();
    const auto counters = machine.counters();
    for (size_t p = 0; p < program.size(); ++p) {
      const FlowGraph& graph = map.procedures[p].graph;
      const auto missing = excess(graph, machine.counts[p]);
      std::vector<CallLoss> losses;
      bool others = false;
      for (uint32_t node = 0; node < graph.outside(); ++node) {
        if (missing[node] == 0) continue;
        const BlockId block = graph.block_of(node);
        others |= program[p].cut || program[p].blocks[block].end != ToyBlock::End::call;
        losses.push_back({block, static_cast<int64_t>(missing[node])});
      }
      if (others) continue;  // it was stopped
      // If the loss of each call is known, all counts are known; without losses, each part knows
      // its total loss.
      const FlowSolution solution = solve_flow(graph, counters, losses);
      EXPECT_TRUE(solution.balanced());
      EXPECT_EQ(solution.counts, machine.counts[p]) << "seed " << 1000 + seed << " " << p;
      const FlowSolution without = solve_flow(graph, counters);
      const auto parts = flow_parts(graph);
      std::vector<int64_t> expected(graph.nodes()), actual(graph.nodes());
      for (const CallLoss& loss : losses) expected[parts[graph.out(loss.block)]] += loss.amount;
      for (const auto& [node, amount] : without.imbalances) actual[parts[node]] += amount;
      EXPECT_EQ(actual, expected);
      unbalanced += !losses.empty();
    }
  }
  EXPECT_GT(unbalanced, 100);
}

TEST(FlowSolver, AnyCountersSatisfyTheEquations) {
  for (int seed = 0; seed < kPrograms; ++seed) {
    Random random(2000 + seed);
    const auto program = random_toy(random, {});
    const CounterMap map = counter_map_of(program, random);
    std::vector<uint64_t> counters(map.counters);
    for (uint64_t& counter : counters) counter = one_in(random, 2) ? random() : UINT64_MAX;
    for (const auto& procedure : map.procedures) {
      const FlowGraph& graph = procedure.graph;
      const FlowSolution solution = solve_flow(graph, counters);
      ASSERT_TRUE(solution.solvable);
      auto left = excess(graph, solution.counts);
      for (const auto& [node, amount] : solution.imbalances)
        left[node] -= static_cast<uint64_t>(amount);
      left[graph.outside()] = 0;
      EXPECT_EQ(std::count(left.begin(), left.end(), 0u), static_cast<long>(left.size()));
    }
  }
}

TEST(FlowSolver, CyclesWithoutCounters) {
  FlowGraph graph;
  graph.blocks = 1;
  graph.edges = {{0, 1, FlowEdge::Kind::block}, {1, 0, FlowEdge::Kind::taken}};
  EXPECT_FALSE(has_spanning_forest(graph));
  EXPECT_FALSE(solve_flow(graph, {}).solvable);
  graph.edges[1].counter = 0;
  EXPECT_TRUE(has_spanning_forest(graph));
  const uint64_t five = 5;
  EXPECT_EQ(solve_flow(graph, {&five, 1}).counts, (std::vector<uint64_t>{5, 5}));
  graph.edges.push_back({0, 0, FlowEdge::Kind::taken});  // from a node to itself
  EXPECT_FALSE(has_spanning_forest(graph));
  EXPECT_FALSE(solve_flow(graph, {&five, 1}).solvable);
}

/// The flow that enters at outside() need not leave there.
TEST(FlowSolver, OutsideIsNotConserved) {
  FlowGraph graph;
  graph.blocks = 2;
  graph.edges = {{0, 1, FlowEdge::Kind::block, 0},
                 {2, 3, FlowEdge::Kind::block, 1},
                 {4, 0, FlowEdge::Kind::entry},
                 {1, 2, FlowEdge::Kind::fall_through},
                 {3, 4, FlowEdge::Kind::exit}};
  const std::vector<uint64_t> counters = {5, 3};
  EXPECT_TRUE(has_spanning_forest(graph));
  const FlowSolution solution = solve_flow(graph, counters);
  EXPECT_EQ(solution.counts[2], 5u);
  EXPECT_EQ(solution.counts[4], 3u);
  ASSERT_EQ(solution.imbalances.size(), 1u);
  EXPECT_EQ(solution.imbalances[0].amount, 2);
  const CallLoss loss = {0, 2};
  EXPECT_TRUE(solve_flow(graph, counters, {&loss, 1}).balanced());
}

/// A chain of a million blocks: no recursion, no quadratic time.
TEST(FlowSolver, LongChain) {
  constexpr uint32_t kBlocks = 1'000'000;
  FlowGraph graph;
  graph.blocks = kBlocks;
  for (BlockId b = 0; b < kBlocks; ++b)
    graph.edges.push_back({graph.in(b), graph.out(b), FlowEdge::Kind::block});
  for (BlockId b = kBlocks - 1; b-- > 0;)
    graph.edges.push_back({graph.out(b), graph.in(b + 1), FlowEdge::Kind::fall_through});
  graph.edges.push_back({graph.outside(), graph.in(0), FlowEdge::Kind::entry});
  graph.edges.push_back({graph.out(kBlocks - 1), graph.outside(), FlowEdge::Kind::exit, 0});
  ASSERT_TRUE(has_spanning_forest(graph));
  const uint64_t seven = 7;
  const FlowSolution solution = solve_flow(graph, {&seven, 1});
  EXPECT_TRUE(solution.balanced());
  EXPECT_EQ(std::count(solution.counts.begin(), solution.counts.end(), 7u),
            static_cast<long>(graph.edges.size()));
}

}  // namespace
}  // namespace respike

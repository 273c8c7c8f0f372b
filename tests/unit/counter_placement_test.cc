// Tests which edges get a counter, on random procedures: all edges that the solution of counts
// needs, and no more.

#include "instrument/counter_placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "optimizer/base/disjoint_sets.h"
#include "tests/unit/fake_machine.h"
#include "tests/unit/flow_testing.h"

namespace respike {
namespace {

using Kind = FlowEdge::Kind;

struct Shape {
  uint32_t blocks = 5;
  uint32_t calls = 4;   // one block in so many ends in a call; 0: none
  uint32_t closed = 0;  // one place in so many can have no probe; 0: none
};

/// A procedure whose blocks have one instruction each, and the places where probes may stand.
struct Example {
  Program program;
  ProbePlaces places;

  Example(Random& random, const Shape& shape) {
    program.machine = &fake_machine();
    Procedure& procedure = program.procedures.emplace_back();
    const uint32_t size = 2 + below(random, shape.blocks - 1);
    procedure.blocks.resize(size);
    for (BlockId b = 0; b < size; ++b) {
      const auto end = [&](std::string_view name) {
        procedure.blocks[b].instructions.push_back(*program.arena,
                                                   {.opcode = FakeMachine::opcode(name)});
      };
      const auto edge = [&](BlockId to, Edge::Kind kind) {
        procedure.blocks[b].successors.push_back(*program.arena, Edge{.target = to, .kind = kind});
      };
      const BlockId any = below(random, size);
      if (b + 1 == size) {
        end("ret");
      } else if (shape.calls != 0 && one_in(random, shape.calls)) {
        end("jsr");
        edge(b + 1, Edge::Kind::fall_through);
      } else if (one_in(random, 6)) {
        end("jmp");
        edge(any, Edge::Kind::indirect);
        if (any != b + 1) edge(b + 1, Edge::Kind::indirect);
      } else if (one_in(random, 8)) {
        end("ret");
      } else if (one_in(random, 5)) {
        end("br");
        edge(any, Edge::Kind::taken);
      } else if (one_in(random, 5)) {
        end("nop");
        edge(b + 1, Edge::Kind::fall_through);
      } else {
        end("beq");
        edge(b + 1, Edge::Kind::fall_through);
        edge(any, Edge::Kind::taken);
      }
    }
    const auto open = [&] { return shape.closed == 0 || !one_in(random, shape.closed); };
    for (BlockId b = 0; b < size; ++b) {
      places.block.push_back(open());
      places.after_block.push_back(open());
    }
  }

  /// The calls of the procedure that are through calls.
  std::vector<BlockId> through_calls(const FlowGraph& graph) const {
    std::vector<bool> cut(graph.blocks);
    for (const FlowEdge& edge : graph.edges)
      if (edge.kind == Kind::call) cut[graph.block_of(edge.from)] = true;
    std::vector<BlockId> result;
    for (BlockId b = 0; b < graph.blocks; ++b)
      if (!cut[b] && is_returning_call(program, program[0].blocks[b])) result.push_back(b);
    return result;
  }

  bool can_have_probe(const FlowGraph& graph, uint32_t e) const {
    const FlowEdge& edge = graph.edges[e];
    switch (edge.kind) {
      case Kind::block:
        return places.block[e];
      case Kind::fall_through:
        return places.after_block[graph.block_of(edge.from)];
      case Kind::call_return:
        return places.after_block[graph.block_of(graph.edges[e - 1].from)];
      default:
        return edge.kind == Kind::taken;
    }
  }

  /// Says whether counters on a set of edges give all counts, and show calls that did not return.
  template <typename IsCounted>
  bool suffices(const FlowGraph& graph, IsCounted is_counted) const {
    DisjointSets parts(graph.nodes());
    for (uint32_t e = 0; e < graph.edges.size(); ++e)
      if (!is_counted(e) && !parts.unite(graph.edges[e].from, graph.edges[e].to)) return false;
    for (const BlockId b : through_calls(graph))
      if (parts.find(graph.out(b)) == parts.find(graph.outside())) return false;
    return true;
  }

  /// Random weights, each greater than the sum of all smaller weights: only the order of weights
  /// matters, not the cost of a probe at a place. Edges with one count have one weight.
  std::vector<double> weigh(const FlowGraph& graph, uint64_t seed) const {
    DisjointSets same(graph.edges.size());
    std::vector<std::vector<uint32_t>> in(graph.nodes()), out(graph.nodes());
    for (uint32_t e = 0; e < graph.edges.size(); ++e) {
      in[graph.edges[e].to].push_back(e);
      out[graph.edges[e].from].push_back(e);
    }
    for (uint32_t n = 0; n < graph.nodes(); ++n)
      if (n != graph.outside() && in[n].size() == 1 && out[n].size() == 1)
        same.unite(in[n].front(), out[n].front());
    std::vector<uint32_t> order(graph.edges.size());
    std::iota(order.begin(), order.end(), 0);
    Random random(seed);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<double> weights;
    for (uint32_t e = 0; e < graph.edges.size(); ++e)
      weights.push_back(static_cast<double>(uint64_t{1} << 2 * order[same.find(e)] % 62));
    return weights;
  }

  std::optional<CounterPlacement> place(uint64_t seed, bool cut_calls) const {
    const std::vector<bool> cut(program[0].blocks.size(), cut_calls);
    return place_counters(program, 0, cut, true, places,
                          [&](const FlowGraph& graph) { return weigh(graph, seed); });
  }
};

constexpr int kExamples = 2000;

TEST(CounterPlacement, CountersSuffice) {
  int placed = 0, impossible = 0, through = 0;
  for (int seed = 0; seed < kExamples; ++seed) {
    Random random(seed);
    const Example example(random, {.blocks = 9, .calls = 4, .closed = 4u * (seed % 3)});
    const auto placement = example.place(seed, false);
    if (!placement) {
      ++impossible;
      continue;
    }
    ++placed;
    const FlowGraph& graph = placement->graph;
    through += !example.through_calls(graph).empty();
    EXPECT_TRUE(example.suffices(graph, [&](uint32_t e) {
      return graph.edges[e].counter != kNone;
    })) << seed;
    for (uint32_t e = 0; e < graph.edges.size(); ++e)
      EXPECT_TRUE(graph.edges[e].counter == kNone || example.can_have_probe(graph, e)) << seed;
  }
  EXPECT_GT(placed, kExamples / 2);
  EXPECT_GT(impossible, 10);
  EXPECT_GT(through, kExamples / 10);
}

TEST(CounterPlacement, CountersAreNumberedInOrder) {
  for (int seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const Example example(random, {});
    const auto placement = example.place(seed, false);
    ASSERT_TRUE(placement);
    const std::vector<double> weights = example.weigh(placement->graph, seed);
    uint32_t counters = 0;
    for (uint32_t e = 0; e < weights.size(); ++e) {
      if (placement->graph.edges[e].counter == kNone) continue;
      ASSERT_EQ(placement->graph.edges[e].counter, counters);
      EXPECT_EQ(placement->probes[counters], e);
      EXPECT_EQ(placement->weights[counters], weights[e]);
      ++counters;
    }
    EXPECT_EQ(placement->probes.size(), counters);
    EXPECT_EQ(placement->weights.size(), counters);
    EXPECT_TRUE(std::equal(placement->blocks.begin(), placement->blocks.end(), weights.begin()));
  }
}

/// A procedure is left out only if it could not be counted even with probes at all possible places.
TEST(CounterPlacement, RefusesOnlyTheImpossible) {
  int impossible = 0;
  for (int seed = 0; seed < kExamples; ++seed) {
    Random random(seed);
    const Example example(random, {.blocks = 6, .calls = 3, .closed = 2});
    bool possible = false;
    for (const bool cut : {false, true}) {
      FlowGraphOptions options;
      options.cut_all_calls = cut;
      const FlowGraph graph = build_flow_graph(example.program, 0, options);
      possible |=
          example.suffices(graph, [&](uint32_t e) { return example.can_have_probe(graph, e); });
    }
    // If neither choice for all calls suffices, cutting only some calls may.
    EXPECT_TRUE(example.place(seed, false) || !possible) << seed;
    impossible += !possible;
  }
  EXPECT_GT(impossible, 100);
  EXPECT_LT(impossible, kExamples - 100);
}

double total(const std::vector<double>& weights) {
  return std::accumulate(weights.begin(), weights.end(), 0.0);
}

/// The least total weight of counters that suffice, by trying all sets.
double least_weight(const Example& example, const FlowGraph& graph,
                    const std::vector<double>& weights) {
  std::vector<uint32_t> candidates;
  for (uint32_t e = 0; e < graph.edges.size(); ++e)
    if (example.can_have_probe(graph, e)) candidates.push_back(e);
  double least = 1e300;
  std::vector<bool> counted(graph.edges.size());
  for (uint32_t set = 0; set < 1u << candidates.size(); ++set) {
    double weight = 0;
    for (uint32_t i = 0; i < candidates.size(); ++i) {
      counted[candidates[i]] = (set >> i & 1) != 0;
      if (counted[candidates[i]]) weight += weights[candidates[i]];
    }
    if (weight < least && example.suffices(graph, [&](uint32_t e) { return counted[e]; }))
      least = weight;
  }
  return least;
}

TEST(CounterPlacement, IsTheLightestWhereAllCallsAreCut) {
  int compared = 0;
  for (int seed = 0; seed < 500; ++seed) {
    Random random(seed);
    const Example example(random, {.blocks = 5, .calls = 4, .closed = 6u * (seed % 2)});
    const auto placement = example.place(seed, true);
    if (!placement) continue;
    ++compared;
    const std::vector<double> weights = example.weigh(placement->graph, seed);
    EXPECT_EQ(total(placement->weights), least_weight(example, placement->graph, weights)) << seed;
  }
  EXPECT_GT(compared, 400);
}

/// The choice among through calls need not be the lightest, but no counter is superfluous.
TEST(CounterPlacement, NeedsEveryCounter) {
  int through = 0;
  for (int seed = 0; seed < kExamples; ++seed) {
    Random random(seed);
    const Example example(random, {.blocks = 8, .calls = 3});
    const auto placement = example.place(seed, false);
    ASSERT_TRUE(placement);
    const FlowGraph& graph = placement->graph;
    through += !example.through_calls(graph).empty();
    for (const uint32_t left_out : placement->probes)
      EXPECT_FALSE(example.suffices(graph, [&](uint32_t e) {
        return graph.edges[e].counter != kNone && e != left_out;
      })) << seed;
  }
  EXPECT_GT(through, kExamples / 10);
}

}  // namespace
}  // namespace respike

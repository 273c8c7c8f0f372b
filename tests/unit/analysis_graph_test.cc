// Flow graphs, dominators and loops, against their definitions on random graphs.

#include <gtest/gtest.h>

#include "optimizer/analysis/dominators.h"
#include "optimizer/analysis/loops.h"
#include "tests/unit/analysis_testing.h"

namespace respike {
namespace {

TEST(BlockGraph, KnowsBothDirectionsAndAnOrder) {
  const GraphProgram example(6, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 1}, {5, 5}}, {2});
  const BlockGraph graph = example.graph();
  EXPECT_EQ(std::vector(graph.predecessors[3].begin(), graph.predecessors[3].end()),
            (std::vector<BlockId>{1, 2}));
  EXPECT_EQ(graph.entries, (std::vector<BlockId>{0, 2, 4}));  // nothing leads to 4
  EXPECT_EQ(graph.postorder.size(), 6u);
  EXPECT_EQ(graph.postorder[0], 3u);
}

TEST(BlockGraph, SurvivesLongChains) {
  std::vector<std::pair<BlockId, BlockId>> edges;
  constexpr BlockId kBlocks = 300000;
  for (BlockId b = 0; b + 1 < kBlocks; ++b) edges.emplace_back(b, b + 1);
  edges.emplace_back(kBlocks - 1, 0);
  const GraphProgram chain(kBlocks, edges);
  const BlockGraph graph = chain.graph();
  EXPECT_EQ(graph.postorder.front(), kBlocks - 1);
  const Dominators dominators(graph);
  EXPECT_TRUE(dominators.dominates(0, kBlocks - 1));
  const Loops loops = find_loops(graph, dominators);
  ASSERT_EQ(loops.loops.size(), 1u);
  EXPECT_EQ(loops.depth(kBlocks / 2), 1u);
}

class RandomGraphs : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Density, RandomGraphs, testing::Values(1, 2, 3, 5));

template <typename F>
void for_random_graphs(int density, F check) {
  Random random(static_cast<uint64_t>(density));
  for (int round = 0; round < 400; ++round) {
    const size_t blocks = 1 + random() % 14;
    std::vector<BlockId> entries;
    if (random() % 3 == 0) entries.push_back(static_cast<BlockId>(random() % blocks));
    const auto edges =
        random_edges(random, blocks, blocks * static_cast<size_t>(density) / 2 + random() % 3);
    const GraphProgram program(blocks, edges, entries);
    check(program.graph());
    if (testing::Test::HasFailure()) {
      for (const auto& [from, to] : edges) std::printf("%u->%u ", from, to);
      std::printf("blocks %zu\n", blocks);
      return;
    }
  }
}

TEST_P(RandomGraphs, DominatorsAreWhatRemovalCutsOff) {
  for_random_graphs(GetParam(), [](const BlockGraph& graph) {
    const Dominators dominators(graph);
    const auto reached = reachable(graph);
    for (BlockId a = 0; a < reached.size(); ++a) {
      EXPECT_EQ(dominators.reachable(a), reached[a]);
      const auto without = reachable(graph, a);
      for (BlockId b = 0; b < reached.size(); ++b)
        EXPECT_EQ(dominators.dominates(a, b), reached[a] && reached[b] && !without[b])
            << a << " " << b;
    }
    for (BlockId b = 0; b < reached.size(); ++b) {
      const BlockId above = dominators.immediate(b);
      for (BlockId a = 0; a < reached.size(); ++a) {
        if (a == b || !dominators.dominates(a, b)) continue;
        EXPECT_NE(above, kNone);
        EXPECT_TRUE(dominators.dominates(a, above)) << a << " " << b;
      }
    }
    EXPECT_EQ(dominators.top_down().size(),
              static_cast<size_t>(std::count(reached.begin(), reached.end(), true)));
  });
}

/// Blocks from which a path to a latch does not pass through the header.
std::vector<bool> body_of(const BlockGraph& graph, const Dominators& dominators, BlockId header) {
  std::vector<bool> body(graph.successors.size());
  body[header] = true;
  for (BlockId block = 0; block < body.size(); ++block) {
    if (!dominators.dominates(header, block)) continue;
    std::vector<bool> seen(body.size());
    std::vector<BlockId> work = {block};
    while (!work.empty()) {
      const BlockId at = work.back();
      work.pop_back();
      for (const BlockId next : graph.successors[at]) {
        if (next == header && dominators.dominates(header, at)) body[block] = true;
        if (next == header || seen[next]) continue;
        seen[next] = true;
        work.push_back(next);
      }
    }
  }
  return body;
}

TEST_P(RandomGraphs, LoopsAreTheNaturalOnes) {
  for_random_graphs(GetParam(), [](const BlockGraph& graph) {
    const Dominators dominators(graph);
    const Loops loops = find_loops(graph, dominators);
    const size_t blocks = graph.successors.size();
    std::vector<uint32_t> depth(blocks);
    size_t headers = 0;
    for (BlockId header = 0; header < blocks; ++header) {
      bool is_header = false;
      for (const BlockId before : graph.predecessors[header])
        is_header |= dominators.dominates(header, before);
      if (!is_header) continue;
      ++headers;
      const auto body = body_of(graph, dominators, header);
      for (BlockId b = 0; b < blocks; ++b) depth[b] += body[b] ? 1 : 0;
      const auto loop = std::find_if(loops.loops.begin(), loops.loops.end(),
                                     [&](const Loop& l) { return l.header == header; });
      ASSERT_NE(loop, loops.loops.end());
      const auto index = static_cast<uint32_t>(loop - loops.loops.begin());
      for (BlockId b = 0; b < blocks; ++b) {
        bool inside = false;
        for (uint32_t l = loops.innermost[b]; l != kNoLoop; l = loops.loops[l].parent)
          inside |= l == index;
        EXPECT_EQ(inside, body[b]) << "block " << b << " header " << header;
      }
    }
    EXPECT_EQ(loops.loops.size(), headers);
    for (BlockId b = 0; b < blocks; ++b) EXPECT_EQ(loops.depth(b), depth[b]) << b;
  });
}

TEST_P(RandomGraphs, IrreducibleIsWhatRepeatsWithoutBackEdges) {
  for_random_graphs(GetParam(), [](const BlockGraph& graph) {
    const Dominators dominators(graph);
    const Loops loops = find_loops(graph, dominators);
    for (BlockId block = 0; block < graph.successors.size(); ++block) {
      std::vector<bool> seen(graph.successors.size());
      std::vector<BlockId> work = {block};
      bool repeats = false;
      while (!work.empty() && dominators.reachable(block)) {
        const BlockId at = work.back();
        work.pop_back();
        for (const BlockId next : graph.successors[at]) {
          if (dominators.dominates(next, at)) continue;
          repeats |= next == block;
          if (!seen[next]) work.push_back(next);
          seen[next] = true;
        }
      }
      EXPECT_EQ(loops.irreducible[block], repeats) << block;
    }
  });
}

TEST(Loops, NestAndShareHeaders) {
  // 1 is the header of two back edges, around the loop of 2; the loop of 5 and 6 can be entered at
  // both.
  const GraphProgram program(8, {{0, 1},
                                 {1, 2},
                                 {2, 2},
                                 {2, 3},
                                 {3, 1},
                                 {3, 4},
                                 {4, 1},
                                 {4, 5},
                                 {4, 6},
                                 {5, 6},
                                 {6, 5},
                                 {6, 7}});
  const BlockGraph graph = program.graph();
  const Loops loops = find_loops(graph, Dominators(graph));
  ASSERT_EQ(loops.loops.size(), 2u);
  EXPECT_EQ(loops.loops[0].header, 2u);
  EXPECT_EQ(loops.loops[0].parent, 1u);
  EXPECT_EQ(loops.loops[1].latches, (std::vector<BlockId>{3, 4}));
  EXPECT_EQ(loops.depth(2), 2u);
  EXPECT_EQ(loops.depth(4), 1u);
  EXPECT_EQ(loops.depth(5), 0u);
  EXPECT_TRUE(loops.irreducible[5] && loops.irreducible[6]);
  EXPECT_FALSE(loops.irreducible[7]);
}

}  // namespace
}  // namespace respike

// Orders by conflicts, and the turns that they go by.

#include "optimizer/layout/colour.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "optimizer/layout/turns.h"
#include "tests/unit/layout_testing.h"

namespace respike {
namespace {

constexpr CacheShape kCache = {.line = 16, .sets = 4};

/// Turns of lines that share a set when rows stand in this order.
double conflicts(std::span<const uint32_t> order, std::span<const uint32_t> lines,
                 std::span<const Affinity> turns) {
  std::vector<uint32_t> first(lines.size() + 1);
  std::partial_sum(lines.begin(), lines.end(), first.begin() + 1);
  std::vector<uint32_t> set_of(first.back()), row_of(first.back());
  uint32_t set = 0;
  for (const uint32_t row : order)
    for (uint32_t line = first[row]; line < first[row + 1]; ++line, ++set) {
      set_of[line] = set % kCache.sets;
      row_of[line] = row;
    }
  double sum = 0;
  for (const Affinity& turn : turns)
    if (row_of[turn.from] != row_of[turn.to] && set_of[turn.from] == set_of[turn.to])
      sum += turn.weight;
  return sum;
}

TEST(Colour, RowsThatTakeTurnsStandInOtherSets) {
  // Rows 0 and 2 take turns; behind rows 0 and 1 row 2 would stand in the sets of row 0.
  const std::vector<uint32_t> lines = {2, 2, 2, 1};
  const std::vector<Affinity> turns = {{0, 4, 100}, {1, 5, 100}};
  const auto order = order_by_conflicts(lines, turns, kCache);
  EXPECT_EQ(conflicts(order, lines, turns), 0);
}

TEST(Colour, AgainstAllOrders) {
  Random random(1);
  double reached = 0, best = 0, mean = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<uint32_t> lines(6);
    for (uint32_t& each : lines) each = 1 + below(random, 3);
    const uint32_t all = std::accumulate(lines.begin(), lines.end(), 0u);
    std::vector<Affinity> turns;
    for (int i = 0; i < 12; ++i)
      turns.push_back({below(random, all), below(random, all), 1.0 + below(random, 100)});
    const auto order = order_by_conflicts(lines, turns, kCache);
    std::vector<uint32_t> any(lines.size());
    std::iota(any.begin(), any.end(), 0);
    ASSERT_TRUE(std::is_permutation(order.begin(), order.end(), any.begin(), any.end()));
    double least = 1e9, sum = 0, orders = 0;
    do {
      const double cost = conflicts(any, lines, turns);
      least = std::min(least, cost);
      sum += cost;
      ++orders;
    } while (std::next_permutation(any.begin(), any.end()));
    reached += conflicts(order, lines, turns);
    best += least;
    mean += sum / orders;
  }
  // It takes most of the way from any order to the best one.
  EXPECT_LT(reached - best, 0.5 * (mean - best)) << reached << ' ' << best << ' ' << mean;
}

/// A loop calls two procedures: their pieces take turns with it and with each other.
TEST(Turns, CalleesOfALoop) {
  LayoutProgram p;
  p.add_procedure();
  p.add_block(1, "bsr");
  p.add_block(1, "bsr");
  p.add_block(1, "bne");
  p.add_block(1, "ret");
  p.connect(0, 1, Edge::Kind::fall_through);
  p.connect(1, 2, Edge::Kind::fall_through);
  p.connect(2, 0, Edge::Kind::taken);
  p.connect(2, 3, Edge::Kind::fall_through);
  for (int callee = 0; callee < 2; ++callee) {
    p.add_procedure();
    p.add_block(2, "ret");
  }
  Procedure& loop = p.program.procedures[0];
  for (BlockId b = 0; b < 3; ++b) {
    loop.blocks[b].count = 1000;
    for (Edge& edge : loop.blocks[b].successors)
      edge.count = edge.target == 3 ? 1 : b == 2 ? 999 : 1000;
  }
  loop.blocks[3].count = 1;
  const std::vector<CodeCall> calls = {
      {.caller = 0, .block = 0, .callee = 1, .entry = 0, .returns = true},
      {.caller = 0, .block = 1, .callee = 2, .entry = 0, .returns = true}};
  for (const ProcedureId callee : {1, 2}) p.program.procedures[callee].blocks[0].count = 1000;
  const std::vector<uint64_t> sizes = {16, 12, 12};
  const auto turns = find_turns(
      p.program, calls, [](ProcedureId id, BlockId) { return std::pair(id, id + 1); }, sizes, 100);
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (const Affinity& turn : turns) {
    EXPECT_GT(turn.weight, 1000);
    pairs.emplace_back(std::min(turn.from, turn.to), std::max(turn.from, turn.to));
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  EXPECT_EQ(pairs, (std::vector<std::pair<uint32_t, uint32_t>>{{0, 1}, {0, 2}, {1, 2}}));
}

}  // namespace
}  // namespace respike

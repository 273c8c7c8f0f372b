// Tests the orders that colouring makes, and the turns that colouring reads.

#include "optimizer/layout/colour.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "optimizer/layout/cluster.h"
#include "optimizer/layout/turns.h"
#include "tests/unit/layout_testing.h"

namespace respike {
namespace {

constexpr CacheShape kCache = {.line = 16, .sets = 4};

Turns turns_of(uint32_t lines, std::span<const Affinity> pairs) {
  Turns turns(lines);
  for (const Affinity& pair : pairs)
    turns.between(pair.from, pair.to) += static_cast<uint32_t>(pair.weight);
  return turns;
}

/// The sum of turns of lines that share a set if rows stand in this order.
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
  // Rows 0 and 2 take turns; after rows 0 and 1, row 2 would share the sets of row 0.
  const std::vector<uint32_t> lines = {2, 2, 2, 1};
  const std::vector<Affinity> turns = {{0, 4, 100}, {1, 5, 100}};
  const auto order = order_by_conflicts(
      lines, turns_of(std::accumulate(lines.begin(), lines.end(), 0u), turns), kCache);
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
      turns.push_back({below(random, all), below(random, all), 20.0 * (1 + below(random, 100))});
    const auto order = order_by_conflicts(
        lines, turns_of(std::accumulate(lines.begin(), lines.end(), 0u), turns), kCache);
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
  // At least nine tenths of the way from an average order to the best order.
  EXPECT_LT(reached - best, 0.1 * (mean - best)) << reached << ' ' << best << ' ' << mean;
}

/// Many rows: some lines take far more turns than others, and must be placed first.
TEST(Colour, GoesMostOfTheWayFromAnyOrder) {
  Random random(4);
  double reached = 0, mean = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<uint32_t> lines(24);
    for (uint32_t& each : lines) each = 1 + below(random, kCache.sets);
    const uint32_t all = std::accumulate(lines.begin(), lines.end(), 0u);
    std::vector<Affinity> turns;
    for (int i = 0; i < 150; ++i) {
      const uint32_t from = below(random, all), to = below(random, all);
      turns.push_back({from, to, 20.0 * (1 + below(random, from < all / 8 ? 2000 : 20))});
    }
    auto order = order_by_conflicts(lines, turns_of(all, turns), kCache);
    reached += conflicts(order, lines, turns);
    for (int i = 0; i < 20; ++i) {
      std::shuffle(order.begin(), order.end(), random);
      mean += conflicts(order, lines, turns) / 20;
    }
  }
  RecordProperty("share", std::to_string(reached / mean));
  EXPECT_LT(reached, 0.038 * mean) << reached / mean;
}

/// No exchange of two rows of one length, or of two neighbours, makes the order better.
TEST(Colour, NoExchangeOfTwoRowsIsLeft) {
  Random random(2);
  for (int round = 0; round < 100; ++round) {
    std::vector<uint32_t> lines(2 + below(random, 12));
    for (uint32_t& each : lines) each = 1 + below(random, kCache.sets);
    const uint32_t all = std::accumulate(lines.begin(), lines.end(), 0u);
    std::vector<Affinity> turns;
    for (int i = 0; i < 40; ++i)
      turns.push_back({below(random, all), below(random, all), 20.0 * (1 + below(random, 100))});
    const auto order = order_by_conflicts(lines, turns_of(all, turns), kCache);
    const double reached = conflicts(order, lines, turns);
    for (size_t i = 0; i < order.size(); ++i)
      for (size_t j = i + 1; j < order.size(); ++j) {
        if (j != i + 1 && lines[order[i]] != lines[order[j]]) continue;
        auto other = order;
        std::swap(other[i], other[j]);
        EXPECT_GE(conflicts(other, lines, turns), reached - 21) << round;
      }
  }
}

// ---- turns

/// Turns by their definition, for the lines of a trace's blocks.
std::map<std::pair<uint32_t, uint32_t>, uint32_t> turns_by_definition(const Trace& trace,
                                                                      uint32_t window) {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> turns;
  for (size_t i = 0; i < trace.size(); ++i) {
    if (trace[i] == kNone) continue;
    std::set<uint32_t> between;
    for (size_t j = i; j-- > 0 && trace[j] != kNone;) {
      if (trace[j] == trace[i]) {
        if (between.size() < window)
          for (const uint32_t other : between) ++turns[std::minmax(trace[i], other)];
        break;
      }
      between.insert(trace[j]);
    }
  }
  return turns;
}

TEST(Turns, AreWhatRanBetweenTwoRuns) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    const uint32_t lines = 1 + below(random, 10), window = 1 + below(random, 6);
    Trace trace;
    for (uint32_t i = below(random, 200); i > 0; --i)
      trace.push_back(below(random, 15) == 0 ? kNone : below(random, lines));
    LinesOfBlocks lines_of;
    for (uint32_t line = 0; line < lines; ++line) lines_of.emplace_back(line, line + 1);
    const Turns turns = find_turns(trace, lines_of, lines, std::vector<uint32_t>(window, 1));
    const auto expected = turns_by_definition(trace, window);
    for (uint32_t a = 0; a < lines; ++a)
      for (uint32_t b = a + 1; b < lines; ++b) {
        const auto found = expected.find({a, b});
        EXPECT_EQ(turns.between(a, b), found == expected.end() ? 0 : found->second)
            << round << ": " << a << ' ' << b << ", window " << window;
      }
  }
}

TEST(Turns, ABlockOfManyLinesTakesTurnsWithTheOthers) {
  // Line 0 takes turns with lines 1 to 3, which one block covers.
  const Trace trace = {kNone, 0, 1, 0, 1, 0};
  const Turns turns = find_turns(trace, {{0, 1}, {1, 4}}, 4, std::vector<uint32_t>(8, 1));
  for (uint32_t line = 1; line < 4; ++line) EXPECT_EQ(turns.between(0, line), 3u);
  EXPECT_EQ(turns.between(1, 3), 2u);
}

TEST(Turns, CountByTheLinesBetween) {
  const Trace trace = {kNone, 0, 1, 0, 1, 2, 0};
  const std::vector<uint32_t> weights = {0, 3, 7};
  const Turns turns = find_turns(trace, {{0, 1}, {1, 2}, {2, 3}}, 3, weights);
  EXPECT_EQ(turns.between(0, 1), 3u + 3u + 7u);  // 0 1 0, 1 0 1, 0 1 2 0
  EXPECT_EQ(turns.between(0, 2), 7u);
  EXPECT_EQ(turns.between(1, 2), 0u);
}

/// A loop that nearly fills the window has some hundred thousand turns in each iteration.
TEST(Turns, OfALargeBlockAreCountedForAWhileOnly) {
  const Trace trace(1'000'000, 0);
  const Turns turns = find_turns(trace, {{0, 400}}, 400, std::vector<uint32_t>(512, 1));
  EXPECT_GT(turns.between(0, 399), 1000u);
  EXPECT_LT(turns.between(0, 399), 10'000u);
}

}  // namespace
}  // namespace respike

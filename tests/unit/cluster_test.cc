// Compares the placement of pieces with the best of all orders.

#include "optimizer/layout/cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "optimizer/layout/code_layout.h"
#include "tests/unit/layout_testing.h"

namespace respike {
namespace {

struct Pieces {
  std::vector<uint64_t> sizes;
  std::vector<double> heat;
  std::vector<Affinity> affinities;

  Pieces(Random& random, uint32_t count, uint32_t links) {
    for (uint32_t i = 0; i < count; ++i) {
      sizes.push_back(4 * (1 + below(random, 500)));
      heat.push_back(below(random, 100000));
    }
    for (; links > 0; --links)
      affinities.push_back({below(random, count), below(random, count),
                            std::exp(static_cast<double>(below(random, 12)))});
  }

  std::vector<uint32_t> placed() const { return place_by_affinity(sizes, heat, affinities); }

  /// The sum of weight times distance between the middles of the pieces.
  double cost(const std::vector<uint32_t>& order) const {
    std::vector<double> middle(sizes.size());
    double at = 0;
    for (const uint32_t piece : order) {
      const auto size = static_cast<double>(sizes[piece]);
      middle[piece] = at + size / 2;
      at += size;
    }
    double sum = 0;
    for (const Affinity& a : affinities) sum += a.weight * std::abs(middle[a.from] - middle[a.to]);
    return sum;
  }

  double least() const {
    std::vector<uint32_t> order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    double best = cost(order);
    while (std::next_permutation(order.begin(), order.end())) best = std::min(best, cost(order));
    return best;
  }
};

bool is_permutation_of(std::vector<uint32_t> order, size_t count) {
  std::sort(order.begin(), order.end());
  std::vector<uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  return order == all;
}

TEST(Placement, HoldsEveryPieceOnce) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    const uint32_t count = 1 + below(random, 60);
    Pieces pieces(random, count, below(random, 200));
    if (round % 10 == 0) std::fill(pieces.sizes.begin(), pieces.sizes.end(), 0);
    if (round % 7 == 0) std::fill(pieces.heat.begin(), pieces.heat.end(), 0);
    EXPECT_TRUE(is_permutation_of(pieces.placed(), count));
    EXPECT_TRUE(is_permutation_of(
        place_cache_directed(pieces.sizes, pieces.heat, pieces.affinities), count));
  }
  EXPECT_TRUE(place_by_affinity({}, {}, {}).empty());
}

/// A jump with more targets than the sort looks at: the strongest of them count.
TEST(Placement, JumpsWithManyTargets) {
  constexpr uint32_t kTargets = 9000;
  const std::vector<uint64_t> sizes(kTargets + 1, 16);
  std::vector<double> heat = {0};
  std::vector<Affinity> affinities;
  for (uint32_t target = 1; target <= kTargets; ++target) {
    const double weight = 10.0 * target;
    affinities.push_back({0, target, weight, 16});
    heat.push_back(16 * weight);
    heat[0] += 16 * weight;
  }
  const std::vector<uint32_t> order = place_cache_directed(sizes, heat, affinities);
  ASSERT_TRUE(is_permutation_of(order, kTargets + 1));
  const auto place = [&](uint32_t piece) {
    return std::find(order.begin(), order.end(), piece) - order.begin();
  };
  EXPECT_LT(std::abs(place(0) - place(kTargets)), 130);  // a chain of the sort has 128 pieces
}

TEST(Placement, TakesAnyCounts) {
  const std::vector<uint64_t> sizes = {4, 1 << 20, 64};
  const std::vector<double> heat = {0x1p64 * 4, 0x1p64 * (1 << 20), 0};
  const std::vector<Affinity> affinities = {{0, 1, 0x1p64}, {1, 2, 0x1p63}, {2, 0, 0}};
  EXPECT_TRUE(is_permutation_of(place_by_affinity(sizes, heat, affinities), 3));
  EXPECT_TRUE(is_permutation_of(place_cache_directed(sizes, heat, affinities), 3));
}

TEST(Placement, PutsTheStrongestPairSideBySide) {
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    const uint32_t count = 2 + below(random, 30);
    Pieces pieces(random, count, 60);
    const uint32_t a = below(random, count), b = (a + 1 + below(random, count - 1)) % count;
    // Half of the weight in each direction: both directions count.
    pieces.affinities.push_back({a, b, 1e9});
    pieces.affinities.push_back({b, a, 1e9});
    const auto order = pieces.placed();
    const auto place = [&](uint32_t piece) {
      return std::find(order.begin(), order.end(), piece) - order.begin();
    };
    EXPECT_EQ(std::abs(place(a) - place(b)), 1);
  }
}

TEST(Placement, PutsTheHottestGroupFirst) {
  const std::vector<uint64_t> sizes = {100, 100, 100, 100, 100};
  const std::vector<double> heat = {10, 500, 10, 400, 300};
  const std::vector<Affinity> affinities = {{0, 1, 5}, {3, 4, 5}};
  const auto order = place_by_affinity(sizes, heat, affinities);
  EXPECT_EQ(std::min(order[0], order[1]), 3u);  // 700 of 200 bytes
  EXPECT_EQ(std::max(order[0], order[1]), 4u);
  EXPECT_EQ(order[4], 2u);
}

TEST(Placement, CostsLittleMoreThanTheBestOrder) {
  Random random(3);
  double highest = 1, sum = 0;
  int optimal = 0, rounds = 0;
  for (int round = 0; round < 400; ++round) {
    const uint32_t count = 3 + below(random, 4);
    const Pieces pieces(random, count, 1 + below(random, 10));
    const double best = pieces.least();
    if (best == 0) continue;
    const double ratio = pieces.cost(pieces.placed()) / best;
    ++rounds;
    optimal += ratio < 1.000001;
    highest = std::max(highest, ratio);
    sum += ratio;
  }
  RecordProperty("optimal", optimal);
  RecordProperty("mean", std::to_string(sum / rounds));
  RecordProperty("highest", std::to_string(highest));
  EXPECT_GT(rounds, 300);
  EXPECT_GT(optimal, rounds * 0.85);
  EXPECT_LT(sum / rounds, 1.02);
  EXPECT_LT(highest, 2);
}

TEST(Placement, NoRowIsLongerThanAllowed) {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    const Pieces pieces(random, 2 + below(random, 20), 40);
    const uint64_t longest = 4 * (1 + below(random, 1500));
    const auto rows = rows_by_affinity(pieces.sizes, pieces.affinities, longest);
    std::vector<uint32_t> all;
    for (const auto& row : rows) {
      uint64_t length = 0;
      for (const uint32_t piece : row) length += pieces.sizes[piece];
      EXPECT_TRUE(row.size() == 1 || length <= longest) << round;
      all.insert(all.end(), row.begin(), row.end());
    }
    EXPECT_TRUE(is_permutation_of(all, pieces.sizes.size()));
  }
}

/// A chain of calls becomes a row in its own order, whatever the order of its weights.
TEST(Placement, LaysAChainOutAsARow) {
  Random random(4);
  for (int round = 0; round < 200; ++round) {
    const uint32_t count = 2 + below(random, 5);
    Pieces pieces(random, count, 0);
    std::fill(pieces.sizes.begin(), pieces.sizes.end(), 64);
    for (uint32_t i = 0; i + 1 < count; ++i)
      pieces.affinities.push_back({i, i + 1, 1.0 + below(random, 100)});
    EXPECT_NEAR(pieces.cost(pieces.placed()), pieces.least(), 1e-6);
  }
}

}  // namespace
}  // namespace respike

// Tests orders for a cache and their costs, against the simplest possible model of a cache.

#include "optimizer/layout/cache_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "optimizer/layout/code_layout.h"
#include "tests/unit/layout_testing.h"

namespace respike {
namespace {

constexpr CacheShape kCache = {.line = 16, .sets = 8, .prefetched = 2};

using Rows = std::vector<std::vector<uint32_t>>;

/// Pieces of one block each; the block has the piece's number.
std::vector<CodeUnit> pieces_of(const std::vector<uint64_t>& sizes) {
  std::vector<CodeUnit> pieces;
  for (uint32_t p = 0; p < sizes.size(); ++p)
    pieces.push_back({.procedure = p, .size = sizes[p], .heat = 1, .blocks = {{p, sizes[p]}}});
  return pieces;
}

/// The cost by definition, byte by byte: address, contents of the set, lines that a miss
/// prefetches.
double cost_by_definition(const std::vector<CodeUnit>& pieces, const Rows& rows,
                          const Trace& trace) {
  std::map<uint32_t, std::pair<uint64_t, uint64_t>> bytes;  // by block, half-open
  uint64_t at = 0;
  for (const auto& row : rows) {
    while (at % kCache.line != 0) ++at;
    for (const uint32_t piece : row)
      for (const auto& [block, size] : pieces[piece].blocks) {
        bytes[block] = {at, at + size};
        at += size;
      }
  }
  std::map<uint64_t, uint64_t> held;  // line by set
  std::vector<uint64_t> ahead;
  double cycles = 0, blocks = 0;
  for (const uint32_t block : trace) {
    if (block == kNone) continue;
    ++blocks;
    for (uint64_t byte = bytes[block].first; byte < bytes[block].second; ++byte) {
      const uint64_t line = byte / kCache.line, set = line % kCache.sets;
      if (held.contains(set) && held[set] == line) continue;
      held[set] = line;
      cycles += std::find(ahead.begin(), ahead.end(), line) != ahead.end() ? 2 : 8;
      ahead.clear();
      for (uint32_t i = 1; i <= kCache.prefetched; ++i) ahead.push_back(line + i);
    }
  }
  return blocks == 0 ? 0 : cycles / blocks;
}

TEST(FetchCost, AgainstItsDefinition) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<uint64_t> sizes(1 + below(random, 12));
    for (uint64_t& size : sizes) size = 4 * below(random, 20);
    const auto pieces = pieces_of(sizes);
    Rows rows;
    for (uint32_t p = 0; p < sizes.size(); ++p) {
      if (rows.empty() || below(random, 2) == 0) rows.emplace_back();
      rows.back().push_back(p);
    }
    std::shuffle(rows.begin(), rows.end(), random);
    Trace trace;
    for (uint32_t i = below(random, 300); i > 0; --i)
      trace.push_back(below(random, 20) == 0 ? kNone : below(random, sizes.size()));
    EXPECT_DOUBLE_EQ(fetch_cost(pieces, rows, trace, kCache),
                     cost_by_definition(pieces, rows, trace))
        << round;
  }
}

std::vector<uint32_t> sorted_pieces(const Rows& rows) {
  std::vector<uint32_t> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  std::sort(all.begin(), all.end());
  return all;
}

TEST(CacheOrder, HoldsEveryPieceOnceAndCostsNoMoreThanAffinityAlone) {
  Random random(2);
  double gained = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<uint64_t> sizes(1 + below(random, 30));
    for (uint64_t& size : sizes) size = 4 * (1 + below(random, below(random, 4) == 0 ? 100 : 12));
    auto pieces = pieces_of(sizes);
    for (CodeUnit& piece : pieces) piece.procedure = below(random, pieces.size());
    Trace trace = {kNone};
    for (int i = 0; i < 400; ++i)
      trace.push_back(below(random, 2) == 0   ? below(random, pieces.size())
                      : trace[i / 2] == kNone ? 0
                                              : trace[i / 2]);
    std::vector<Affinity> affinities;
    for (size_t i = 2; i < trace.size(); ++i) affinities.push_back({trace[i - 1], trace[i], 1});
    const Rows rows = order_for_cache(pieces, affinities, trace, kCache);
    std::vector<uint32_t> any(pieces.size());
    std::iota(any.begin(), any.end(), 0);
    ASSERT_EQ(sorted_pieces(rows), any);
    std::vector<double> heat(sizes.size(), 1);
    const Rows alone = {place_by_affinity(sizes, heat, affinities)};
    gained += fetch_cost(pieces, alone, trace, kCache) - fetch_cost(pieces, rows, trace, kCache);
  }
  EXPECT_GT(gained, 0);
}

/// Where pages count, they cost as lines do: a program with phases whose pieces are mixed in the
/// input.
TEST(CacheOrder, RegardsPages) {
  constexpr CacheShape kPages = {.line = 128, .sets = 1, .ways = 2, .miss = 20};
  constexpr double kLeastGain = 0.02;  // of another order than whole procedures
  Random random(3);
  const auto cost = [&](const auto& pieces, const Rows& rows, const Trace& trace) {
    // Rows start at lines, so each is put on its page with padding of its own.
    double cycles = fetch_cost(pieces, rows, trace, kCache), blocks = 0, misses = 0;
    std::map<uint32_t, std::pair<uint64_t, uint64_t>> pages;  // by block, both included
    uint64_t at = 0;
    for (const auto& row : rows) {
      at = (at + kCache.line - 1) / kCache.line * kCache.line;
      for (const uint32_t piece : row)
        for (const auto& [block, size] : pieces[piece].blocks) {
          pages[block] = {at / kPages.line, (at + size - 1) / kPages.line};
          at += size;
        }
    }
    std::vector<uint64_t> held;  // the latest first
    for (const uint32_t block : trace) {
      if (block == kNone) continue;
      ++blocks;
      for (uint64_t page = pages[block].first; page <= pages[block].second; ++page) {
        const auto found = std::find(held.begin(), held.end(), page);
        if (found == held.end()) {
          ++misses;
          if (held.size() == kPages.ways) held.pop_back();
        } else {
          held.erase(found);
        }
        held.insert(held.begin(), page);
      }
    }
    return cycles + kPages.miss * misses / blocks;
  };
  double gained = 0;
  for (int round = 0; round < 100; ++round) {
    const uint32_t phases = 2 + below(random, 8);
    auto pieces = pieces_of(std::vector<uint64_t>(8 * phases, 16 + 4 * below(random, 12)));
    Trace trace = {kNone};
    std::vector<Affinity> affinities;
    for (uint32_t phase = 0; phase < phases; ++phase)
      for (int i = 0; i < 200; ++i) trace.push_back(phase + phases * below(random, 8));
    for (size_t i = 2; i < trace.size(); ++i) affinities.push_back({trace[i - 1], trace[i], 1});
    const Rows with = order_for_cache(pieces, affinities, trace, kCache, kPages);
    const Rows without = order_for_cache(pieces, affinities, trace, kCache);
    ASSERT_EQ(sorted_pieces(with), sorted_pieces(without));
    const double gain = cost(pieces, without, trace) - cost(pieces, with, trace);
    EXPECT_GE(gain, -kLeastGain) << round;
    gained += gain;
  }
  EXPECT_GT(gained, 1);
}

/// A profile of zeros makes nothing hot.
TEST(CacheOrder, OfNothingIsNothing) {
  constexpr CacheShape kPages = {.line = 128, .sets = 1, .ways = 2, .miss = 20};
  EXPECT_TRUE(order_for_cache({}, {}, {kNone}, kCache).empty());
  EXPECT_TRUE(order_for_cache({}, {}, {kNone}, kCache, kPages).empty());
  EXPECT_TRUE(place_cache_directed({}, {}, {}).empty());
}

/// Three procedures of half a cache each; the first and the last take turns.
TEST(CacheOrder, KeepsWhatTakesTurnsApart) {
  const auto pieces = pieces_of({64, 64, 64});
  Trace trace = {kNone};
  for (int i = 0; i < 1000; ++i) trace.push_back(i % 2 == 0 ? 0 : 2);
  const Rows rows = order_for_cache(pieces, {}, trace, kCache);
  EXPECT_LT(fetch_cost(pieces, rows, trace, kCache), 0.1);
  EXPECT_GT(fetch_cost(pieces, Rows{{0}, {1}, {2}}, trace, kCache), 8);
}

/// All code fits into the cache, so no order gains anything: procedures stay whole, by affinity.
TEST(CacheOrder, OfWhatFitsIntoTheCacheGoesByAffinityAlone) {
  auto pieces = pieces_of({8, 8, 8, 8});
  pieces[2].procedure = 0;
  Trace trace = {kNone};
  for (int i = 0; i < 1000; ++i) trace.push_back(static_cast<uint32_t>(i * i) % 4);
  const Rows rows = order_for_cache(pieces, {{0, 3, 5}, {3, 2, 4}, {1, 2, 1}}, trace, kCache);
  ASSERT_EQ(rows.size(), 1u);
  const std::vector<uint32_t> expected = {1, 0, 2, 3}, turned = {3, 0, 2, 1};
  EXPECT_TRUE(rows[0] == expected || rows[0] == turned) << ::testing::PrintToString(rows[0]);
}

/// Code larger than any cache costs neither memory nor quadratic time.
TEST(CacheOrder, HugePiecesAreLeftOutOfTheColours) {
  auto pieces = pieces_of({64 << 20, 40, 40});
  const Trace trace(100'000, 0);
  const Rows rows = order_for_cache(pieces, {{0, 1, 1}}, trace, kCache);
  EXPECT_EQ(sorted_pieces(rows), (std::vector<uint32_t>{0, 1, 2}));
}

/// The hottest piece is longer than the cache, two other pieces take turns. Of the three orders
/// only one keeps these two apart: the hottest piece comes last.
TEST(CacheOrder, WhatIsLongerThanTheCacheComesLast) {
  auto pieces = pieces_of({160, 64, 64, 64});
  pieces[0].heat = 1e6;
  Trace trace = {kNone};
  for (int i = 0; i < 1000; ++i) trace.push_back(i % 2 == 0 ? 1 : 3);
  const Rows rows = order_for_cache(pieces, {}, trace, kCache);
  EXPECT_LT(fetch_cost(pieces, rows, trace, kCache), 0.1);
  EXPECT_EQ(rows.back(), std::vector<uint32_t>{0});
}

/// There is more code than is coloured: the remaining pieces keep the order of their heat.
TEST(CacheOrder, OnlySoMuchIsColoured) {
  constexpr uint32_t kPieces = 8000, kColoured = 6144;  // one line each
  auto pieces = pieces_of(std::vector<uint64_t>(kPieces, 16));
  for (uint32_t p = 0; p < kPieces; ++p) pieces[p].heat = kPieces - p;
  Trace trace = {kNone};
  for (uint32_t i = 0; i < 10'000; ++i) trace.push_back(i % 3 * 8 + i / 3 % 2 * 4000);
  for (uint32_t i = 0; i < 10'000; ++i) trace.push_back(i % 2 == 0 ? 7200 : 7208);
  std::vector<uint32_t> order;
  for (const auto& row : order_for_cache(pieces, {}, trace, kCache))
    order.insert(order.end(), row.begin(), row.end());
  ASSERT_EQ(order.size(), kPieces);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.begin() + kColoured));
  for (uint32_t i = kColoured; i < kPieces; ++i) ASSERT_EQ(order[i], i);
}

}  // namespace
}  // namespace respike

// Times that differ by more than they vary, and times that do not.

#include "simulator/timing.h"

#include <gtest/gtest.h>

namespace respike::simulator {
namespace {

TEST(Timing, ChanceOfCoins) {
  EXPECT_DOUBLE_EQ(chance_of(4, 8), 1);
  EXPECT_NEAR(chance_of(8, 8), 2.0 / 256, 1e-12);
  EXPECT_NEAR(chance_of(0, 8), 2.0 / 256, 1e-12);
  EXPECT_NEAR(chance_of(7, 8), 2 * 9.0 / 256, 1e-12);
  EXPECT_NEAR(chance_of(21, 25), 2 * (12650 + 2300 + 300 + 25 + 1) / 33554432.0, 1e-9);
}

TimeComparison comparison(std::vector<uint64_t> before, std::vector<uint64_t> after) {
  TimeComparison c;
  for (size_t i = 0; i < before.size(); ++i) c.faster += after[i] < before[i];
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  c.before.microseconds = before;
  c.after.microseconds = after;
  return c;
}

TEST(Timing, OnlyWhatIsBeyondTheNoiseCounts) {
  const std::vector<uint64_t> slow = {100, 104, 99, 180, 103, 250, 101, 98},
                              fast = {95, 99, 94, 171, 97, 240, 96, 93};
  EXPECT_TRUE(comparison(slow, fast).beyond_noise());
  EXPECT_TRUE(comparison(fast, slow).beyond_noise());
  EXPECT_FALSE(comparison(slow, slow).beyond_noise());
  std::vector<uint64_t> mixed = fast;
  mixed[2] = 120;
  EXPECT_FALSE(comparison(slow, mixed).beyond_noise()) << "7 of 8 pairs are chance";
  const Times times = comparison(slow, fast).before;
  EXPECT_EQ(times.least(), 98u);
  EXPECT_EQ(times.lower(), 100u);
  EXPECT_EQ(times.median(), 103u);
  EXPECT_EQ(times.upper(), 104u);
}

}  // namespace
}  // namespace respike::simulator

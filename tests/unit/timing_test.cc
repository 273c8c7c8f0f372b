// Times that differ by more than their variation, and times that do not.

#include "measure/timing.h"

#include <gtest/gtest.h>

namespace respike::measure {
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
  c.cost_before = before;
  c.cost_after = after;
  compare_costs(c);
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  c.before.microseconds = before;
  c.after.microseconds = after;
  return c;
}

TEST(Timing, SpeedupIsThatOfPairs) {
  // The machine gets slower all the time; each pair has the same quotient but for one.
  const TimeComparison c = comparison({110, 220, 330, 440, 550}, {100, 200, 300, 400, 100});
  EXPECT_EQ(c.faster, 5u);
  EXPECT_DOUBLE_EQ(c.speedup(), 1.1);
  EXPECT_DOUBLE_EQ(comparison({}, {}).speedup(), 1);
  EXPECT_FALSE(comparison({}, {}).beyond_noise());
}

TEST(Timing, IntervalOfTheMedian) {
  // Of 15 coins 3 or fewer fall on one side in 1.8% of all cases, 4 or fewer in 5.9%.
  std::vector<double> numbers;
  for (int i = 0; i < 15; ++i) numbers.push_back(i);
  EXPECT_EQ(interval_of_median(numbers).low, 3);
  EXPECT_EQ(interval_of_median(numbers).high, 11);
  numbers.resize(5);
  EXPECT_EQ(interval_of_median(numbers).low, 0);
  EXPECT_EQ(interval_of_median(numbers).high, 4);
  EXPECT_EQ(interval_of_median({7}).low, 7);
  EXPECT_EQ(interval_of_median({}).high, 0);
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
}  // namespace respike::measure

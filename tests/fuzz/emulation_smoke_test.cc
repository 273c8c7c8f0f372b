// Runs a fixed number of random programs under the IA-64 emulator, in every build.
// RESPIKE_EMULATION_RUNS is the number of programs.

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "tests/fuzz/emulation.h"

namespace respike::fuzz {
namespace {

uint64_t runs() {
  const char* text = std::getenv("RESPIKE_EMULATION_RUNS");
  return text == nullptr ? 2000 : std::strtoull(text, nullptr, 10);
}

/// Runs programs, and demands that enough of the runs mean something.
class Series {
 public:
  void run(std::span<const uint8_t> code) {
    const EmulationRun result = run_random_code(code);
    ASSERT_EQ(result.difference, "") << "run " << runs_;
    ++runs_;
    compared_ += result.compared;
    changed_ += result.changed;
  }

  /// Demands that at least `compared` percent of the runs were compared, and that at least
  /// `changed` percent of the compared runs changed registers or memory.
  void expect_shares(unsigned compared, unsigned changed) const {
    EXPECT_GE(compared_ * 100, runs_ * compared) << compared_ << " of " << runs_ << " compared";
    EXPECT_GE(changed_ * 100, compared_ * changed) << changed_ << " of " << compared_ << " changed";
  }

 private:
  uint64_t runs_ = 0, compared_ = 0, changed_ = 0;
};

TEST(EmulationSmoke, Instructions) {
  Series series;
  for (uint64_t seed = 0; seed < runs(); ++seed)
    ASSERT_NO_FATAL_FAILURE(series.run(make_random_code(seed)));
  series.expect_shares(90, 75);
}

TEST(EmulationSmoke, Bytes) {
  std::mt19937_64 random(7);
  Series series;
  for (uint64_t i = 0; i < runs(); ++i) {
    std::vector<uint8_t> code(16 * (1 + random() % 20));
    for (uint8_t& byte : code) byte = static_cast<uint8_t>(random());
    ASSERT_NO_FATAL_FAILURE(series.run(code));
  }
  series.expect_shares(95, 8);
}

TEST(EmulationSmoke, DamagedInstructions) {
  std::mt19937_64 random(8);
  Series series;
  for (uint64_t seed = 0; seed < runs(); ++seed) {
    std::vector<uint8_t> code = make_random_code(seed);
    for (int i = 0; i < 8; ++i)
      code[random() % code.size()] ^= static_cast<uint8_t>(1u << random() % 8);
    ASSERT_NO_FATAL_FAILURE(series.run(code));
  }
  series.expect_shares(90, 70);
}

}  // namespace
}  // namespace respike::fuzz

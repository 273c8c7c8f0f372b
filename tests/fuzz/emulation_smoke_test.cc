// A fixed number of random programs under the IA-64 emulator, in every build.
// RESPIKE_EMULATION_RUNS: how many.

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

TEST(EmulationSmoke, Instructions) {
  for (uint64_t seed = 0; seed < runs(); ++seed) {
    ASSERT_EQ(run_random_code(make_random_code(seed)), "") << "seed " << seed;
  }
}

TEST(EmulationSmoke, Bytes) {
  std::mt19937_64 random(7);
  for (uint64_t i = 0; i < runs(); ++i) {
    std::vector<uint8_t> code(16 * (1 + random() % 20));
    for (uint8_t& byte : code) byte = static_cast<uint8_t>(random());
    ASSERT_EQ(run_random_code(code), "") << "run " << i;
  }
}

TEST(EmulationSmoke, DamagedInstructions) {
  std::mt19937_64 random(8);
  for (uint64_t seed = 0; seed < runs(); ++seed) {
    std::vector<uint8_t> code = make_random_code(seed);
    for (int i = 0; i < 8; ++i)
      code[random() % code.size()] ^= static_cast<uint8_t>(1u << random() % 8);
    ASSERT_EQ(run_random_code(code), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace respike::fuzz

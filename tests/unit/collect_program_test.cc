// Tests solve_program on whole programs: procedures that it calls exact have the counts of a
// machine; a procedure is not exact only if nothing shows which of its calls did not return.

#include <gtest/gtest.h>

#include "instrument/solve_program.h"
#include "tests/unit/flow_testing.h"

namespace respike {
namespace {

struct Score {
  int procedures = 0;  // with calls that did not return
  int exact = 0;
};

/// Runs random programs; fails if a procedure that is called exact is not exact.
Score check(const ToyOptions& options, uint64_t seed, int programs, int runs) {
  Score score;
  for (int i = 0; i < programs; ++i) {
    Random random(seed + static_cast<uint64_t>(i));
    const auto program = random_toy(random, options);
    const CounterMap map = counter_map_of(program, random);
    ToyMachine machine(program, map, options, random);
    for (int run = 0; run < runs; ++run) machine.run();
    const auto counters = machine.counters();
    const auto solved = solve_program(map, counters);
    EXPECT_EQ(solved.size(), program.size());
    for (size_t p = 0; p < program.size(); ++p) {
      const FlowGraph& graph = map.procedures[p].graph;
      for (const uint64_t count : solved[p].edges) EXPECT_LE(count, uint64_t{INT64_MAX});
      const bool right = solved[p].edges == machine.counts[p];
      if (!machine.killed && solved[p].exact) {
        EXPECT_TRUE(right) << "seed " << seed + static_cast<uint64_t>(i) << ", procedure " << p;
      }
      if (!solve_flow(graph, counters).balanced()) {
        ++score.procedures;
        score.exact += solved[p].exact && right;
      }
    }
  }
  return score;
}

TEST(CollectProgram, ProgramsThatEnd) {
  ToyOptions options;
  options.jumps = 10;
  check(options, 1, 300, 3);
}

TEST(CollectProgram, Exits) {
  ToyOptions options;
  options.unknown_exits = 20;
  const Score score = check(options, 10'000, 1000, 1);
  EXPECT_GT(score.procedures, 300);
  EXPECT_GT(score.exact, score.procedures * 2 / 5);
}

TEST(CollectProgram, FatalProcedures) {
  ToyOptions options;
  options.fatals = 12;
  options.unknown_calls = 0;
  const Score score = check(options, 20'000, 1000, 1);
  EXPECT_GT(score.procedures, 300);
  EXPECT_GT(score.exact, score.procedures * 2 / 5);
}

TEST(CollectProgram, FatalProceduresInManyRuns) {
  ToyOptions options;
  options.fatals = 12;
  options.jumps = 12;
  options.unknown_calls = 5;
  const Score score = check(options, 30'000, 1000, 5);
  EXPECT_GT(score.procedures, 300);
  EXPECT_GT(score.exact, score.procedures * 2 / 5);
}

TEST(CollectProgram, Exceptions) {
  ToyOptions options;
  options.fatals = 12;
  options.pads = 4;
  options.unknown_throws = 12;
  const Score score = check(options, 40'000, 1000, 2);
  EXPECT_GT(score.procedures, 300);
  EXPECT_GT(score.exact, score.procedures * 2 / 5);
}

TEST(CollectProgram, Killed) {
  ToyOptions options;
  options.kill_after = 500;
  const Score score = check(options, 50'000, 1000, 1);
  EXPECT_GT(score.exact, score.procedures / 4);
}

}  // namespace
}  // namespace respike

// How many instructions orders execute, counted by hand and by a walk along the code as written.

#include "optimizer/layout/layout_cost.h"

#include <gtest/gtest.h>

#include "optimizer/layout/orders.h"
#include "optimizer/layout/profiled.h"
#include "tests/unit/layout_testing.h"

namespace respike {
namespace {

/// A conditional branch to block 2; block 1 follows the branch; both blocks return.
LayoutProgram fork(uint64_t falls, uint64_t taken) {
  LayoutProgram p;
  p.add_procedure();
  p.add_block(4, "beq");
  p.connect(0, 1, Edge::Kind::fall_through);
  p.connect(0, 2, Edge::Kind::taken);
  p.add_block(0, "ret");
  p.add_block(0, "ret");
  set_counts(p.program[0], 0, falls, taken);
  return p;
}

ExecutedCode executed(const Program& program, const std::vector<std::vector<BlockId>>& pieces) {
  Packing packing(program);
  for (const auto& blocks : pieces) packing.pack(0, blocks);
  return executed_in(program, 0, packing);
}

TEST(LayoutCost, OfAConditionalBranch) {
  const LayoutProgram p = fork(90, 10);
  const auto expect = [&](const ExecutedCode& code, double groups, double taken) {
    EXPECT_EQ(code.instructions, groups);
    EXPECT_EQ(code.taken, taken);
  };
  expect(executed_in_input(p.program)[0], 500, 10);
  expect(executed(p.program, {{0, 1}, {2}}), 500, 10);
  expect(executed(p.program, {{0, 2}, {1}}), 500, 90);
  expect(executed(p.program, {{0}, {1}, {2}}), 510,
         100);  // the branch is appended for the rare side
}

TEST(Packing, TheFrequentSideGetsTheConditionalBranch) {
  for (const bool falls : {true, false}) {
    const LayoutProgram p = fork(falls ? 90 : 10, falls ? 10 : 90);
    Packing packing(p.program);
    packing.pack(0, std::vector<BlockId>{0});
    const BlockEnd end = packing.end(0, 0);
    EXPECT_EQ(end, falls ? BlockEnd::inverted_and_appended : BlockEnd::branch_appended);
    const auto target = [&](Edge::Kind side) { return p.program[0].blocks[0].edge(side)->target; };
    EXPECT_EQ(target(side_of_own_branch(end)), falls ? 1u : 2u);
    EXPECT_EQ(target(side_of_appended_branch(end)), falls ? 2u : 1u);
  }
}

TEST(LayoutCost, OfBranchesThatAreDropped) {
  LayoutProgram p;
  p.add_procedure();
  p.add_block(1, "br");
  p.connect(0, 1, Edge::Kind::taken);
  p.add_block(1, "ret");
  set_counts(p.program[0], 0, 0, 7);
  EXPECT_EQ(executed_in_input(p.program)[0].instructions, 14);
  EXPECT_EQ(executed_in_input(p.program)[0].taken, 7);
  EXPECT_EQ(executed(p.program, {{0, 1}}).instructions, 7);
  EXPECT_EQ(executed(p.program, {{0, 1}}).taken, 0);
}

TEST(LayoutCost, TheInputsOrderCostsWhatTheInputDoes) {
  Random random(1);
  for (int round = 0; round < 50; ++round) {
    LayoutProgram p;
    p.add_random_procedure(random, 20);
    walk(random, p.program[0], 50);
    std::vector<BlockId> order;
    for (BlockId b = 0; b < 20; ++b) order.push_back(b);
    const ExecutedCode input = executed_in_input(p.program)[0];
    const ExecutedCode same = executed(p.program, {order});
    EXPECT_LE(same.instructions, input.instructions);  // branches to the next block are dropped
    EXPECT_LE(same.taken, input.taken);
  }
}

/// With any options, no procedure executes more than before by its own counts.
TEST(ProfiledLayout, NoProcedureExecutesMore) {
  Random random(2);
  int kept = 0;
  for (int round = 0; round < 60; ++round) {
    LayoutProgram p;
    for (int id = 0; id < 4; ++id) p.add_random_procedure(random, 5 + below(random, 30));
    for (Procedure& procedure : p.program.procedures) walk(random, procedure, 30);
    const auto input = executed_in_input(p.program);
    for (const auto blocks : {LayoutOptions::Blocks::ext_tsp, LayoutOptions::Blocks::chain})
      for (const bool split : {false, true}) {
        Forecast forecast;
        profiled_layout(p.program, {.blocks = blocks, .split = split}, input, &forecast);
        for (const Forecast::Change& each : forecast.procedures) {
          EXPECT_LE(each.output.instructions, each.input.instructions) << each.name;
          kept += each.kept;
        }
      }
  }
  EXPECT_GT(kept, 0);
}

TEST(ProfiledLayout, ForecastsWhatItsOrderExecutes) {
  Random random(3);
  LayoutProgram p;
  for (int id = 0; id < 6; ++id) p.add_random_procedure(random, 12);
  for (Procedure& procedure : p.program.procedures) walk(random, procedure, 50);
  Forecast forecast;
  const auto input = executed_in_input(p.program);
  const LayoutOptions options{.blocks = LayoutOptions::Blocks::ext_tsp,
                              .split = true,
                              .pieces = LayoutOptions::Pieces::colour};
  profiled_layout(p.program, options, input, &forecast);
  EXPECT_LT(forecast.output.executed.taken, forecast.input.executed.taken);
  EXPECT_LE(forecast.output.executed.instructions, forecast.input.executed.instructions);
  EXPECT_LT(forecast.output.cycles, forecast.input.cycles);
  EXPECT_FALSE(forecast.is_costlier());
}

}  // namespace
}  // namespace respike

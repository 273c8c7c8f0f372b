// The cost of issuing code by its place, counted by hand, and the padding that follows from it.

#include "optimizer/layout/phases.h"

#include <gtest/gtest.h>

#include "optimizer/layout/profiled.h"
#include "tests/unit/layout_testing.h"

namespace respike {
namespace {

/// Three instructions that run 10 times; a loop of four instructions, 10 rounds each time; one
/// more.
LayoutProgram loop_of_one_group() {
  LayoutProgram p;
  p.program.machine = &issuing_fake_machine();
  Procedure& procedure = p.add_procedure();
  p.add_block(3, "");
  p.connect(0, 1, Edge::Kind::fall_through);
  p.add_block(3, "beq");
  p.connect(1, 2, Edge::Kind::fall_through);
  p.connect(1, 1, Edge::Kind::taken);
  p.add_block(0, "ret");
  set_counts(procedure, 0, 10, 0);
  set_counts(procedure, 1, 10, 90);
  procedure.blocks[0].flags |= BasicBlock::kEntry;
  procedure.blocks[2].count = 10;
  return p;
}

std::vector<double> cycles_of(const Program& program, const std::vector<BlockId>& blocks) {
  Packing packing(program);
  packing.pack(0, blocks);
  return cycles_by_phase(program, 0, blocks, packing);
}

TEST(Phases, ALoopIssuesFastestInOneGroup) {
  const std::vector<double> expected = {
      10 + 10 + 90 * 2,      // the loop from 12 to 28: begun after block 0, or two groups a round
      10 + 10 + 90 + 10,     // from 16 to 32: block 2 begins a group
      2 * 10 + 10 + 90 * 2,  // block 0 also lies in two groups
      2 * 10 + 10 + 90 * 2,
  };
  EXPECT_EQ(cycles_of(loop_of_one_group().program, {0, 1, 2}), expected);
}

/// The appended branch runs when the block's own branch was not taken.
TEST(Phases, AnAppendedBranchRunsSeldom) {
  LayoutProgram p;
  p.program.machine = &issuing_fake_machine();
  p.add_procedure();
  p.add_block(3, "beq");
  p.connect(0, 1, Edge::Kind::fall_through);
  p.connect(0, 2, Edge::Kind::taken);
  p.add_block(0, "ret");
  p.add_block(0, "ret");
  for (const bool falls : {true, false}) {
    set_counts(p.program[0], 0, falls ? 90 : 10, falls ? 10 : 90);
    EXPECT_EQ(cycles_of(p.program, {0}), (std::vector<double>{110, 200, 200, 200})) << falls;
  }
}

TEST(Phases, ACallLeavesNothingInFlight) {
  LayoutProgram p;
  p.program.machine = &issuing_fake_machine();
  p.add_procedure();
  p.add_block(1, "bsr");
  p.connect(0, 1, Edge::Kind::fall_through);
  p.add_block(1, "ret");
  set_counts(p.program[0], 0, 10, 0);
  p.program[0].blocks[1].count = 10;
  EXPECT_EQ(cycles_of(p.program, {0, 1}), (std::vector<double>{20, 30, 20, 30}));
}

TEST(Padding, StandsWhereItPays) {
  const std::vector<PieceToPad> pieces = {
      {.cycles = {5, 1, 5, 5}, .size = 20},
      {.cycles = {1, 9, 9, 9}, .size = 16},
      {.cycles = {9, 0, 0, 0}, .size = 4, .bound = true},
      {.cycles = {2, 2, 2, 2}, .size = 4},
      {.cycles = {3, 1, 3, 3}, .size = 8, .start = {.alignment = 32}},
      {.cycles = {7, 7, 7, 7}, .size = 8},
  };
  const auto check = [&](double price, const std::vector<std::pair<uint32_t, uint32_t>>& expected,
                         double cycles) {
    const PaddedPieces padded = pad_pieces(pieces, 16, price);
    std::vector<std::pair<uint32_t, uint32_t>> starts;
    for (const Start& start : padded.starts) starts.emplace_back(start.alignment, start.phase);
    EXPECT_EQ(starts, expected) << price;
    EXPECT_EQ(padded.cycles, cycles) << price;
  };
  // From 4 to 24; from 32 to 48; to 52; at 52, where the branch before may be dropped; at 64.
  check(0.5, {{16, 4}, {16, 0}, {4, 0}, {16, 4}, {32, 0}, {4, 0}}, 1 + 1 + 9 + 2 + 3 + 7);
  check(0.2, {{16, 4}, {16, 0}, {4, 0}, {16, 4}, {32, 4}, {4, 0}}, 1 + 1 + 9 + 2 + 1 + 7);
  // From 0 to 20, to 36, to 40; at 40; at 64.
  check(1e9, {{16, 0}, {4, 0}, {4, 0}, {16, 8}, {32, 0}, {4, 0}}, 5 + 9 + 0 + 2 + 3 + 7);
}

LayoutOptions with_colours() {
  return {.blocks = LayoutOptions::Blocks::ext_tsp,
          .split = true,
          .pieces = LayoutOptions::Pieces::colour};
}

TEST(Padding, PutsALoopIntoOneGroup) {
  LayoutProgram p = loop_of_one_group();
  p.add_procedure();
  p.add_block(3, "ret");  // never ran
  const auto starts = [&](const Machine& machine) {
    p.program.machine = &machine;
    std::vector<uint32_t> phases;
    for (const auto& fragment : profiled_layout(p.program, with_colours()).fragments)
      phases.push_back(fragment.start.phase);
    return phases;
  };
  EXPECT_EQ(starts(issuing_fake_machine()), (std::vector<uint32_t>{0, 0}));  // entry at 0
  p.program[0].blocks[0].origin = 4;
  EXPECT_EQ(starts(issuing_fake_machine()), (std::vector<uint32_t>{4, 0}));
  EXPECT_EQ(starts(fake_machine()), (std::vector<uint32_t>{0, 0}));  // it has no issue model
}

/// Two loops of four instructions, each a handler of an interpreter; a jump through a register
/// leads from the first to the second.
LayoutProgram two_handlers() {
  LayoutProgram p;
  p.program.machine = &issuing_fake_machine();
  Procedure& procedure = p.add_procedure();
  for (BlockId b = 0; b < 2; ++b) {
    p.add_block(b == 0 ? 4 : 3, "jmp");
    for (const BlockId other : {BlockId{0}, BlockId{1}}) p.connect(b, other, Edge::Kind::indirect);
  }
  for (BasicBlock& block : procedure.blocks) {
    block.count = 100;
    for (Edge& edge : block.successors) edge.count = 50;
  }
  return p;
}

TEST(Padding, MayStandBetweenHandlers) {
  const LayoutProgram p = two_handlers();
  std::vector<Start> starts;
  for (const auto& fragment : profiled_layout(p.program, with_colours()).fragments)
    starts.push_back(fragment.start);
  ASSERT_EQ(starts.size(), 2u);  // of 20 and 16 bytes
  EXPECT_EQ(starts[1].alignment, 16u);
  EXPECT_EQ(starts[1].phase, 0u);
}

TEST(Padding, EntriesStayAligned) {
  LayoutProgram p = two_handlers();
  BasicBlock& entry = p.program[0].blocks[1];
  entry.flags |= BasicBlock::kEntry;
  entry.origin = 8;
  EXPECT_EQ(alignment_of_entry(p.program, entry), 8u);
  entry.origin = 0x40;
  EXPECT_EQ(alignment_of_entry(p.program, entry), 16u);
  entry.flags = 0;
  EXPECT_EQ(alignment_of_entry(p.program, entry), 0u);
}

}  // namespace
}  // namespace respike

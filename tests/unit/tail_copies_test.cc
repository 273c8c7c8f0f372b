// Copies of tails: which are made, and that copies behave like their originals.

#include "optimizer/transform/tail_copies.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/unit/layout_testing.h"

namespace respike {
namespace {

const Machine& copying_machine() {
  static const Machine machine = [] {
    Machine result = fake_machine();
    result.costs.copied_tail = 64;
    return result;
  }();
  return machine;
}

/// Two paths to one return; the first comes more often.
void add_two_paths(LayoutProgram& p, uint64_t first, uint64_t second) {
  p.add_procedure();
  const BlockId entry = p.add_block(1, "beq"), one = p.add_block(2, "br"),
                other = p.add_block(2, ""), tail = p.add_block(2, "ret");
  p.connect(entry, one, Edge::Kind::fall_through);
  p.connect(entry, other, Edge::Kind::taken);
  p.connect(one, tail, Edge::Kind::taken);
  p.connect(other, tail, Edge::Kind::fall_through);
  auto& blocks = p.program.procedures.back().blocks;
  blocks[entry].flags |= BasicBlock::kEntry;
  blocks[entry].count = blocks[tail].count = first + second;
  blocks[entry].successors[0].count = blocks[one].count = blocks[one].successors[0].count = first;
  blocks[entry].successors[1].count = blocks[other].count = second;
  blocks[other].successors[0].count = second;
}

TEST(TailCopies, ThePathThatComesLessOftenGetsACopy) {
  LayoutProgram p;
  p.program.machine = &copying_machine();
  add_two_paths(p, 1000, 900);
  const TailCopies copies = copy_tails(p.program);
  EXPECT_EQ(copies.tails, 1u);
  EXPECT_EQ(copies.bytes, 12u);
  const auto& blocks = p.program[0].blocks;
  ASSERT_EQ(blocks.size(), 5u);
  EXPECT_EQ(blocks[1].successors[0].target, 3u);
  EXPECT_EQ(blocks[2].successors[0].target, 4u);
  EXPECT_EQ(blocks[3].count, 1000u);
  EXPECT_EQ(blocks[4].count, 900u);
  EXPECT_EQ(blocks[4].origin, blocks[3].origin);
}

TEST(TailCopies, ColdPathsAndLongTailsAreNotCopied) {
  LayoutProgram p;
  p.program.machine = &copying_machine();
  add_two_paths(p, 1000000, 1);
  EXPECT_EQ(copy_tails(p.program).tails, 0u);
  static Machine small = copying_machine();
  small.costs.copied_tail = 8;
  LayoutProgram q;
  q.program.machine = &small;
  add_two_paths(q, 1000, 900);
  EXPECT_EQ(copy_tails(q.program).tails, 0u);
}

TEST(TailCopies, MachinesMayGoWithout) {
  LayoutProgram p;
  add_two_paths(p, 1000, 900);
  EXPECT_EQ(copy_tails(p.program).tails, 0u);
  EXPECT_EQ(p.program[0].blocks.size(), 4u);
}

TEST(TailCopies, CopiesDoWhatTheirOriginalsDo) {
  Random random(5);
  uint64_t copied = 0;
  for (int round = 0; round < 1000; ++round) {
    LayoutProgram p;
    p.program.machine = &copying_machine();
    for (uint32_t i = 1 + below(random, 4); i > 0; --i)
      p.add_random_procedure(random, 1 + below(random, 25));
    if (round % 3 == 0)
      count_anything(random, p.program);
    else
      for (Procedure& procedure : p.program.procedures) walk(random, procedure, 500);
    std::vector<Procedure> before = p.program.procedures;
    for (Procedure& procedure : before)
      for (BasicBlock& block : procedure.blocks) {
        Arena& arena = *p.program.arena;
        const auto edges = block.successors.span();
        block.successors = {};
        block.successors.assign(arena, edges);
      }
    copied += copy_tails(p.program).tails;
    for (ProcedureId id = 0; id < before.size(); ++id) {
      std::map<uint32_t, BlockId> by_origin;
      std::map<BlockId, uint64_t> counts;
      for (BlockId b = 0; b < before[id].blocks.size(); ++b)
        by_origin.emplace(before[id].blocks[b].origin, b);
      const auto& blocks = p.program[id].blocks;
      for (const BasicBlock& block : blocks) {
        const BlockId like = by_origin.at(block.origin);
        const BasicBlock& original = before[id].blocks[like];
        counts[like] += block.count;
        ASSERT_EQ(block.instructions.size(), original.instructions.size());
        for (uint32_t i = 0; i < block.instructions.size(); ++i)
          EXPECT_EQ(block.instructions[i].opcode, original.instructions[i].opcode);
        ASSERT_EQ(block.successors.size(), original.successors.size());
        for (uint32_t e = 0; e < block.successors.size(); ++e) {
          EXPECT_EQ(block.successors[e].kind, original.successors[e].kind);
          EXPECT_EQ(by_origin.at(blocks[block.successors[e].target].origin),
                    original.successors[e].target);
        }
      }
      for (const auto& [block, count] : counts)
        EXPECT_EQ(count, before[id].blocks[block].count) << round;
    }
  }
  EXPECT_GT(copied, 100u);
}

}  // namespace
}  // namespace respike

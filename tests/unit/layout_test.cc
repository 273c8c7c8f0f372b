// Orders of blocks: every block occurs once, glued blocks stay together, a seed gives one layout.

#include "optimizer/layout/orders.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "optimizer/check/invariants.h"
#include "tests/unit/fake_machine.h"

namespace respike {
namespace {

/// `count` procedures of `blocks` blocks, each block falling through to the next; the last returns.
Program straight_program(size_t count, size_t blocks) {
  Program program;
  program.machine = &fake_machine();
  uint32_t origin = 0;
  for (ProcedureId id = 0; id < count; ++id) {
    Procedure& procedure = program.procedures.emplace_back();
    procedure.name = "p" + std::to_string(id);
    procedure.address = origin;
    procedure.size = blocks * 1024;
    program.ranges.push_back({origin, origin + blocks * 1024, id, 0, static_cast<BlockId>(blocks)});
    for (BlockId b = 0; b < blocks; ++b) {
      BasicBlock block;
      block.origin = origin;
      block.origin_size = 1024;
      origin += 1024;
      if (b + 1 < blocks)
        block.successors.push_back(*program.arena,
                                   {.target = b + 1, .kind = Edge::Kind::fall_through});
      procedure.blocks.push_back(block);
    }
  }
  return program;
}

std::map<std::pair<ProcedureId, BlockId>, int> counted(const Layout& layout) {
  std::map<std::pair<ProcedureId, BlockId>, int> count;
  for (const auto& fragment : layout.fragments)
    for (BlockId block : fragment.blocks) ++count[{fragment.procedure, block}];
  return count;
}

std::vector<std::pair<ProcedureId, BlockId>> sequence(const Layout& layout) {
  std::vector<std::pair<ProcedureId, BlockId>> result;
  for (const auto& fragment : layout.fragments)
    for (BlockId block : fragment.blocks) result.emplace_back(fragment.procedure, block);
  return result;
}

TEST(Orders, HoldEveryBlockOnce) {
  const Program program = straight_program(50, 20);
  for (const Layout& layout :
       {original_layout(program), random_layout(program, 3), scattered_layout(program, 3)}) {
    const auto count = counted(layout);
    EXPECT_EQ(count.size(), 1000u);
    for (const auto& [place, times] : count) EXPECT_EQ(times, 1);
  }
}

TEST(Orders, OriginalKeepsTheOrder) {
  const Program program = straight_program(5, 4);
  const auto places = sequence(original_layout(program));
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
}

TEST(Orders, SeedsMeanLayouts) {
  const Program program = straight_program(20, 10);
  EXPECT_EQ(sequence(random_layout(program, 1)), sequence(random_layout(program, 1)));
  EXPECT_NE(sequence(random_layout(program, 1)), sequence(random_layout(program, 2)));
  EXPECT_NE(sequence(scattered_layout(program, 1)), sequence(scattered_layout(program, 2)));
}

TEST(Orders, PinnedProceduresAreLeftOut) {
  Program program = straight_program(4, 3);
  program[1].state = Procedure::State::pinned;
  program[2].state = Procedure::State::opaque;
  for (const Layout& layout :
       {original_layout(program), random_layout(program, 1), scattered_layout(program, 1)})
    for (const auto& fragment : layout.fragments)
      EXPECT_TRUE(fragment.procedure == 0 || fragment.procedure == 3);
}

TEST(Orders, GluedBlocksStayTogether) {
  Program program = straight_program(30, 12);
  for (Procedure& procedure : program.procedures)
    for (BlockId b : {2u, 3u, 7u}) procedure.blocks[b].flags |= BasicBlock::kGluedToNext;
  for (uint64_t seed = 1; seed <= 20; ++seed)
    for (const Layout& layout : {random_layout(program, seed), scattered_layout(program, seed)}) {
      EXPECT_EQ(counted(layout).size(), 360u);
      for (const auto& fragment : layout.fragments)
        for (size_t i = 0; i < fragment.blocks.size(); ++i) {
          const BlockId block = fragment.blocks[i];
          if (!program[fragment.procedure].blocks[block].has(BasicBlock::kGluedToNext)) continue;
          ASSERT_LT(i + 1, fragment.blocks.size());
          EXPECT_EQ(fragment.blocks[i + 1], block + 1);
        }
    }
}

TEST(Orders, GluedBlocksOfSeveralRangesStayTogether) {
  Program program = straight_program(3, 12);
  std::vector<CodeRange> ranges;
  for (const CodeRange& range : program.ranges) {
    BlockId first = 0;
    uint64_t start = range.start;
    for (const BlockId end : {3u, 4u, 8u, 12u}) {  // 2, 3, 4 and 5 lie in three ranges
      const uint64_t size = 1024 * (end - first);
      ranges.push_back({start, start + size, range.procedure, first, end});
      start += size;
      first = end;
    }
  }
  program.ranges = ranges;
  for (Procedure& procedure : program.procedures)
    for (const BlockId b : {2u, 3u, 4u}) procedure.blocks[b].flags |= BasicBlock::kGluedToNext;
  const Layout layout = original_layout(program);
  EXPECT_EQ(counted(layout).size(), 36u);
  ASSERT_EQ(layout.fragments.size(), 9u);
  EXPECT_EQ(layout.fragments[0].blocks, (std::vector<BlockId>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(layout.fragments[1].blocks, (std::vector<BlockId>{6, 7}));
}

TEST(Orders, LargeTextIsMixedInWindows) {
  // 40 procedures of 256 KB: blocks of one window are neighbours in the output.
  const Program program = straight_program(40, 256);
  const auto places = sequence(random_layout(program, 5));
  std::map<ProcedureId, std::pair<size_t, size_t>> span;
  for (size_t i = 0; i < places.size(); ++i) {
    auto [entry, fresh] = span.emplace(places[i].first, std::pair(i, i));
    entry->second.second = i;
  }
  for (const auto& [procedure, range] : span)
    EXPECT_LE(range.second - range.first, 11u * 256) << procedure;
}

}  // namespace
}  // namespace respike

// The kind of a program, and its loops, on programs whose numbers were counted by hand.

#include "views/characteristics.h"

#include <gtest/gtest.h>

#include "optimizer/machine/machines.h"
#include "tests/unit/analysis_testing.h"
#include "views/hot_loops.h"

namespace respike {
namespace {

/// main turns a loop 20 times in two entries, and calls f in each turn; f never takes its branch.
Program two_procedures() {
  return parse_alpha(R"(
cie 0 augmentation="zR" return_register=26
state 0 cie=0 cfa=30+0
state 1 cie=0 cfa=30+16 9=offset:-16
procedure 0 "main"
  block 0 count=2 entry
    mov zero,t0
    -> 1 fall_through count=2
  block 1 count=20
    bsr ra,0 !branch(1#0)
    -> 2 fall_through count=20
  block 2 count=20
    addq t0,1,t0
    bne t0,0
    -> 3 fall_through count=2
    -> 1 taken count=18
  block 3 count=2
    ret
procedure 1 "f"
  block 0 cfi=0 count=20 entry
    lda sp,-16(sp)
    stq s0,0(sp)
    .cfi_state 1
    beq a0,0
    -> 1 fall_through count=20
    -> 2 taken count=0
  block 1 cfi=1 count=20
    mov a0,s0
    ldq s0,0(sp)
    lda sp,16(sp)
    .cfi_state 0
    ret
  block 2 cfi=1 count=0
    br 0
    -> 1 taken count=0
)");
}

TEST(Characteristics, AreThoseCountedByHand) {
  const Characteristics found = characterize(two_procedures());
  EXPECT_EQ(found.executed, 2u + 20 + 40 + 2 + 60 + 80);
  EXPECT_EQ(found.instructions, 5u + 8);
  ASSERT_EQ(found.procedures.size(), 2u);
  const ProcedureCharacter& main = found.procedures[0];
  EXPECT_EQ(main.executed, 64u);
  EXPECT_EQ(main.trip_count, 10);
  EXPECT_EQ(main.blocks, 3u);  // block 2 only continues after the call
  EXPECT_FALSE(main.entry_hottest || main.leaf);
  const ProcedureCharacter& f = found.procedures[1];
  EXPECT_EQ(f.trip_count, 0);
  EXPECT_EQ(f.blocks, 3u);
  EXPECT_EQ(f.hot_blocks, 2u);
  EXPECT_TRUE(f.entry_hottest && f.leaf);
  EXPECT_EQ(f.adjustments, 40u);
  EXPECT_EQ(f.saves, 20u);
  EXPECT_EQ(f.restores, 20u);
}

TEST(Characteristics, FiguresAreSharesOfExecutedInstructions) {
  const Characteristics found = characterize(two_procedures());
  const double f = 140.0 / 204;
  const Distribution trips = by_trip_count(found);
  for (size_t i = 0; i < kBounds.size(); ++i)
    EXPECT_DOUBLE_EQ(trips[i], kBounds[i] <= 8 ? f : 1) << kBounds[i];
  const Distribution all = by_blocks(found, false), hot = by_blocks(found, true);
  EXPECT_EQ(all[1], 0);  // at most 2 blocks; main turns too often to count
  EXPECT_EQ(all[2], 1);
  EXPECT_EQ(hot[1], 1);
  EXPECT_DOUBLE_EQ(nonlooping_share(found), f);
  EXPECT_DOUBLE_EQ(entry_hottest_share(found), f);
  EXPECT_DOUBLE_EQ(call_overhead(found).sum(), 80.0 / 204);
}

TEST(Characteristics, SentencesFitTheNumbers) {
  Characteristics found = characterize(two_procedures());
  EXPECT_TRUE(trip_count_text(found).starts_with("69% of the instructions are executed"));
  EXPECT_TRUE(trip_count_text(found).ends_with("the layout across procedures matters."));
  EXPECT_TRUE(overhead_text(found).starts_with("39.2% of the executed instructions"));
  for (ProcedureCharacter& procedure : found.procedures) procedure.trip_count = 100;
  EXPECT_TRUE(trip_count_text(found).find("single procedures") != std::string::npos);
  EXPECT_TRUE(blocks_text(found).starts_with("Next to nothing"));
}

/// Prologs and epilogs are known of machines on which instructions have one length: nothing is said
/// of them where they are not known, nor of a program that has such an image beside others.
TEST(Characteristics, OfX8664KnowNoPrologs) {
  Program program;
  program.machine = &x86_64_machine();
  const Characteristics unknown = characterize(program);
  EXPECT_FALSE(unknown.knows_frames);
  Characteristics found = characterize(two_procedures());
  EXPECT_TRUE(found.knows_frames);
  found.add(unknown);
  EXPECT_FALSE(found.knows_frames);
  const std::string text = overhead_text(found);
  EXPECT_TRUE(text.starts_with("What prologs and epilogs execute is not known for programs"))
      << text;
  EXPECT_EQ(text.find("Hot-cold"), text.npos) << text;
}

TEST(Characteristics, OfNothingAreNothing) {
  const Characteristics nothing = characterize(parse_alpha(R"(
procedure 0 "main"
  block 0 entry
    ret
)"));
  EXPECT_EQ(nothing.executed, 0u);
  EXPECT_TRUE(nothing.procedures.empty());
  EXPECT_EQ(by_trip_count(nothing), Distribution{});
  EXPECT_EQ(call_overhead(nothing).sum(), 0);
}

TEST(Characteristics, ImagesOfAProgramAddUp) {
  Characteristics sum = characterize(two_procedures());
  sum.add(characterize(two_procedures()));
  EXPECT_EQ(sum.executed, 408u);
  EXPECT_DOUBLE_EQ(nonlooping_share(sum), 140.0 / 204);
}

TEST(HotLoops, AreThoseCountedByHand) {
  const HotLoops found = find_hot_loops(two_procedures());
  EXPECT_EQ(found.executed, 204u);
  ASSERT_EQ(found.loops.size(), 1u);
  const HotLoop& loop = found.loops[0];
  EXPECT_EQ(loop.procedure, "main");
  EXPECT_EQ(loop.executed, 60u);
  EXPECT_EQ(loop.turns, 20u);
  EXPECT_EQ(loop.entries, 2u);
  EXPECT_EQ(loop.trip_count(), 10);
  EXPECT_EQ(loop.blocks, 2u);
  EXPECT_EQ(loop.depth, 1u);
}

TEST(HotLoops, PathsThatNeverRanLeadIntoNoLoop) {
  // Block 4 could enter the loop of 1 and 2 in its middle.
  const HotLoops found = find_hot_loops(parse_alpha(R"(
procedure 0 "main"
  block 0 count=2 entry
    bne t1,0
    -> 1 fall_through count=2
    -> 4 taken
  block 1 count=20
    addq t0,1,t0
    -> 2 fall_through count=20
  block 2 count=20
    bne t0,0
    -> 3 fall_through count=2
    -> 1 taken count=18
  block 3 count=2
    ret
  block 4
    br 0
    -> 2 taken
)"));
  ASSERT_EQ(found.loops.size(), 1u);
  EXPECT_EQ(found.loops[0].turns, 20u);
  EXPECT_EQ(found.loops[0].trip_count(), 10);
}

TEST(HotLoops, InnerLoopsCountInTheOnesAroundThem) {
  const HotLoops found = find_hot_loops(parse_alpha(R"(
procedure 0 "main"
  block 0 count=1 entry
    -> 1 fall_through count=1
  block 1 count=5
    addq t0,1,t0
    -> 2 fall_through count=5
  block 2 count=35
    bne t0,0
    -> 3 fall_through count=5
    -> 2 taken count=30
  block 3 count=5
    bne t1,0
    -> 4 fall_through count=1
    -> 1 taken count=4
  block 4 count=1
    ret
)"));
  ASSERT_EQ(found.loops.size(), 2u);
  const HotLoop &inner = found.loops[0], &outer = found.loops[1];
  EXPECT_EQ(inner.depth, 2u);
  EXPECT_EQ(inner.executed, 35u);
  EXPECT_EQ(inner.trip_count(), 7);
  EXPECT_EQ(outer.depth, 1u);
  EXPECT_EQ(outer.blocks, 3u);
  EXPECT_EQ(outer.executed, 45u);
  EXPECT_EQ(outer.trip_count(), 5);
}

}  // namespace
}  // namespace respike

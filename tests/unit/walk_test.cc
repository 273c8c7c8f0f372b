// Walks (made-up executions): blocks run as often as the counts say, and returns go back to their
// calls.

#include "optimizer/layout/walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>

#include "optimizer/check/invariants.h"
#include "optimizer/ir/text/text.h"
#include "optimizer/layout/calls.h"
#include "tests/unit/layout_testing.h"

namespace respike {
namespace {

Program parse(const std::string& procedures) {
  Program program = parse_program("program fake\n" + procedures, fake_machine());
  EXPECT_EQ(find_violation(program), std::nullopt);
  return program;
}

std::vector<double> shares(const Program& program, const Trace& trace) {
  std::vector<double> result;
  for (const Procedure& procedure : program.procedures)
    result.resize(result.size() + procedure.blocks.size());
  for (const uint32_t block : trace)
    if (block != kNone) result[block] += 1.0 / static_cast<double>(trace.size());
  return result;
}

/// Total variation distance of the frequencies of blocks, in a walk and in the counts.
double distance(const Program& program, uint64_t blocks) {
  const auto walked = shares(program, walk(program, find_calls(program), blocks));
  double all = 0, sum = 0;
  for (const Procedure& procedure : program.procedures)
    if (procedure.movable())
      for (const BasicBlock& block : procedure.blocks) all += static_cast<double>(block.count);
  size_t number = 0;
  for (const Procedure& procedure : program.procedures)
    for (const BasicBlock& block : procedure.blocks)
      sum += std::abs(walked[number++] -
                      (procedure.movable() ? static_cast<double>(block.count) / all : 0));
  return sum / 2;
}

// A loop calls a() directly, and calls by a pointer that last led to b(). The same pointer also
// leads to c(), three times as often. b() sometimes jumps to a().
constexpr const char* kPointers = R"(
procedure 0 "loop" address=0x0 size=20
  block 0 at=0x0 size=4 count=10 entry
    0: add r1,r1,1
    -> 1 fall_through count=10
  block 1 at=0x4 size=4 count=1000
    4: bsr r0,r0,0 !branch(1#0)
    -> 2 fall_through count=1000
  block 2 at=0x8 size=4 count=1000
    8: jsr r0,r1,0
    -> 3 fall_through count=1000
  block 3 at=0xc size=4 count=1000
    c: bne r1,r0,0
    -> 4 fall_through count=10
    -> 1 taken count=990
  block 4 at=0x10 size=4 count=10
    10: ret r1,r0,0
procedure 1 "a" address=0x14 size=4
  block 0 at=0x14 size=4 count=1050 entry
    14: ret r1,r0,0
procedure 2 "b" address=0x18 size=8
  block 0 at=0x18 size=4 count=250 entry
    18: beq r1,r0,0 !branch(1#0)
    -> 1 fall_through count=200
  block 1 at=0x1c size=4 count=200
    1c: ret r1,r0,0
procedure 3 "c" address=0x20 size=4
  block 0 at=0x20 size=4 count=750 entry
    20: ret r1,r0,0
range 0x0..0x14 procedure=0 blocks=0..5
range 0x14..0x18 procedure=1 blocks=0..1
range 0x18..0x20 procedure=2 blocks=0..2
range 0x20..0x24 procedure=3 blocks=0..1
)";

const CodeCall* call_of(std::span<const CodeCall> calls, ProcedureId caller, BlockId block,
                        ProcedureId callee) {
  for (const CodeCall& call : calls)
    if (call.caller == caller && call.block == block && call.callee == callee) return &call;
  return nullptr;
}

TEST(Calls, AConditionalJumpOutCountsAsOftenAsItLeaves) {
  const Program program = parse(kPointers);
  const auto calls = find_calls(program);
  const CodeCall* call = call_of(calls, 2, 0, 1);
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->count, 50u);
  EXPECT_FALSE(call->returns);
}

TEST(Calls, AnObservedCalleeGetsNoMoreCallsThanItHasEntries) {
  Program program = parse(kPointers);
  program.observed_calls = {{.procedure = 0, .block = 2, .callee = 2}};
  const auto calls = find_calls(program);
  const CodeCall* seen = call_of(calls, 0, 2, 2);
  const CodeCall* rest = call_of(calls, 0, 2, kNone);
  ASSERT_NE(seen, nullptr);
  ASSERT_NE(rest, nullptr);
  EXPECT_EQ(seen->count, 250u);
  EXPECT_EQ(rest->count, 750u);
  EXPECT_TRUE(seen->returns);
  const auto entries = unexplained_entries(program, calls);
  EXPECT_EQ(entries[1], 0);
  EXPECT_EQ(entries[2], 0);
  EXPECT_EQ(entries[3], 750);
}

TEST(Walk, HasTheFrequenciesOfTheCounts) {
  Program program = parse(kPointers);
  EXPECT_LT(distance(program, 200'000), 0.01);  // no callee of the pointer known
  program.observed_calls = {{.procedure = 0, .block = 2, .callee = 2}};
  EXPECT_LT(distance(program, 200'000), 0.01);
}

/// Two loops call the same procedure: a return leads to the loop that called.
TEST(Walk, ComesBackToTheCallThatItWentThrough) {
  const Program program = parse(R"(
procedure 0 "one" address=0x0 size=8
  block 0 at=0x0 size=4 count=1000 entry
    0: bsr r0,r0,0 !branch(2#0)
    -> 1 fall_through count=1000
  block 1 at=0x4 size=4 count=1000
    4: br r1,r0,0
    -> 0 taken count=1000
procedure 1 "two" address=0x8 size=8
  block 0 at=0x8 size=4 count=1000 entry
    8: bsr r0,r0,0 !branch(2#0)
    -> 1 fall_through count=1000
  block 1 at=0xc size=4 count=1000
    c: br r1,r0,0
    -> 0 taken count=1000
procedure 2 "callee" address=0x10 size=4
  block 0 at=0x10 size=4 count=2000 entry
    10: ret r1,r0,0
range 0x0..0x8 procedure=0 blocks=0..2
range 0x8..0x10 procedure=1 blocks=0..2
range 0x10..0x14 procedure=2 blocks=0..1
)");
  const Trace trace = walk(program, find_calls(program), 100'000);
  uint32_t last = kNone, changes = 0, walks = 0, calls = 0;
  for (const uint32_t block : trace) {
    if (block == kNone) {
      ++walks;
      last = kNone;
    }
    if (block != 0 && block != 2) continue;
    changes += last != kNone && last != block;
    last = block;
    ++calls;
  }
  EXPECT_GT(calls, 30'000u);
  EXPECT_LE(changes, walks);  // where it began in the callee
}

/// All calls go through a jump: a walk that begins in the last procedure still returns to the loop.
TEST(Walk, ComesBackThroughJumps) {
  const Program program = parse(R"(
procedure 0 "loop" address=0x0 size=8
  block 0 at=0x0 size=4 count=1000 entry
    0: bsr r0,r0,0 !branch(1#0)
    -> 1 fall_through count=1000
  block 1 at=0x4 size=4 count=1000
    4: br r1,r0,0
    -> 0 taken count=1000
procedure 1 "thunk" address=0x8 size=4
  block 0 at=0x8 size=4 count=1000 entry
    8: br r0,r0,0 !branch(2#0)
procedure 2 "callee" address=0xc size=4
  block 0 at=0xc size=4 count=1000 entry
    c: ret r1,r0,0
range 0x0..0x8 procedure=0 blocks=0..2
range 0x8..0xc procedure=1 blocks=0..1
range 0xc..0x10 procedure=2 blocks=0..1
)");
  const Trace trace = walk(program, find_calls(program), 4096 * 50);
  EXPECT_LE(std::count(trace.begin(), trace.end(), kNone), 51);
}

TEST(Walk, IsTheSameForTheSameProgramAndEndsWhereNothingRan) {
  Random random(1);
  for (int round = 0; round < 50; ++round) {
    LayoutProgram p;
    for (uint32_t i = 1 + below(random, 6); i > 0; --i)
      p.add_random_procedure(random, 1 + below(random, 12));
    if (round % 5 != 0) count_anything(random, p.program);
    const auto calls = find_calls(p.program);
    const Trace trace = walk(p.program, calls, 10'000);
    EXPECT_EQ(trace, walk(p.program, calls, 10'000));
    EXPECT_TRUE(round % 5 != 0 || trace.empty());
    EXPECT_LE(trace.size() - static_cast<size_t>(std::count(trace.begin(), trace.end(), kNone)),
              10'000u);
  }
}

}  // namespace
}  // namespace respike

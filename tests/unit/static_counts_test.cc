// Counts without a profile: they include jumps by tables, and no procedure gets nearly all counts.

#include "optimizer/profile/static_counts.h"

#include <gtest/gtest.h>

#include "tests/unit/analysis_testing.h"

namespace respike {
namespace {

uint64_t sum_of(const BasicBlock& block, Edge::Kind kind) {
  uint64_t sum = 0;
  for (const Edge& edge : block.successors)
    if (edge.kind == kind) sum += edge.count;
  return sum;
}

/// A program in which unknown code starts procedure `start`.
Program started(const std::string& procedures, int start) {
  Program program = parse_alpha(procedures + "procedure " + std::to_string(start) +
                                " \"start\" pinned\n  block 0 entry\n    br 0 !branch(0#0)\n");
  set_static_counts(program, CallGraph(program));
  return program;
}

constexpr const char* kSwitch = R"(
procedure 0 "switch"
  block 0 entry
    jmp zero,(t0),0x0
    -> 1 indirect
    -> 2 indirect
    -> 3 indirect
  block 1
    ret
  block 2
    ret
  block 3
    ret
)";

TEST(StaticCounts, TheCasesOfAJumpTableGetEqualParts) {
  const Program program = started(kSwitch, 1);
  const auto& blocks = program[0].blocks;
  EXPECT_GT(blocks[0].count, 0u);
  for (const Edge& edge : blocks[0].successors) {
    EXPECT_NEAR(static_cast<double>(edge.count), static_cast<double>(blocks[0].count) / 3, 1);
    EXPECT_NEAR(static_cast<double>(edge.count), static_cast<double>(blocks[edge.target].count), 1);
  }
}

/// Two jumps share their targets; one jump runs half as often, since it comes after a branch.
TEST(StaticCounts, JumpsThatShareTargetsShareThemByHowOftenTheyRun) {
  const Program program = started(R"(
procedure 0 "dispatch"
  block 0 entry
    beq a0,0
    -> 1 fall_through
    -> 3 taken
  block 1
    beq a1,0
    -> 2 fall_through
    -> 4 taken
  block 2
    jmp zero,(t0),0x0
    -> 4 indirect
    -> 5 indirect
  block 3
    jmp zero,(t0),0x0
    -> 4 indirect
    -> 5 indirect
  block 4
    addq a0,a1,a0
    -> 5 fall_through
  block 5
    ret
)",
                                  1);
  uint32_t jumping = 0;
  for (const BasicBlock& block : program[0].blocks) {
    const uint64_t jumps = sum_of(block, Edge::Kind::indirect);
    if (jumps == 0) continue;
    ++jumping;
    EXPECT_NEAR(static_cast<double>(jumps), static_cast<double>(block.count), 2);
  }
  EXPECT_EQ(jumping, 2u);
  EXPECT_NEAR(static_cast<double>(sum_of(program[0].blocks[3], Edge::Kind::indirect)),
              2 * static_cast<double>(sum_of(program[0].blocks[2], Edge::Kind::indirect)), 4);
}

/// Loops in loops, called in a loop: by multiplication, one procedure would execute nearly
/// everything.
TEST(StaticCounts, AllProceduresExecuteTheirInstructionsEquallyOften) {
  const Program program = started(R"(
procedure 0 "caller"
  block 0 entry
    bsr ra,0 !branch(1#0)
    -> 1 fall_through
  block 1
    bne a0,0
    -> 2 fall_through
    -> 0 taken
  block 2
    ret
procedure 1 "loops"
  block 0 entry
    addq a0,a1,a0
    -> 1 fall_through
  block 1
    addq a0,a1,a0
    -> 2 fall_through
  block 2
    bne a0,0
    -> 3 fall_through
    -> 2 taken
  block 3
    bne a1,0
    -> 4 fall_through
    -> 1 taken
  block 4
    bne a2,0
    -> 5 fall_through
    -> 0 taken
  block 5
    ret
)",
                                  2);
  for (const Procedure& procedure : program.procedures) {
    if (!procedure.movable()) continue;
    double executed = 0, size = 0;
    for (const BasicBlock& block : procedure.blocks) {
      executed += static_cast<double>(block.count * block.instructions.size());
      size += static_cast<double>(block.instructions.size());
    }
    EXPECT_NEAR(executed, size * kStaticScale, 0.02 * executed) << procedure.name;
  }
  EXPECT_GT(program[1].blocks[2].count, 5 * program[1].blocks[1].count);  // loops count inside
}

}  // namespace
}  // namespace respike

// Layouts by counts: which blocks are hot, which no-ops are dropped; no counts make a layout wrong.

#include "optimizer/layout/profiled.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "optimizer/check/invariants.h"
#include "optimizer/ir/text/text.h"
#include "optimizer/layout/hotness.h"
#include "optimizer/transform/nops.h"
#include "tests/unit/layout_testing.h"

namespace respike {
namespace {

// ---- hotness

/// Bytes executed by blocks with less than `count`.
double executed_below(const Program& program, uint64_t count) {
  double sum = 0;
  for (const Procedure& procedure : program.procedures) {
    if (!procedure.movable()) continue;
    for (const BasicBlock& block : procedure.blocks)
      if (block.count < count)
        sum += static_cast<double>(block.count) *
               static_cast<double>(code_size(*program.machine, block));
  }
  return sum;
}

TEST(Hotness, IsTheHighestThresholdThatLeavesNoMoreThanTheShare) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    LayoutProgram p;
    for (uint32_t i = 1 + below(random, 4); i > 0; --i) {
      p.add_random_procedure(random, 1 + below(random, 12));
      for (BasicBlock& block : p.program.procedures.back().blocks)
        block.count = below(random, 2) == 0 ? below(random, 5) : below(random, 2000);
      if (below(random, 4) == 0) p.program.procedures.back().state = Procedure::State::pinned;
    }
    const double all = executed_below(p.program, UINT64_MAX);
    for (const double share : {0.0, 0.01, 0.1, 0.5, 0.99, 1.0}) {
      uint64_t expected = 1;
      for (const Procedure& procedure : p.program.procedures)
        for (const BasicBlock& block : procedure.blocks)
          if (procedure.movable() && block.count > expected &&
              executed_below(p.program, block.count) <= share * all)
            expected = block.count;
      EXPECT_EQ(hot_threshold(p.program, share), expected) << round << " " << share;
    }
  }
}

TEST(Hotness, WhatNeverRanIsCold) {
  Random random(2);
  LayoutProgram p;
  EXPECT_EQ(hot_threshold(p.program, 0.01), 1u);
  p.add_random_procedure(random, 5);
  EXPECT_EQ(hot_threshold(p.program, 0), 1u);
  EXPECT_EQ(hot_threshold(p.program, 0.01), 1u);
  for (BasicBlock& block : p.program.procedures[0].blocks) block.count = UINT64_MAX;
  EXPECT_EQ(hot_threshold(p.program, 0.01), UINT64_MAX);
}

TEST(Hotness, LeavesNoMoreHotBytesThanAllowed) {
  LayoutProgram p;
  p.add_procedure();
  for (const uint64_t count : {100, 200, 300, 400}) {
    p.add_block(4, "ret");
    p.program.procedures[0].blocks.back().count = count;
  }
  p.program.procedures[0].blocks[0].flags |= BasicBlock::kEntry;
  const uint64_t size = code_size(*p.program.machine, p.program[0].blocks[0]);
  EXPECT_EQ(hot_threshold(p.program, 0, 4 * size), 100u);
  EXPECT_EQ(hot_threshold(p.program, 0, 4 * size - 1), 200u);
  EXPECT_EQ(hot_threshold(p.program, 0, 2 * size), 300u);
  EXPECT_EQ(hot_threshold(p.program, 0, size), 400u);
  EXPECT_EQ(hot_threshold(p.program, 0, size - 1), 401u);
}

// ---- no-ops

/// The names of a block's opcodes after drop_nops().
std::string left_of(const Program& program, BlockId block) {
  std::string names;
  for (const Instruction& i : program[0].blocks[block].instructions)
    names += (names.empty() ? "" : " ") +
             (i.is_pseudo() ? "cfi"
                            : std::string(FakeMachine::kRows[i.opcode - kFirstMachineOpcode].name));
  return names;
}

Program parse_fake(const std::string& procedures) {
  return parse_program("program fake\n" + procedures, fake_machine());
}

TEST(Nops, GoFromEverywhereInABlock) {
  Program program = parse_fake(R"(
procedure 0 "f"
  block 0 entry
    nop
    add r1,r1,1
    nop
    nop
    load r1,r1,1
    nop
    -> 1 fall_through
  block 1
    nop
    ret r1,r0,0
)");
  EXPECT_EQ(drop_nops(program), 5u);
  EXPECT_EQ(left_of(program, 0), "add load");
  EXPECT_EQ(left_of(program, 1), "ret");
  EXPECT_EQ(find_violation(program), std::nullopt);
  EXPECT_EQ(drop_nops(program), 0u);
}

TEST(Nops, StayWhereABlockHasNothingElse) {
  Program program = parse_fake(R"(
procedure 0 "f"
  block 0 entry
    nop
    nop
    -> 1 fall_through
  block 1 address_taken
    nop
    -> 2 fall_through
  block 2
    ret r1,r0,0
)");
  EXPECT_EQ(drop_nops(program), 0u);
  EXPECT_EQ(left_of(program, 0), "nop nop");
  EXPECT_EQ(left_of(program, 1), "nop");
}

TEST(Nops, StayWhenTheyReferToSomething) {
  Program program = parse_fake(R"(
procedure 0 "f"
  block 0 entry
    nop r0,r0,0 !gp_low(0x5000)
    nop
    ret r1,r0,0
)");
  EXPECT_EQ(drop_nops(program), 1u);
  EXPECT_EQ(left_of(program, 0), "nop ret");
}

TEST(Nops, StayInSequencesThatAreNotToBeTouched) {
  Program program = parse_fake(R"(
procedure 0 "f"
  block 0 entry
    nop
    ll r1,r2,0
    nop
    beq r1,r0,0
    -> 1 fall_through
    -> 3 taken
  block 1
    nop
    add r1,r1,1
    -> 2 fall_through
  block 2
    nop
    sc r1,r2,0
    -> 3 fall_through
  block 3
    nop
    fadd r1,r2,0
    nop
    trapb r0,r0,0
    nop
    ret r1,r0,0
)");
  for (const BlockId b : {0u, 1u}) program[0].blocks[b].flags |= BasicBlock::kGluedToNext;
  EXPECT_EQ(drop_nops(program), 0u);
}

TEST(Nops, StayInPinnedAndOpaqueProcedures) {
  for (const std::string state : {"pinned", "opaque"}) {
    Program program =
        parse_fake("procedure 0 \"f\" " + state + "\n  block 0 entry\n    nop\n    ret r1,r0,0\n");
    EXPECT_EQ(drop_nops(program), 0u) << state;
  }
}

// ---- layouts

std::vector<LayoutOptions> all_options() {
  using Blocks = LayoutOptions::Blocks;
  using Pieces = LayoutOptions::Pieces;
  std::vector<LayoutOptions> result;
  for (const Blocks blocks : {Blocks::original, Blocks::chain, Blocks::ext_tsp})
    for (const bool split : {false, true})
      for (const Pieces pieces :
           {Pieces::original, Pieces::place, Pieces::colour, Pieces::cache_sorted})
        result.push_back({.blocks = blocks, .split = split, .pieces = pieces});
  return result;
}

std::string name_of(const LayoutOptions& options) {
  return fmt::format("blocks {} split {} pieces {}", static_cast<int>(options.blocks),
                     options.split, static_cast<int>(options.pieces));
}

Program random_program(Random& random) {
  LayoutProgram p;
  for (uint32_t i = 1 + below(random, 8); i > 0; --i) {
    p.add_random_procedure(random, 1 + below(random, 15));
    glue(random, p.program.procedures.back(), 5);
    if (below(random, 4) != 0) continue;
    p.program.procedures.back().state = Procedure::State::pinned;
    p.program.procedures.back().reason = "a test";
  }
  return std::move(p.program);
}

void set_counts(Random& random, Program& program, int kind) {
  if (kind == 0) return;  // nothing ran
  if (kind == 1)
    for (Procedure& procedure : program.procedures) walk(random, procedure, 1 + below(random, 99));
  if (kind == 2) count_anything(random, program);
}

TEST(ProfiledLayout, HoldsEveryBlockOnceWhateverTheCounts) {
  Random random(3);
  for (int round = 0; round < 150; ++round) {
    Program program = random_program(random);
    ASSERT_EQ(find_violation(program), std::nullopt);
    set_counts(random, program, round % 3);
    if (below(random, 2) == 0) program.machine = &issuing_fake_machine();
    if (below(random, 3) == 0) program.machine = &far_reaching_fake_machine();
    for (const LayoutOptions& options : all_options())
      EXPECT_EQ(find_violation(program, profiled_layout(program, options)), std::nullopt)
          << "round " << round << ", " << name_of(options);
  }
}

TEST(ProfiledLayout, PutsColdCodeBehindHotCodeAndIdleCodeLast) {
  Random random(4);
  for (int round = 0; round < 100; ++round) {
    Program program = random_program(random);
    set_counts(random, program, 1 + round % 2);
    if (below(random, 2) == 0) program.machine = &far_reaching_fake_machine();
    for (const LayoutOptions& options : all_options()) {
      if (!options.split) continue;
      const uint64_t threshold = hot_threshold(program, options.cold_share);
      bool cold = false, idle = false;  // these blocks were seen
      for (const auto& fragment : profiled_layout(program, options).fragments)
        for (const BlockId b : fragment.blocks) {
          const BasicBlock& block = program[fragment.procedure].blocks[b];
          if (block.count >= threshold) {
            EXPECT_FALSE(cold) << "round " << round << ", " << name_of(options);
          }
          if (block.count != 0) {
            EXPECT_FALSE(idle) << "round " << round << ", " << name_of(options);
          }
          // Of two glued blocks, one may be hot and the other not.
          const bool glued =
              block.has(BasicBlock::kGluedToNext) ||
              (b > 0 && program[fragment.procedure].blocks[b - 1].has(BasicBlock::kGluedToNext));
          cold |= block.count < threshold && !glued;
          idle |= block.count == 0 && !glued;
        }
    }
  }
}

TEST(ProfiledLayout, KeepsTheOrderOfWhatNeverRan) {
  Random random(5);
  for (int round = 0; round < 20; ++round) {
    const Program program = random_program(random);
    for (const LayoutOptions& options : all_options()) {
      std::vector<ProcedureId> order;
      for (const auto& fragment : profiled_layout(program, options).fragments)
        order.push_back(fragment.procedure);
      EXPECT_TRUE(std::is_sorted(order.begin(), order.end())) << name_of(options);
      EXPECT_EQ(std::set(order.begin(), order.end()).size(), order.size()) << name_of(options);
    }
  }
}

/// A loop that calls g(), and an error path; h() never runs.
TEST(ProfiledLayout, PutsACalleeBesideTheLoopThatCallsIt) {
  Program program = parse_fake(R"(
procedure 0 "f" address=0x0 size=24
  block 0 at=0x0 size=4 count=1 entry
    0: add r1,r1,1
    -> 1 fall_through count=1
  block 1 at=0x4 size=4 count=1000
    4: bsr r0,r0,0 !branch(2#0)
    -> 2 fall_through count=1000
  block 2 at=0x8 size=4 count=1000
    8: beq r1,r0,0
    -> 3 fall_through count=0
    -> 4 taken count=1000
  block 3 at=0xc size=4
    c: halt
  block 4 at=0x10 size=4 count=1000
    10: bne r1,r0,0
    -> 5 fall_through count=1
    -> 1 taken count=999
  block 5 at=0x14 size=4 count=1
    14: ret r1,r0,0
procedure 1 "h" address=0x18 size=4
  block 0 at=0x18 size=4 entry
    18: ret r1,r0,0
procedure 2 "g" address=0x1c size=4
  block 0 at=0x1c size=4 count=1000 entry
    1c: ret r1,r0,0
range 0x0..0x18 procedure=0 blocks=0..6
range 0x18..0x1c procedure=1 blocks=0..1
range 0x1c..0x20 procedure=2 blocks=0..1
)");
  ASSERT_EQ(find_violation(program), std::nullopt);
  const Layout layout = profiled_layout(program, {.blocks = LayoutOptions::Blocks::ext_tsp,
                                                  .split = true,
                                                  .pieces = LayoutOptions::Pieces::colour});
  ASSERT_EQ(layout.fragments.size(), 4u);
  std::map<ProcedureId, std::set<BlockId>> hot;
  for (size_t i = 0; i < 2; ++i)
    for (const BlockId b : layout.fragments[i].blocks) hot[layout.fragments[i].procedure].insert(b);
  EXPECT_EQ(hot[0], (std::set<BlockId>{1, 2, 4}));
  EXPECT_EQ(hot[2], (std::set<BlockId>{0}));
  EXPECT_EQ(layout.fragments[2].procedure, 0u);
  EXPECT_EQ(layout.fragments[2].blocks, (std::vector<BlockId>{0, 5, 3}));  // 3 never ran
  EXPECT_EQ(layout.fragments[3].procedure, 1u);
}

/// The cold procedure a() calls c(), and b() ran less often than both.
TEST(ProfiledLayout, SortsColdCodeWhereBranchesReachAllCode) {
  Program program = parse_fake(R"(
procedure 0 "hot" address=0x0 size=4
  block 0 at=0x0 size=4 count=1000000 entry
    0: ret r1,r0,0
procedure 1 "b" address=0x4 size=4
  block 0 at=0x4 size=4 count=1 entry
    4: ret r1,r0,0
procedure 2 "a" address=0x8 size=8
  block 0 at=0x8 size=4 count=50 entry
    8: bsr r0,r0,0 !branch(4#0)
    -> 1 fall_through count=50
  block 1 at=0xc size=4 count=50
    c: ret r1,r0,0
procedure 3 "idle" address=0x10 size=4
  block 0 at=0x10 size=4 entry
    10: ret r1,r0,0
procedure 4 "c" address=0x14 size=4
  block 0 at=0x14 size=4 count=50 entry
    14: ret r1,r0,0
range 0x0..0x4 procedure=0 blocks=0..1
range 0x4..0x8 procedure=1 blocks=0..1
range 0x8..0x10 procedure=2 blocks=0..2
range 0x10..0x14 procedure=3 blocks=0..1
range 0x14..0x18 procedure=4 blocks=0..1
)");
  ASSERT_EQ(find_violation(program), std::nullopt);
  const auto order = [&] {
    std::vector<ProcedureId> result;
    for (const auto& fragment :
         profiled_layout(program, {.split = true, .pieces = LayoutOptions::Pieces::colour})
             .fragments)
      result.push_back(fragment.procedure);
    return result;
  };
  EXPECT_EQ(order(), (std::vector<ProcedureId>{0, 1, 2, 4, 3}));
  program.machine = &far_reaching_fake_machine();
  EXPECT_EQ(order(), (std::vector<ProcedureId>{0, 2, 4, 1, 3}));
}

constexpr LayoutOptions kPlaced = {
    .blocks = LayoutOptions::Blocks::chain, .split = true, .pieces = LayoutOptions::Pieces::place};

/// Procedures of one block, all equally hot; the first procedure calls one of the others. The call
/// is direct, or indirect and known from a profile.
TEST(ProfiledLayout, PutsCallersBesideTheirCallees) {
  for (const bool observed : {false, true})
    for (ProcedureId callee = 1; callee < 8; ++callee) {
      LayoutProgram p;
      p.add_procedure();
      p.add_block(3, observed ? "jsr" : "bsr");
      p.add_block(3, "ret");
      p.connect(0, 1, Edge::Kind::fall_through);
      for (int other = 1; other < 8; ++other) {
        p.add_procedure();
        p.add_block(3, "ret");
      }
      for (Procedure& procedure : p.program.procedures) {
        procedure.blocks[0].flags |= BasicBlock::kEntry;
        for (BasicBlock& block : procedure.blocks) block.count = 100;
      }
      p.program[0].blocks[0].successors[0].count = 100;
      if (observed) {
        p.program.observed_calls = {{.procedure = 0, .block = 0, .callee = callee}};
      } else {
        Instruction& call = p.program[0].blocks[0].instructions.back();
        call.flags |= Instruction::kHasReference;
        call.immediate = 0;
        p.program[0].references.push_back(
            {ReferenceKind::branch, {.procedure = callee, .block = 0}});
      }
      std::vector<ProcedureId> order;
      for (const auto& fragment : profiled_layout(p.program, kPlaced).fragments)
        order.push_back(fragment.procedure);
      const auto place = [&](ProcedureId id) {
        return std::find(order.begin(), order.end(), id) - order.begin();
      };
      EXPECT_EQ(std::abs(place(0) - place(callee)), 1) << observed << ' ' << callee;
    }
}

/// If branches might not reach from one end to the other, hot code is in the middle, and the cold
/// parts of hot procedures are next to it.
TEST(ProfiledLayout, PutsHotCodeIntoTheMiddleOfVeryMuchCode) {
  LayoutProgram p;
  const uint64_t reach = p.program.machine->branches.reach;
  constexpr int kProcedures = 40;
  const size_t plain = reach / kProcedures / 4;
  for (int id = 0; id < kProcedures; ++id) {
    p.add_procedure();
    p.add_block(1, "ret");
    p.add_block(plain, "ret");
    p.program.procedures.back().blocks[0].flags |= BasicBlock::kEntry;
    if (id % 4 == 0) p.program.procedures.back().blocks[0].count = 100;
  }
  const Layout layout = profiled_layout(p.program, kPlaced);
  ASSERT_EQ(find_violation(p.program, layout), std::nullopt);
  uint64_t before = 0, behind = 0;
  bool hot_seen = false;
  std::string kinds;  // h: hot, o: cold part of a procedure with a hot one, c: others
  for (const auto& fragment : layout.fragments) {
    uint64_t size = 0;
    for (const BlockId b : fragment.blocks)
      size += code_size(*p.program.machine, p.program[fragment.procedure].blocks[b]);
    const bool own = fragment.procedure % 4 == 0;
    const bool hot = own && fragment.blocks.front() == 0;
    hot_seen |= hot;
    if (!hot) (hot_seen ? behind : before) += size;
    const char kind = hot ? 'h' : own ? 'o' : 'c';
    if (kinds.empty() || kinds.back() != kind) kinds += kind;
  }
  EXPECT_EQ(kinds, "cohoc");
  EXPECT_NEAR(static_cast<double>(before), static_cast<double>(behind), 0.1 * (before + behind));
}

/// Two loops take turns with the procedures that they call, in more code than the cache holds.
TEST(ProfiledLayout, RowsForTheCacheStartAtItsLines) {
  LayoutProgram p;
  Random random(6);
  for (int id = 0; id < 12; ++id) p.add_random_procedure(random, 12);
  for (Procedure& procedure : p.program.procedures) walk(random, procedure, 50);
  const Layout layout = profiled_layout(p.program, {.blocks = LayoutOptions::Blocks::ext_tsp,
                                                    .split = true,
                                                    .pieces = LayoutOptions::Pieces::colour});
  const uint32_t line = p.program.machine->icache.line;
  const auto aligned =
      std::count_if(layout.fragments.begin(), layout.fragments.end(),
                    [&](const auto& fragment) { return fragment.start.alignment == line; });
  EXPECT_GE(aligned, 1);
  EXPECT_EQ(layout.fragments.front().start.alignment, line);
}

/// ext-TSP would take quadratic time for these blocks.
TEST(ProfiledLayout, VeryLargeProceduresAreChainedGreedily) {
  LayoutProgram p;
  Random random(7);
  p.add_random_procedure(random, 3000);
  for (BasicBlock& block : p.program.procedures[0].blocks) {
    block.count = 1 + below(random, 1000);
    for (Edge& edge : block.successors) edge.count = 1 + below(random, 1000);
  }
  const auto blocks_of = [&](LayoutOptions::Blocks blocks) {
    return profiled_layout(p.program, {.blocks = blocks}).fragments.at(0).blocks;
  };
  EXPECT_EQ(blocks_of(LayoutOptions::Blocks::ext_tsp), blocks_of(LayoutOptions::Blocks::chain));
}

}  // namespace
}  // namespace respike

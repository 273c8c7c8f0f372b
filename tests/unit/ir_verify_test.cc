// One broken program for each invariant; good programs are accepted.

#include "optimizer/check/invariants.h"

#include <gtest/gtest.h>

#include "optimizer/ir/text/text.h"
#include "tests/unit/fake_machine.h"

namespace respike {
namespace {

constexpr std::string_view kGood = R"(program fake
gp 0x8000
cie 0 initial_state=0
state 0 cie=0 cfa=30+0
lsda 0
range 0x0..0x40 procedure=0 blocks=0..5
range 0x40..0x50 procedure=1 blocks=0..1
code_pointer 0x1000 address64 0#2
code_pointer 0x1008 gp_relative32 0x9000 base=0x8000

procedure 0 "main" size=0x40
  jump_table 0x1000 entries=1 jump=3
  call_site 0 lsda=0 landing_pad=4 action=1
  block 0 at=0x0 size=0xc cfi=0 call_site=0 entry
    high r1,r2,0 !gp_load_high!0(0#0)
    low r1,r1,0 !gp_load_high!0(0#0)
    bsr r1,r0,8 !branch!1(1#0)
    -> 1 fall_through
    -> 4 landing_pad
  block 1 at=0xc size=0x8 cfi=0
    .cfi_state -1
    ll r1,r2,0
    beq r1,r0,10
    -> 2 fall_through
    -> 3 taken
  block 2 at=0x14 size=0x8 address_taken
    add r1,r1,1
    br r0,r0,18
    -> 0 taken
  block 3 at=0x1c size=0x4
    jmp r1,r0,0 !branch_hint!2(1#0)
    -> 2 indirect
  block 4 at=0x20 size=0x4 landing_pad
    halt

procedure 1 "f" address=0x40 size=0x10
  block 0 at=0x40 size=0x4 entry
    ret r1,r0,0
)";

std::string violation(std::string_view text) {
  return find_violation(parse_program(text, fake_machine())).value_or("");
}

/// The violation in the good program after the first `from` is replaced.
std::string violation_with(std::string_view from, std::string_view to) {
  std::string text(kGood);
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  return violation(text);
}

TEST(Verify, AcceptsAGoodProgram) {
  EXPECT_EQ(violation(kGood), "");
}

TEST(Verify, EdgesAndEndings) {
  EXPECT_EQ(violation_with("-> 3 taken", "-> 9 taken"),
            "procedure 0 (main), block 1: an edge leads to block 9, which does not exist");
  EXPECT_EQ(violation_with("    -> 3 taken\n", ""),
            "procedure 0 (main), block 1: its conditional branch needs one fall-through edge and "
            "either a taken edge or a reference");
  EXPECT_EQ(violation_with("-> 0 taken", "-> 0 fall_through"),
            "procedure 0 (main), block 2: its branch needs either a taken edge or a reference, and "
            "no other edge");
  EXPECT_EQ(violation_with("    br r0,r0,18\n", ""),
            "procedure 0 (main), block 2: it ends without a branch and needs one fall-through edge "
            "and no other");
  EXPECT_EQ(violation_with("-> 2 indirect", "-> 2 taken"),
            "procedure 0 (main), block 3: its indirect jump has an edge that is not indirect");
  EXPECT_EQ(
      violation_with("    halt\n", "    halt\n    -> 1 taken\n"),
      "procedure 0 (main), block 4: its stop needs at most one fall-through edge and no other");
  EXPECT_EQ(violation_with("    halt\n", "    halt\n    -> 3 fall_through\n"), "");  // of a handler
  EXPECT_EQ(violation_with("    ret r1,r0,0\n", "    ret r1,r0,0\n    -> 0 taken\n"),
            "procedure 1 (f), block 0: nothing follows its last instruction, but it has an edge");
  EXPECT_EQ(violation_with("-> 1 fall_through", "-> 1 taken"),
            "procedure 0 (main), block 0: its call needs at most one fall-through and one "
            "landing-pad edge and no other");
  EXPECT_EQ(violation_with("    -> 1 fall_through\n", ""), "");  // a call that does not return
  EXPECT_EQ(
      violation_with("    add r1,r1,1\n", "    halt\n"),
      "procedure 0 (main), block 2: instruction 0 changes the flow of control, but is not the "
      "last");
}

TEST(Verify, TailBranchesHaveReferencesInsteadOfEdges) {
  EXPECT_EQ(violation_with("18\n    -> 0 taken", "18 !branch!3(1#0)"), "");
  EXPECT_EQ(violation_with("10\n    -> 2 fall_through\n    -> 3 taken",
                           "10 !branch!3(1#0)\n    -> 2 fall_through"),
            "");
  EXPECT_NE(violation_with("18\n", "18 !branch!3(1#0)\n"), "");
}

TEST(Verify, LandingPads) {
  EXPECT_EQ(violation_with("    -> 4 landing_pad\n", ""),
            "procedure 0 (main), block 0: its landing-pad edge and its call site do not say the "
            "same");
  EXPECT_EQ(
      violation_with("0x4 landing_pad", "0x4"),
      "procedure 0 (main): call site 0 lands at block 4, which is not marked as a landing pad");
  EXPECT_EQ(violation_with("landing_pad=4", "landing_pad=7"),
            "procedure 0 (main): call site 0 names a landing pad that does not exist");
  EXPECT_EQ(violation_with("lsda=0", "lsda=1"),
            "procedure 0 (main): call site 0 names an LSDA that does not exist");
  EXPECT_EQ(violation_with("call_site=0 entry", "call_site=1 entry"),
            "procedure 0 (main), block 0: its call site 1 does not exist");
}

TEST(Verify, References) {
  EXPECT_EQ(violation_with("!branch!1(1#0)", "!branch!1(2#0)"),
            "procedure 0 (main): reference 1 is to a procedure that does not exist");
  EXPECT_EQ(violation_with("!branch!1(1#0)", "!branch!1(1#1)"),
            "procedure 0 (main): reference 1 is to a block that does not exist");
  EXPECT_EQ(violation_with("!branch!1(1#0)", "!gp_low!1(1#0)"),
            "procedure 0 (main), block 0: the kind of reference 1 does not fit its instruction");
  EXPECT_EQ(violation_with("r0,8 !branch!1(1#0)\n    -> 1 fall_through",
                           "r0,8\n    -> 1 fall_through\n  reference 1 branch 1#0"),
            "procedure 0 (main), block 0: its call has no reference");
  EXPECT_EQ(violation_with("add r1,r1,1", "low r1,r1,1 !gp_high!3(0#2)"),
            "procedure 0 (main), block 2: reference 3 is for the other half of an address");
  EXPECT_EQ(violation_with("add r1,r1,1", "low r1,r1,1 !gp_load_high!0(0#0)"),
            "procedure 0 (main), block 2: reference 0 belongs to too many instructions");
  EXPECT_EQ(violation_with("gp 0x8000\n", ""),
            "procedure 0 (main), block 0: reference 0 is relative to a gp that nobody knows");
  EXPECT_EQ(violation_with("    ret r1,r0,0", "    br r1,r0,0 !branch(0#3)"),
            "procedure 1 (f), block 0: reference 0 is to procedure 0 (main), block 3, which is not "
            "marked as address-taken");
}

TEST(Verify, TablesOfTheProgram) {
  EXPECT_EQ(violation_with("size=0x8 address_taken", "size=0x8"),
            "the code pointer at 0x1000 refers to procedure 0 (main), block 2, which is not marked "
            "as address-taken");
  EXPECT_EQ(violation_with("0x1008", "0x1000"),
            "the code pointer at 0x1000 is out of order or given twice");
  EXPECT_EQ(violation_with("gp_relative32", "gp_low"),
            "the code pointer at 0x1008 has a kind that only instructions have");
  EXPECT_EQ(violation_with("cie=0", "cie=1"), "unwind state 0 names a CIE that does not exist");
  EXPECT_EQ(violation_with("initial_state=0", "initial_state=1"),
            "CIE 0 names an initial state that does not exist");
  EXPECT_EQ(violation_with("cfi=0", "cfi=1"),
            "procedure 0 (main), block 0: its unwind state 1 does not exist");
  EXPECT_EQ(violation_with(".cfi_state -1", ".cfi_state 1"),
            "procedure 0 (main), block 1: instruction 0 sets unwind state 1, which does not exist");
  EXPECT_EQ(violation_with("blocks=0..5", "blocks=0..6"),
            "code range 0x0..0x40 names blocks that do not exist");
  EXPECT_EQ(violation_with("0x40..0x50", "0x30..0x50"),
            "code range 0x30..0x50 overlaps its predecessor or is negative");
  EXPECT_EQ(violation_with("at=0x14", "at=0x10"),
            "procedure 0 (main), block 2: it overlaps the block before it in the input");
  EXPECT_EQ(violation_with("at=0x20 size=0x4", "at=0x20 size=0x40"),
            "procedure 0 (main), block 4: it lies outside of its code range");
  EXPECT_EQ(violation_with("size=0xc cfi=0 call_site=0 entry", "size=0xc cfi=0 call_site=0"),
            "procedure 0 (main), block 0: it is the entry, but not marked as one");
  EXPECT_EQ(violation_with("\"main\" size", "\"main\" address=0x80 size"),
            "procedure 1 (f) comes before its place in address order");
}

TEST(Verify, JumpTables) {
  EXPECT_EQ(violation_with("entries=1", "entries=2"),
            "procedure 0 (main): the jump table at 0x1000 has an entry, 1, that leads where its "
            "jump does not");
  EXPECT_EQ(violation_with("-> 2 indirect", "-> 3 indirect"),
            "procedure 0 (main): the jump table at 0x1000 has an entry, 0, that leads where its "
            "jump does not");
  EXPECT_EQ(violation_with("entries=1", "entries=3"),
            "procedure 0 (main): the jump table at 0x1000 has entries that are no code pointers");
  EXPECT_EQ(violation_with("jump=3", "jump=5"),
            "procedure 0 (main): the jump table at 0x1000 belongs to a block that does not exist");
  EXPECT_EQ(violation_with("entries=1 jump=3", "entries=3"), "");
}

TEST(Verify, OpaqueProceduresMayEndAnyhow) {
  std::string text(kGood);
  text.replace(text.find("    br r0,r0,18\n    -> 0 taken\n"), 31, "");
  EXPECT_NE(violation(text), "");
  text.replace(text.find("size=0x40"), 9, "size=0x40 opaque reason=\"odd\"");
  EXPECT_EQ(violation(text), "");
  text.replace(text.find(" reason=\"odd\""), 13, "");
  EXPECT_EQ(violation(text), "procedure 0 (main) may not be moved, but has no reason for it");
}

constexpr std::string_view kSequence = R"(program fake
procedure 0 "lock"
  block 0 entry
    ll r1,r2,0
    beq r1,r0,0
    -> 1 fall_through
    -> 3 taken
  block 1 glued
    add r1,r1,1
    -> 2 fall_through
  block 2
    sc r1,r2,0
    -> 3 fall_through
  block 3
    fadd r1,r2,0
    -> 4 fall_through
  block 4
    bne r1,r0,0
    -> 5 fall_through
    -> 0 taken
  block 5
    ret r1,r0,0
)";

TEST(Verify, SequenceThatRunsIntoTheEntry) {
  const std::string text =
      "program fake\nprocedure 0 \"lock\"\nblock 0 entry\nsc r1,r2,0\nret r1,r0,0\n"
      "block 1\nll r1,r2,0\n-> 0 fall_through\n";
  EXPECT_EQ(violation(text),
            "procedure 0 (lock), block 1: it lies inside an untouchable sequence that begins in "
            "block 1, but is not glued to its successor");
}

TEST(Verify, UntouchableSequences) {
  std::string text(kSequence);
  EXPECT_EQ(violation(text),
            "procedure 0 (lock), block 0: it lies inside an untouchable sequence that begins in "
            "block 0, but is not glued to its successor");
  text.replace(text.find("block 0 entry"), 13, "block 0 entry glued");
  EXPECT_EQ(violation(text), "");  // the shadow has no end
  text.replace(text.find("    ret"), 7, "    trapb\n    ret");
  EXPECT_EQ(violation(text),
            "procedure 0 (lock), block 3: it lies inside an untouchable sequence that begins in "
            "block 3, but is not glued to its successor");
  text.replace(text.find("block 3\n"), 8, "block 3 glued\n");
  text.replace(text.find("block 4\n"), 8, "block 4 glued\n");
  EXPECT_EQ(violation(text), "");
  text.replace(text.find("-> 5 fall_through"), 17, "-> 2 fall_through");
  EXPECT_EQ(violation(text),
            "procedure 0 (lock), block 4: it is glued to block 2, and so is another block");
}

std::string layout_violation(std::vector<Layout::Fragment> fragments) {
  std::string text(kGood);
  text.replace(text.find("size=0x8 address_taken"), 22, "size=0x8 address_taken glued");
  text.replace(text.find("-> 0 taken"), 10, "-> 3 fall_through");
  text.replace(text.find("    br r0,r0,18\n"), 16, "");
  text += R"(
procedure 2 "stays" address=0x60 pinned reason="a test"
  block 0 entry
    halt
)";
  const Program program = parse_program(text, fake_machine());
  EXPECT_EQ(find_violation(program).value_or(""), "");
  return find_violation(program, Layout{std::move(fragments)}).value_or("");
}

TEST(Verify, Layouts) {
  EXPECT_EQ(layout_violation({{0, {4, 0}}, {1, {0}, 16}, {0, {2, 3, 1}}}), "");
  EXPECT_EQ(layout_violation({{0, {0, 1, 2, 3, 4}}}),
            "procedure 1 (f), block 0: the layout has no place for it");
  EXPECT_EQ(layout_violation({{0, {0, 1, 2, 3, 4, 1}}, {1, {0}}}),
            "procedure 0 (main), block 1: the layout places it twice");
  EXPECT_EQ(layout_violation({{0, {0, 2, 1, 3, 4}}, {1, {0}}}),
            "procedure 0 (main), block 2: it is glued to block 3, but the layout parts them");
  EXPECT_EQ(layout_violation({{0, {0, 1, 2}}, {0, {3, 4}}, {1, {0}}}),
            "procedure 0 (main), block 2: it is glued to block 3, but the layout parts them");
  EXPECT_EQ(layout_violation({{2, {0}}}),
            "procedure 2 (stays), block 0: the layout moves it, but its procedure must stay");
  EXPECT_EQ(layout_violation({{3, {0}}}),
            "the layout has a fragment of procedure 3, which does not exist");
  EXPECT_EQ(layout_violation({{1, {1}}}),
            "procedure 1 (f), block 1: the layout places it, but it does not exist");
  EXPECT_EQ(layout_violation({{1, {0}, 3}}),
            "procedure 1 (f), block 0: the alignment of its fragment is not a power of two");
  EXPECT_EQ(layout_violation({{0, {4, 0}}, {1, {0}, 16, 12}, {0, {2, 3, 1}}}), "");
  EXPECT_EQ(layout_violation({{1, {0}, 16, 16}}),
            "procedure 1 (f), block 0: the phase of its fragment is not below the alignment");
}

}  // namespace
}  // namespace respike

// The call graph, and where the global pointer is valid.

#include <gtest/gtest.h>

#include "optimizer/analysis/call_graph.h"
#include "optimizer/analysis/gp_validity.h"
#include "tests/unit/analysis_testing.h"

namespace respike {
namespace {

using Outside = CallGraph::Outside;

TEST(CallGraph, KnowsCallsOfAllKinds) {
  const Program program = parse_alpha(R"(
procedure 0 "main"
  block 0 entry
    bsr ra,0 !branch(1#0)
    -> 1 fall_through
  block 1
    jsr ra,(t12),0
    -> 2 fall_through
  block 2
    jsr t9,(t12),0
    -> 3 fall_through
  block 3
    beq v0,0 !branch(2#1)
    -> 4 fall_through
  block 4
    bsr t9,0 !branch(2#0)
    -> 5 fall_through
  block 5
    jmp (t12)
procedure 1 "f"
  block 0 entry
    jmp (t0)
procedure 2 "g"
  block 0 entry
    beq a0,0
    -> 1 fall_through
    -> 1 taken
  block 1
    br 0 !branch(1#0)
)");
  const CallGraph graph(program);
  const auto calls = graph.calls_of(0);
  ASSERT_EQ(calls.size(), 6u);
  const auto is = [](const Call& call, ProcedureId callee, Call::Kind kind, bool standard) {
    return call.callee == callee && call.kind == kind && call.standard == standard;
  };
  EXPECT_TRUE(is(calls[0], 1, Call::Kind::call, true));
  EXPECT_TRUE(is(calls[1], kNone, Call::Kind::call, true));
  EXPECT_TRUE(is(calls[2], kNone, Call::Kind::call, false));
  EXPECT_TRUE(is(calls[3], 2, Call::Kind::tail, true));
  EXPECT_TRUE(is(calls[4], 2, Call::Kind::call, false));
  EXPECT_TRUE(is(calls[5], kNone, Call::Kind::tail, true));
  EXPECT_TRUE(is(graph.calls_of(1)[0], kNone, Call::Kind::tail, false));
  EXPECT_EQ(graph.callers_of(1).size(), 2u);
  EXPECT_EQ(std::vector(graph.entries_of(2).begin(), graph.entries_of(2).end()),
            (std::vector<BlockId>{0, 1}));
  EXPECT_EQ(graph.outside(0), Outside::standard);  // no code calls it
  EXPECT_EQ(graph.outside(1), Outside::none);
  EXPECT_EQ(graph.outside(2), Outside::none);
  const auto order = graph.bottom_up();
  EXPECT_EQ(std::vector(order.begin(), order.end()), (std::vector<ProcedureId>{1, 2, 0}));
}

TEST(CallGraph, FindsRecursion) {
  const Program program = parse_alpha(R"(
procedure 0 "a"
  block 0 entry
    br 0 !branch(1#0)
procedure 1 "b"
  block 0 entry
    br 0 !branch(2#0)
procedure 2 "c"
  block 0 entry
    bsr ra,0 !branch(1#0)
    -> 1 fall_through
  block 1
    br 0 !branch(3#0)
procedure 3 "d"
  block 0 entry
    ret
)");
  const CallGraph graph(program);
  EXPECT_EQ(graph.components()[1], graph.components()[2]);
  EXPECT_LT(graph.components()[3], graph.components()[2]);
  EXPECT_LT(graph.components()[2], graph.components()[0]);
}

TEST(CallGraph, TellsLabelsFromEntries) {
  const Program program = parse_alpha(R"(
code_pointer 0x100 address64 0#1
code_pointer 0x108 address64 0#2
code_pointer 0x110 address64 1#0
procedure 0 "f"
  block 0 entry
    jmp (t0)
    -> 1 indirect
  block 1 address_taken
    bsr ra,0 !branch(0#0)
    -> 2 fall_through
  block 2 address_taken
    ret
procedure 1 "g"
  block 0 entry
    bsr ra,0 !branch(1#0)
    -> 1 fall_through
  block 1
    ret
procedure 2 "h"
  block 0 entry
    ldah t0,0(gp) !gp_high(3#0)
    lda t0,0(t0) !gp_low(3#0)
    bsr ra,0 !branch(0#0)
    -> 1 fall_through
  block 1
    bsr ra,0 !branch(3#0)
    -> 2 fall_through
  block 2
    bsr ra,0 !branch(4#0)
procedure 3 "i"
  block 0 entry
    ret
procedure 4 "j"
  block 0 entry
    ret
)");
  const CallGraph graph(program);
  // Block 1 is a label; the address of block 2 is kept for an unknown reason.
  EXPECT_EQ(std::vector(graph.outside_entries_of(0).begin(), graph.outside_entries_of(0).end()),
            (std::vector<BlockId>{2}));
  EXPECT_EQ(graph.outside(1), Outside::standard);
  EXPECT_EQ(graph.outside(3), Outside::standard);
  EXPECT_EQ(graph.outside(4), Outside::none);
}

TEST(CallGraph, KeepsComputedGotosInsideWhileThereIsAFrame) {
  // The text form has no way to say that a jump may leave.
  const auto leaves = [](uint32_t state) {
    Program program = parse_alpha(R"(
cie 0 augmentation="zR" return_register=26
state 0 cie=0 cfa=30+0
state 1 cie=0 cfa=30+32
procedure 0 "f"
  block 0 cfi=0 entry
    unop
    -> 1 fall_through
  block 1
    jmp (t0)
    -> 1 indirect
)");
    BasicBlock& jump = program[0].blocks[1];
    jump.cfi_state = state;
    jump.flags |= BasicBlock::kMayLeave;
    return !CallGraph(program).calls().empty();
  };
  EXPECT_FALSE(leaves(1));
  EXPECT_TRUE(leaves(0));
  EXPECT_TRUE(leaves(kNone));
}

/// gp loads before procedure `p`.
std::string load(int p) {
  const std::string reference = "!0(" + std::to_string(p) + "#0)\n";
  return "    ldah gp,0(t12) !gp_load_high" + reference + "    lda gp,0(gp) !gp_load_high" +
         reference;
}

struct Valid {
  Program program;
  CallGraph calls;
  GpValidity gp;
  explicit Valid(Program&& parsed)
      : program(std::move(parsed)), calls(program), gp(program, calls) {}
  explicit Valid(const std::string& text) : Valid(parse_alpha(text)) {}
  bool at(ProcedureId p, BlockId b, uint32_t i = 0) const {
    EXPECT_EQ(gp.at_start(p, b), gp.before(p, b, 0));
    EXPECT_EQ(gp.valid_points(p, b)[i], gp.before(p, b, i));
    return gp.before(p, b, i);
  }
};

TEST(GpValidity, FollowsLoadsAndCalls) {
  const Valid v("procedure 0 \"main\" gp=0x10000\n  block 0 entry\n" + load(0) + R"(
    -> 1 fall_through
  block 1
    bsr ra,0 !branch(1#1)
    -> 2 fall_through
  block 2
    jsr ra,(t12),0
    -> 3 fall_through
  block 3
    ldah gp,0(ra) !gp_load_high!2(0#2@return)
    mov t0,t1
    lda gp,0(gp) !gp_load_high!2(0#2@return)
    jsr t9,(t12),0
    -> 4 fall_through
  block 4
    ldq t0,16(gp)
    bsr ra,0 !branch(2#0)
    -> 5 fall_through
  block 5
    bsr ra,0 !branch(3#0)
    -> 6 fall_through
  block 6
    ret
procedure 1 "callee" gp=0x10000
  block 0 entry
)" + load(1) + R"(
    -> 1 fall_through
  block 1
    ldq t0,8(gp)
    ret
procedure 2 "leaf" gp=0x10000
  block 0 entry
    ret
procedure 3 "other" gp=0x20000
  block 0 entry
    ret
code_pointer 0x100 address64 1#0
)");
  EXPECT_FALSE(v.at(0, 0));
  EXPECT_FALSE(v.at(0, 0, 1));
  EXPECT_TRUE(v.at(0, 0, 2));
  EXPECT_TRUE(v.at(0, 1));
  EXPECT_TRUE(v.at(0, 2));   // the callee has the same gp
  EXPECT_FALSE(v.at(0, 3));  // after an unknown call
  EXPECT_FALSE(v.at(0, 3, 2));
  EXPECT_TRUE(v.at(0, 3, 3));
  EXPECT_TRUE(v.at(0, 4));  // the code relies on it
  EXPECT_TRUE(v.at(0, 5));
  EXPECT_FALSE(v.at(0, 6));  // the callee has another gp
  EXPECT_FALSE(v.at(1, 0));
  EXPECT_TRUE(v.at(1, 1));
  EXPECT_TRUE(v.at(2, 0));  // its only caller has gp
  EXPECT_FALSE(v.at(3, 0));
}

TEST(GpValidity, NeedsKnownCallersWhereNothingIsLoaded) {
  const std::string text = "procedure 0 \"f\" gp=0x10000\n  block 0 entry\n" + load(0) + R"(
    bsr ra,0 !branch(1#0)
    -> 1 fall_through
  block 1
    ret
procedure 1 "leaf" gp=0x10000
  block 0 entry
    br 0 !branch(2#0)
procedure 2 "tail" gp=0x10000
  block 0 entry
    mov a0,t0
    ret
)";
  EXPECT_TRUE(Valid(text).at(1, 0));
  EXPECT_TRUE(Valid(text).at(2, 0));
  EXPECT_TRUE(Valid(text).at(0, 1));
  const std::string taken = "code_pointer 0x100 address64 1#0\n" + text;
  EXPECT_FALSE(Valid(taken).at(1, 0));
  EXPECT_FALSE(Valid(taken).at(2, 0));
  EXPECT_TRUE(Valid(taken).at(0, 1));  // it still leaves gp alone
}

TEST(GpValidity, LosesWhatIsOverwritten) {
  const Valid v("procedure 0 \"f\" gp=0x10000\n  block 0 entry\n" + load(0) + R"(
    bsr ra,0 !branch(1#0)
    -> 1 fall_through
  block 1
    beq a0,0
    -> 2 fall_through
    -> 3 taken
  block 2
    mov t0,gp
    -> 3 fall_through
  block 3
    ret
procedure 1 "spoils" gp=0x10000
  block 0 entry
    beq a0,0
    -> 1 fall_through
    -> 2 taken
  block 1
    mov t0,gp
    -> 2 fall_through
  block 2
    ret
)");
  EXPECT_TRUE(v.at(1, 0));
  EXPECT_TRUE(v.at(1, 1));
  EXPECT_FALSE(v.at(1, 2));
  EXPECT_FALSE(v.at(0, 1));
}

TEST(GpValidity, AssumesNothingOfLandingPads) {
  const Valid v("lsda 0\nprocedure 0 \"f\" gp=0x10000\n  call_site 0 lsda=0 landing_pad=2\n" +
                std::string("  block 0 call_site=0 entry\n") + load(0) + R"(
    bsr ra,0 !branch(1#0)
    -> 1 fall_through
    -> 2 landing_pad
  block 1
    ret
  block 2 landing_pad
    ret
procedure 1 "g" gp=0x10000
  block 0 entry
    ret
)");
  EXPECT_TRUE(v.at(0, 1));
  EXPECT_FALSE(v.at(0, 2));
}

TEST(GpValidity, KnowsNothingOfOpaqueProcedures) {
  const Valid v("procedure 0 \"f\" gp=0x10000 opaque\n  block 0 entry\n" + load(0) + R"(
    bsr ra,0 !branch(1#0)
    -> 1 fall_through
  block 1
    ret
procedure 1 "g" gp=0x10000
  block 0 entry
    ret
)");
  EXPECT_FALSE(v.at(0, 1));
  EXPECT_FALSE(v.at(1, 0));
}

/// A procedure of Itanium that unknown code may call.
struct Copies : Valid {
  explicit Copies(const std::string& blocks)
      : Valid(parse_program("program ia64\ncode_pointer 0x100 address64 0#0\n"
                            "procedure 0 \"f\" gp=0x10000\n  block 0 entry\n" +
                                blocks,
                            ia64_machine())) {}
};

TEST(GpValidity, TakesBackWhatItCopiedToItsFrame) {
  const Copies v(R"(
    alloc r34=ar.pfs,6,4,0
    mov r35=r1
    br.call.sptk.many b0=b6
    -> 1 fall_through
  block 1
    mov r1=r35
    mov r36=r1
    br.call.sptk.many b0=b6
    -> 2 fall_through
  block 2
    (p6) mov r1=r35
    mov r1=r35
    mov r1=r33
    mov r1=r36
    br.ret.sptk.many b0
)");
  EXPECT_TRUE(v.at(0, 0));
  EXPECT_TRUE(v.at(0, 0, 3));
  EXPECT_FALSE(v.at(0, 1));
  EXPECT_TRUE(v.at(0, 1, 1));
  EXPECT_FALSE(v.at(0, 2));
  EXPECT_FALSE(v.at(0, 2, 1));  // not known to hold a copy
  EXPECT_TRUE(v.at(0, 2, 2));
  EXPECT_FALSE(v.at(0, 2, 3));  // r33 never held a copy
  EXPECT_FALSE(v.at(0, 2, 4));  // r36 is an output: the callee may have changed it
}

TEST(GpValidity, CopiesMustHoldItOnAllPaths) {
  const Copies v(R"(
    alloc r34=ar.pfs,6,4,0
    mov r35=r1
    (p6) br.cond.sptk.few 0
    -> 1 fall_through
    -> 2 taken
  block 1
    ld8 r35=[r33]
    -> 2 fall_through
  block 2
    mov r1=r35
    br.ret.sptk.many b0
)");
  EXPECT_TRUE(v.at(0, 2));
  EXPECT_FALSE(v.at(0, 2, 1));
}

TEST(GpValidity, CopiesArePartOfAFrame) {
  const Copies early(R"(
    mov r33=r1
    alloc r34=ar.pfs,6,4,0
    br.call.sptk.many b0=b6
    -> 1 fall_through
  block 1
    mov r1=r33
    br.ret.sptk.many b0
)");
  EXPECT_FALSE(early.at(0, 1, 1));
  const Copies rotating(R"(
    alloc r2=ar.pfs,24,24,8
    mov r35=r1
    mov r45=r1
    br.call.sptk.many b0=b6
    -> 1 fall_through
  block 1
    mov r1=r35
    mov r1=r45
    alloc r2=ar.pfs,2,0,0
    br.cond.sptk.few b6
)");
  EXPECT_FALSE(rotating.at(0, 1, 1));
  EXPECT_TRUE(rotating.at(0, 1, 2));
  EXPECT_TRUE(rotating.at(0, 1, 3));
}

TEST(GpValidity, SeesThatTheRegisterHoldsAClosure) {
  const Copies trampoline(R"(
    ld8 r2=[r1],8
    ld8 r15=[r1]
    br.cond.sptk.few b6
)");
  EXPECT_FALSE(trampoline.at(0, 0));
  const Copies adding(R"(
    alloc r34=ar.pfs,6,4,0
    mov r36=r1
    adds r1=16,r1
    ld8 r1=[r1]
    br.call.sptk.many b0=0 !branch(1#0)
    -> 1 fall_through
  block 1
    br.ret.sptk.many b0
procedure 1 "called without gp" gp=0x10000
  block 0 entry
    br.ret.sptk.many b0
)");
  EXPECT_FALSE(adding.at(0, 0));
  EXPECT_FALSE(adding.at(1, 0));
  const Copies copied(R"(
    alloc r34=ar.pfs,6,4,0
    mov r33=r1
    ld8 r14=[r33]
    br.ret.sptk.many b0
)");
  EXPECT_FALSE(copied.at(0, 0));
  const Copies spilled(R"(
    adds r14=16,r12
    st8 [r14]=r1
    addl r15=400,r1
    adds r1=16,r12
    ld8 r1=[r1]
    br.ret.sptk.many b0
)");
  EXPECT_TRUE(spilled.at(0, 0));
  EXPECT_TRUE(spilled.at(0, 0, 3));
  EXPECT_FALSE(spilled.at(0, 0, 5));  // from memory
}

TEST(GpValidity, KeepsCopiesAtLandingPads) {
  const Valid v(parse_program(R"(program ia64
lsda 0
procedure 0 "f" gp=0x10000
  call_site 0 lsda=0 landing_pad=2
  block 0 entry
    alloc r34=ar.pfs,6,4,0
    mov r35=r1
    -> 1 fall_through
  block 1 call_site=0
    br.call.sptk.many b0=b6
    -> 3 fall_through
    -> 2 landing_pad
  block 2 landing_pad
    mov r1=r35
    -> 3 fall_through
  block 3
    br.ret.sptk.many b0
)",
                              ia64_machine()));
  EXPECT_FALSE(v.at(0, 2));
  EXPECT_TRUE(v.at(0, 2, 1));
}

}  // namespace
}  // namespace respike

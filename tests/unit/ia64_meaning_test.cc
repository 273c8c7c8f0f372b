// Tests what Itanium instructions read and write, and how they change the flow of control, case by
// case. ia64_assembler_test.cc compares all rows with the assembler.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "optimizer/machine/ia64/meaning.h"
#include "optimizer/machine/ia64/text.h"

namespace respike::ia64 {
namespace {

Instruction one(std::string_view text) {
  return parse(text, 0).instruction;
}

/// "r2 r3 > r14", in the order of numbers.
std::string registers(std::string_view text) {
  const Operands found = operands(one(text));
  std::string result;
  const auto add = [&](const Register* first, const Register* last) {
    std::vector<Register> list(first, last);
    std::ranges::sort(list);
    for (Register r : list) result += (result.empty() ? "" : " ") + register_name(r);
  };
  add(found.registers, found.registers + found.uses);
  result += " >";
  add(found.registers + found.uses, found.registers + found.size);
  return result;
}

TEST(Ia64Meaning, ReadsAndWritesWhatTheSyntaxSays) {
  EXPECT_EQ(registers("add r14=r2,r3"), "r2 r3 > r14");
  EXPECT_EQ(registers("mov r14=0"), " > r14");
  EXPECT_EQ(registers("ld8 r14=[r2]"), "r2 > r14");
  EXPECT_EQ(registers("ld8 r14=[r2],8"), "r2 > r2 r14");
  EXPECT_EQ(registers("st8 [r2]=r3,8"), "r2 r3 > r2");
  EXPECT_EQ(registers("fma.d.s0 f8=f9,f10,f11"), "f9 f10 f11 ar.fpsr > f8 ar.fpsr");
  EXPECT_EQ(registers("fadd.d.s0 f8=f9,f0"), "f9 ar.fpsr > f8 ar.fpsr");
  EXPECT_EQ(registers("setf.sig f8=r0"), " > f8");
  EXPECT_EQ(registers("mov b6=r2"), "r2 > b6");
  EXPECT_EQ(registers("mov.i ar.lc=r2"), "r2 > ar.lc");
  EXPECT_EQ(registers("mov r2=pr"), "pr > r2");
  EXPECT_EQ(registers("mov rr[r2]=r3"), "r2 r3 >");
}

TEST(Ia64Meaning, KnowsImplicitRegisters) {
  EXPECT_EQ(registers("ld8.fill r14=[r2]"), "r2 ar.unat > r14");
  EXPECT_EQ(registers("st8.spill [r2]=r3"), "r2 r3 ar.unat > ar.unat");
  EXPECT_EQ(registers("cmpxchg8.acq r14=[r2],r3,ar.ccv"), "r2 r3 ar.ccv > r14");
  EXPECT_EQ(registers("ld16 r14,ar.csd=[r2]"), "r2 > r14 ar.csd");
  EXPECT_EQ(registers("alloc r34=ar.pfs,3,3,0"), "ar.pfs cfm > r34 cfm");
  EXPECT_EQ(registers("br.cloop.sptk.few 0"), "ar.lc > ar.lc");
  EXPECT_EQ(registers("br.ctop.sptk.few 0"), "ar.lc ar.ec cfm > p63 ar.lc ar.ec cfm");
  EXPECT_EQ(registers("br.call.sptk.many b0=0"), "ar.ec cfm > b0 ar.pfs cfm");
  EXPECT_EQ(registers("br.ret.sptk.many b0"), "b0 ar.pfs > ar.ec cfm");
}

TEST(Ia64Meaning, ValuesMaySurviveAPredicate) {
  EXPECT_EQ(registers("(p6) add r14=r2,r3"), "r2 r3 r14 p6 > r14");
  EXPECT_EQ(registers("cmp.eq p6,p7=r2,r3"), "r2 r3 > p6 p7");
  EXPECT_EQ(registers("(p8) cmp.eq p6,p7=r2,r3"), "r2 r3 p6 p7 p8 > p6 p7");
  EXPECT_EQ(registers("(p8) cmp.eq.unc p6,p0=r2,r3"), "r2 r3 p8 > p6");
  EXPECT_EQ(registers("cmp.eq.and p6,p7=r2,r3"), "r2 r3 p6 p7 > p6 p7");
  EXPECT_EQ(registers("ld8.c.clr r14=[r2]"), "r2 r14 > r14");
  EXPECT_EQ(registers("ldfd.c.nc f8=[r2]"), "r2 f8 > f8");
}

TEST(Ia64Meaning, KnowsSpeculativeLoads) {
  for (const char* text :
       {"ld8.s r14=[r2]", "ld4.sa r14=[r2],4", "ldfd.s f8=[r2]", "ldfps.sa f8,f9=[r2]"})
    EXPECT_TRUE(facts(one(text)).defers_faults) << text;
  for (const char* text : {"ld8 r14=[r2]", "ld8.a r14=[r2]", "ld8.c.clr r14=[r2]",
                           "ld8.acq r14=[r2]", "st8 [r2]=r3", "add r14=r2,r3"})
    EXPECT_FALSE(facts(one(text)).defers_faults) << text;
}

TEST(Ia64Meaning, FollowsTheFlowOfControl) {
  EXPECT_EQ(control_flow(one("br.few 40")), ControlFlow::branch);
  EXPECT_EQ(control_flow(one("(p6) br.cond.dptk.few 40")), ControlFlow::conditional_branch);
  EXPECT_EQ(control_flow(one("br.cloop.sptk.few 40")), ControlFlow::conditional_branch);
  EXPECT_EQ(control_flow(one("chk.s.m r2,40")), ControlFlow::conditional_branch);
  EXPECT_EQ(control_flow(one("br.call.sptk.many b0=40")), ControlFlow::call);
  EXPECT_EQ(control_flow(one("brl.call.sptk.many b0=40")), ControlFlow::call);
  EXPECT_EQ(control_flow(one("br.call.sptk.many b0=b6")), ControlFlow::indirect_call);
  EXPECT_EQ(control_flow(one("br.few b6")), ControlFlow::indirect_jump);
  EXPECT_EQ(control_flow(one("br.ret.sptk.many b0")), ControlFlow::return_jump);
  EXPECT_EQ(control_flow(one("break.f 0x0")), ControlFlow::stop);
  EXPECT_EQ(control_flow(one("add r1=r2,r3")), ControlFlow::none);
  EXPECT_FALSE(facts(one("br.ret.sptk.many b0")).falls_through);
  EXPECT_TRUE(facts(one("(p6) br.ret.sptk.many b0")).falls_through);
  EXPECT_TRUE(facts(one("br.call.sptk.many b0=40")).falls_through);
  EXPECT_TRUE(facts(one("break.i 0x100000")).system_call);
  EXPECT_TRUE(facts(one("br.call.sptk.many b6=b7")).system_call);
  EXPECT_FALSE(facts(one("br.call.sptk.many b0=b7")).system_call);
  EXPECT_TRUE(is_nop(one("nop.x 0x5")));
  EXPECT_FALSE(is_nop(one("hint.m 0")));
}

TEST(Ia64Meaning, ChecksAreWhatIsNamedSo) {
  unsigned checks = 0;
  for (size_t i = kFirstRow; i < kOpCount; ++i) {
    const std::string_view name = kEncodings[i].name;
    const bool expected = name.starts_with("chk") || name.starts_with("fchkf");
    EXPECT_EQ(is_check(static_cast<Op>(i)), expected) << name;
    checks += expected;
  }
  EXPECT_EQ(checks, 8u);
}

TEST(Ia64Meaning, KnowsFramesAndRotation) {
  EXPECT_EQ(frame_effect(one("alloc r34=ar.pfs,3,3,0")), FrameEffect::allocate);
  EXPECT_EQ(frame_effect(one("br.ctop.sptk.few 40")), FrameEffect::rotate);
  EXPECT_EQ(frame_effect(one("br.cloop.sptk.few 40")), FrameEffect::none);
  EXPECT_EQ(frame_effect(one("clrrrb")), FrameEffect::unrotate);
  EXPECT_EQ(frame_effect(one("br.ret.sptk.many b0")), FrameEffect::restore);
  EXPECT_TRUE(is_stacked(kGeneral + 32));
  EXPECT_FALSE(is_stacked(kGeneral + 31));
  EXPECT_FALSE(is_stacked(kFloating + 32));
  EXPECT_TRUE(may_rotate(kFloating + 32));
  EXPECT_TRUE(may_rotate(kPredicate + 63));
  EXPECT_FALSE(may_rotate(kPredicate + 15));
  EXPECT_FALSE(may_rotate(kBranch));
}

TEST(Ia64Meaning, FramesKeepWhatDoesNotRotate) {
  const auto kept = [](const char* text) { return kept_registers(one(text)); };
  EXPECT_EQ(kept("alloc r34=ar.pfs,6,4,0"), (RegisterRange{32, 36}));
  EXPECT_EQ(kept("alloc r34=ar.pfs,24,20,16"), (RegisterRange{48, 52}));
  EXPECT_FALSE(kept("cover")->contains(32));
  EXPECT_EQ(kept("br.call.sptk.many b0=b6"), std::nullopt);
}

TEST(Ia64Meaning, RegistersUsedAsPointers) {
  const auto uses = [](const char* text) { return uses_as_pointer(one(text), 1); };
  for (const char* text : {"ld8 r2=[r1]", "ld8 r2=[r1],8", "ldfd f6=[r1]", "st8 [r1]=r2",
                           "lfetch [r1]", "fetchadd8.rel r3=[r1],1", "adds r2=16,r1"})
    EXPECT_TRUE(uses(text)) << text;
  for (const char* text : {"mov r2=r1", "st8 [r2]=r1", "addl r2=16,r1", "add r2=r2,r1",
                           "ld8 r1=[r2]", "mov r1=r2", "adds r1=16,r2", "nop.m 0x0"})
    EXPECT_FALSE(uses(text)) << text;
}

}  // namespace
}  // namespace respike::ia64

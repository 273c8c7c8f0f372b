// Tests which stops the joining of groups removes, and which stops have to stay.

#include "optimizer/machine/ia64/groups.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "optimizer/machine/ia64/codec.h"
#include "optimizer/machine/ia64/text.h"

namespace respike::ia64 {
namespace {

/// The code after joining, with `|` for the end of a group and a dot for an instruction: "..|.|".
std::string joined(const std::vector<std::string>& lines, bool starts_group = true) {
  std::vector<Instruction> code;
  for (const std::string& line : lines) {
    const bool stop = line.ends_with(";;");
    const Parsed parsed = parse(line.substr(0, line.size() - (stop ? 2 : 0)), 0);
    if (encoding_of(parsed.instruction).type() == 'X') code.push_back(parsed.high);
    code.push_back(parsed.instruction);
    set_stop(code.back(), stop);
  }
  join_groups(code, starts_group);
  std::string text;
  for (const Instruction& instruction : code) text += has_stop(instruction) ? ".|" : ".";
  return text;
}

TEST(Groups, ThatDoNotDependOnTheOneBeforeAreJoined) {
  EXPECT_EQ(joined({"add r14=r2,r3;;", "add r15=r2,r3;;"}), "..|");
  EXPECT_EQ(joined({"add r14=r2,r3;;", "add r15=r2,r3;;", "ld8 r16=[r2];;"}), "...|");
  EXPECT_EQ(joined({"(p6) br.cond.sptk.few 0;;", "st8 [r2]=r3;;", "ld8 r16=[r2];;"}), "...|");
  EXPECT_EQ(joined({"add r14=r2,r3;;", "br.cond.sptk.few 0"}), "..");
  EXPECT_EQ(joined({"movl r14=5;;", "add r15=r2,r3;;"}), "...|");
  EXPECT_EQ(joined({"fma.d.s0 f8=f9,f10,f11;;", "fma.d.s0 f12=f9,f10,f11;;"}), "..|");
  EXPECT_EQ(joined({"add r14=r2,r3", "nop.i 0;;", "nop.m 0;;", "add r15=r2,r3;;"}), "....|");
}

TEST(Groups, ThatReadAWrittenRegisterStay) {
  EXPECT_EQ(joined({"add r14=r2,r3;;", "add r15=r14,r3;;"}), ".|.|");
  EXPECT_EQ(joined({"cmp.eq p6,p7=r2,r3;;", "(p7) add r15=r2,r3;;"}), ".|.|");
  EXPECT_EQ(joined({"ld8 r14=[r2],8;;", "st8 [r2]=r3;;"}), ".|.|");
  EXPECT_EQ(joined({"fma.d.s0 f8=f9,f10,f11;;", "getf.sig r14=f8;;"}), ".|.|");
}

TEST(Groups, ThatWriteAWrittenRegisterStay) {
  EXPECT_EQ(joined({"add r14=r2,r3;;", "add r14=r5,r3;;"}), ".|.|");
  EXPECT_EQ(joined({"(p6) add r14=r2,r3;;", "(p7) add r14=r5,r3;;"}), ".|.|");
  EXPECT_EQ(joined({"cmp.eq p6,p7=r2,r3;;", "cmp.eq p7,p8=r2,r3;;"}), ".|.|");
}

/// A group may write a register that an earlier instruction of the group reads.
TEST(Groups, ThatWriteAReadRegisterAreJoined) {
  EXPECT_EQ(joined({"add r14=r2,r3;;", "add r2=r5,r3;;"}), "..|");
}

/// The third instruction depends on the first, not on the second.
TEST(Groups, DependOnAllThatTheyAreJoinedTo) {
  EXPECT_EQ(joined({"add r14=r2,r3;;", "add r15=r2,r3;;", "add r16=r14,r3;;"}), "..|.|");
}

TEST(Groups, WithResourcesThatHaveNoNameStay) {
  for (const std::string special : {"alloc r34=ar.pfs,5,4,0",
                                    "mov.i r14=ar.lc",
                                    "mov.i ar.lc=r14",
                                    "mov r14=psr",
                                    "mf",
                                    "srlz.d",
                                    "mov pr=r14,-2",
                                    "mov r14=ip",
                                    "break.m 0x100000",
                                    "fetchadd8.rel r14=[r15],1",
                                    "chk.s.m r14,0",
                                    "chk.a.nc r14,0",
                                    "fchkf.s0 0",
                                    "sum 0x2",
                                    "flushrs",
                                    "invala",
                                    "br.ret.sptk.many b0",
                                    "br.call.sptk.many b0=0",
                                    "br.cloop.sptk.few 0",
                                    "mov b6=r14",
                                    "fsetc.s0 0,0x7f",
                                    "st8.spill [r15]=r14",
                                    "ld8.fill r14=[r15]"}) {
    EXPECT_EQ(joined({"add r20=r2,r3;;", special + ";;"}), ".|.|") << special;
    EXPECT_EQ(joined({special + ";;", "add r20=r2,r3;;"}), ".|.|") << special;
  }
}

/// Code before or after may belong to the same group.
TEST(Groups, AtEitherEndStayWhereMoreMayBelongToThem) {
  EXPECT_EQ(joined({"add r14=r2,r3;;", "add r15=r2,r3;;"}, false), ".|.|");
  EXPECT_EQ(joined({"add r14=r2,r3;;", "add r15=r2,r3;;", "add r16=r2,r3;;"}, false), ".|..|");
  EXPECT_EQ(joined({"add r14=r2,r3;;", "add r15=r2,r3"}), ".|.");
}

TEST(Groups, DoNotGrowBeyondWhatIssuesInACycle) {
  EXPECT_EQ(joined({"add r14=r2,r3", "add r15=r2,r3", "add r16=r2,r3", "add r17=r2,r3;;",
                    "add r18=r2,r3", "add r19=r2,r3;;", "add r20=r2,r3;;"}),
            "......|.|");
}

}  // namespace
}  // namespace respike::ia64

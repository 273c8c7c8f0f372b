// Compares IA-64's probes with the assembler's text.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "optimizer/machine/ia64/bundling.h"
#include "optimizer/machine/ia64/codec.h"
#include "optimizer/machine/ia64/meaning.h"
#include "optimizer/machine/ia64/probes.h"
#include "optimizer/machine/ia64/text.h"

namespace respike::ia64 {
namespace {

constexpr uint64_t kCounter = 0x6000000000012340;
constexpr Register kFree[] = {14, 15, 16};

std::string text(const std::vector<Instruction>& code) {
  std::string result;
  Instruction high;
  for (const Instruction& instruction : code) {
    if (op_of(instruction) != Op::long_half) result += print(instruction, high, 0) + "\n";
    high = instruction;
  }
  return result;
}

std::string probe(ProbeKind kind, std::optional<uint64_t> gp) {
  const Instruction jump = parse("br.cond.sptk.few b6", 0).instruction;
  return text(ia64_probes()
                  .probe(kind, {.counter = kCounter,
                                .gp = gp,
                                .free = kFree,
                                .jump = {.instruction = &jump, .bytes = {}}})
                  .code);
}

TEST(Ia64Probes, Count) {
  EXPECT_EQ(probe(ProbeKind::count, kCounter - 0x1fffff),
            "nop.m 0x0;;\n"
            "addl r14=2097151,r1;;\n"
            "fetchadd8.rel r14=[r14],1;;\n");
  EXPECT_EQ(probe(ProbeKind::count_atomic, kCounter + 0x200000),
            "nop.m 0x0;;\n"
            "addl r14=-2097152,r1;;\n"
            "fetchadd8.rel r14=[r14],1;;\n");
}

TEST(Ia64Probes, ReachFarCounters) {
  EXPECT_EQ(probe(ProbeKind::count_atomic, kCounter - 0x200000),
            "nop.m 0x0;;\n"
            "movl r14=0x200000;;\n"
            "add r14=r14,r1;;\n"
            "fetchadd8.rel r14=[r14],1;;\n");
  EXPECT_EQ(probe(ProbeKind::count_atomic, kCounter + 0x1'2345'6789),
            "nop.m 0x0;;\n"
            "movl r14=0xfffffffedcba9877;;\n"
            "add r14=r14,r1;;\n"
            "fetchadd8.rel r14=[r14],1;;\n");
}

/// The distance counts from the bundle of the mov, which is before the bundle of the movl.
TEST(Ia64Probes, CountFromTheInstructionPointer) {
  const ProbeCode code =
      ia64_probes().probe(ProbeKind::count_atomic, {.counter = kCounter, .gp = {}, .free = kFree});
  ASSERT_EQ(code.references.size(), 2u);  // to either half
  for (const Reference& reference : code.references) {
    EXPECT_EQ(reference.kind, ReferenceKind::pc_low);
    EXPECT_EQ(reference.target.address, kCounter);
  }
  ASSERT_EQ(op_of(code.code[1]), Op::mov_ip);
  ASSERT_EQ(op_of(code.code[3]), Op::movl);
  EXPECT_TRUE(code.code[2].has_reference());
  EXPECT_TRUE(code.code[3].has_reference());
  for (const char* before : {"nop.m 0", "add r2=r3,r3", "shl r2=r3,r3", "br.cond.sptk.few 0"}) {
    std::vector<Instruction> packed = {parse(before, 0).instruction};
    packed.insert(packed.end(), code.code.begin(), code.code.end());
    const std::vector<uint32_t> places = bundle(packed).places;
    EXPECT_EQ(places[4] / kBundleSize, places[2] / kBundleSize + 1) << before;
  }
}

TEST(Ia64Probes, RecordTargets) {
  EXPECT_EQ(probe(ProbeKind::record_target, kCounter),
            "nop.m 0x0;;\n"
            "addl r14=0,r1;;\n"
            "mov r16=b6\n"
            "ld8 r15=[r14];;\n"
            "st8 [r14]=r16\n"
            "xor r15=r16,r15\n"
            "adds r14=8,r14;;\n"
            "popcnt r15=r15\n"
            "ld8 r16=[r14];;\n"
            "adds r15=127,r15;;\n"
            "shr.u r15=r15,7;;\n"
            "add r16=r15,r16;;\n"
            "st8 [r14]=r16;;\n");
  EXPECT_EQ(ia64_probes().jump_register(parse("br.cond.sptk.few b6", 0).instruction), kBranch + 6);
  EXPECT_EQ(ia64_probes().jump_register(parse("br.call.sptk.few b0=b7", 0).instruction),
            kBranch + 7);
}

TEST(Ia64Probes, SaveRegistersWithTheirNatBits) {
  EXPECT_EQ(text(ia64_probes().save({kFree, 2}, false)),
            "nop.m 0x0;;\n"
            "adds r12=-48,r12;;\n"
            "stf.spill [r12]=f6;;\n"
            "setf.sig f6=r14;;\n"
            "adds r14=16,r12;;\n"
            "stf.spill [r14]=f6,16;;\n"
            "setf.sig f6=r15;;\n"
            "stf.spill [r14]=f6,16;;\n");
  EXPECT_EQ(text(ia64_probes().restore({kFree, 2}, false)),
            "adds r14=32,r12;;\n"
            "ldf.fill f6=[r14],-16;;\n"
            "getf.sig r15=f6;;\n"
            "ldf.fill f6=[r14],-16;;\n"
            "getf.sig r14=f6\n"
            "ldf.fill f6=[r12];;\n"
            "adds r12=48,r12;;\n");
  EXPECT_EQ(ia64_probes().save_frame(2, false), 48u);
}

}  // namespace
}  // namespace respike::ia64

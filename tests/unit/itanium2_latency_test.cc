// Latencies in the model of the Itanium 2: pairs of instructions, some groups apart, have the costs
// of the tables in "Itanium - A System Implementor's Tale", repeated here.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/itanium2_testing.h"

namespace respike::measure::itanium2 {
namespace {

struct Pair {
  std::vector<std::string> from, to;  // each of `from` with each of `to`
  uint32_t cycles;
};

const std::vector<std::string> kRseAr = {
    "mov.m ar.rsc=r2", "mov.m r3=ar.rsc",  "mov.m ar.bspstore=r2", "mov.m r3=ar.bspstore",
    "mov.m r3=ar.bsp", "mov.m ar.rnat=r2", "mov.m r3=ar.rnat"};
const std::vector<std::string> kAny = {"add r14=r15,r16",      "ld8 r14=[r15]",   "br.few 0x4000",
                                       "fma.d.s0 f6=f7,f8,f9", "shl r14=r15,r16", "movl r14=0x1"};

const std::vector<Pair> kTable4 = {
    {{"mov.m ar.rsc=r2"}, kRseAr, 13},
    {{"mov.m ar.bspstore=r2"}, kRseAr, 6},
    {{"mov.m r4=ar.bspstore"}, {"mov.m ar.rnat=r2"}, 8},
    {{"mov.m r4=ar.bsp"}, {"mov.m ar.rnat=r2"}, 8},
    {{"mov.m r4=ar.rnat", "mov.m r4=ar.unat"}, {"mov.m ar.rnat=r2", "mov.m ar.unat=r2"}, 6},
    {{"mov.m ar.rnat=r2", "mov.m ar.unat=r2"}, {"mov.m r4=ar.rnat", "mov.m r4=ar.unat"}, 6},
    {{"mov.m r4=ar.unat"}, {"fma.d.s0 f6=f7,f8,f9", "fcmp.eq.s0 p6,p7=f8,f9"}, 6},
    {{"mov.m ar.bspstore=r2"}, {"flushrs"}, 12},
    {{"mov.m ar.rsc=r2"}, {"loadrs"}, 12},
    {{"mov.m ar.bspstore=r2"}, {"loadrs"}, 12},
    {{"mov.m r4=ar.bspstore"}, {"loadrs"}, 2},
    {{"loadrs"}, {"loadrs"}, 8},
};

const std::vector<Pair> kTable5 = {
    {{"epc"}, kAny, 1},
    {{"bsw.0", "bsw.1"}, kAny, 6},
    {{"rfi"}, kAny, 13},
    {{"srlz.d"}, kAny, 1},
    {{"srlz.i"}, kAny, 12},
    {{"sum 0x2", "rum 0x2", "mov psr.um=r2"}, kAny, 5},
    {{"sum 0x2", "rum 0x2", "mov psr.um=r2"}, {"srlz.d", "srlz.i"}, 10},
    {{"ssm 0x2000", "rsm 0x2000", "mov psr.l=r2"}, {"srlz.d", "srlz.i"}, 5},
    {{"mov r4=psr", "mov r4=psr.um"}, {"srlz.d", "srlz.i"}, 2},
    {{"mov pkr[r2]=r3", "mov rr[r2]=r3"},
     {"srlz.d", "srlz.i", "sync.i", "fwb", "mf", "invala"},
     14},
};

/// `from` and `to` with `distance` - 1 groups of no-ops between them.
std::vector<uint8_t> apart(const std::string& from, const std::string& to, unsigned distance) {
  std::vector<uint8_t> code;
  append_alone(code, from, distance > 0);
  for (unsigned i = 1; i < distance; ++i) append_alone(code, "nop.m 0x0", true);
  append_alone(code, to, true);
  return code;
}

void check(const std::string& from, const std::string& to, uint32_t cycles, unsigned nearest) {
  for (unsigned distance = nearest; distance <= cycles + 2; ++distance) {
    const std::vector<uint8_t> code = apart(from, to, distance);
    const uint32_t groups = distance == 0 ? 1 : distance + 1;
    EXPECT_EQ(issue_all(code).groups, groups);
    const uint32_t bubbles = cycles > distance ? cycles - distance : 0;
    // Some instructions split issue after them, in their own group; no-ops show how much that
    // costs.
    const uint32_t behind_from = distance == 0 ? 0 : bubbles_of(apart(from, "nop.m 0x0", distance)),
                   behind_to = bubbles_of(apart("nop.m 0x0", to, 1));
    EXPECT_LE(behind_from, 1u);
    EXPECT_LE(behind_to, 1u);
    EXPECT_EQ(bubbles_of(code), std::max(bubbles, behind_from) + behind_to)
        << from << " and " << to << ", " << distance << " apart";
  }
}

void check(const std::vector<Pair>& table) {
  for (const Pair& pair : table)
    for (const std::string& from : pair.from)
      for (const std::string& to : pair.to) check(from, to, pair.cycles, 0);
}

TEST(Latency, Table4) {
  check(kTable4);
}
TEST(Latency, Table5) {
  check(kTable5);
}

TEST(Latency, ModelHasTheRowsOfTheTables) {
  EXPECT_EQ(pair_rows().size(), kTable4.size() + kTable5.size());
}

/// Inside a group there are no dependences through registers, so distances begin at one.
TEST(Latency, UseOfResults) {
  for (const char* from :
       {"probe.r r4=r5,0", "tpa r4=r5", "tak r4=r5", "thash r4=r5", "ttag r4=r5"})
    for (const char* to : {"add r14=r4,r16", "ld8 r14=[r4]", "st8 [r15]=r4"}) check(from, to, 5, 1);
  check("ld8 r4=[r5]", "add r14=r4,r16", 1, 1);
  check("ld8 r4=[r5]", "ld8 r14=[r4]", 2, 1);
  check("ld8 r4=[r5]", "st8 [r4]=r16", 2, 1);
  check("ld8 r4=[r5]", "st8 [r16]=r4", 1, 1);
  check("ld8 r4=[r5],8", "ld8 r14=[r5]", 1, 1);
  check("ld8 r4=[r5]", "padd4 r14=r4,r16", 2, 1);
  check("add r4=r5,r6", "add r14=r4,r16", 1, 1);
  check("add r4=r5,r6", "padd4 r14=r4,r16", 3, 1);
  check("padd4 r4=r5,r6", "padd4 r14=r4,r16", 2, 1);
  check("shl r4=r5,r6", "add r14=r4,r16", 3, 1);
  check("ldfd f6=[r5]", "fma.d.s0 f8=f6,f1,f0", 6, 1);
  check("fma.d.s0 f6=f7,f8,f9", "fma.d.s0 f10=f6,f8,f9", 4, 1);
  check("xma.l f6=f7,f8,f9", "getf.sig r4=f6", 4, 1);
  check("getf.sig r4=f6", "add r14=r4,r16", 5, 1);
  check("setf.sig f6=r4", "xma.l f7=f6,f8,f9", 5, 1);
  check("setf.sig f6=r4", "getf.sig r5=f6", 6, 1);
  check("setf.sig f6=r4", "stfd [r5]=f6", 6, 1);
  check("fcmp.eq.s0 p6,p7=f8,f9", "(p06) add r14=r15,r16", 2, 1);
  check("fcmp.eq.s0 p6,p7=f8,f9", "(p06) br.cond.dptk.few 0x4000", 1, 0);
  check("cmp.eq p6,p7=r8,r9", "(p06) br.cond.dptk.few 0x4000", 0, 0);
  check("mov r4=pr", "add r14=r4,r16", 2, 1);
  check("mov r4=b6", "add r14=r4,r16", 2, 1);
  check("mov.m ar.ccv=r4", "cmpxchg8.acq r14=[r15],r16,ar.ccv", 5, 1);
  check("cmpxchg8.acq r4=[r15],r16,ar.ccv", "add r14=r4,r16", 5, 1);
}

TEST(Latency, OthersAreNotWaitedFor) {
  check("fma.d.s0 f6=f7,f8,f9", "fma.d.s0 f10=f11,f8,f9", 0, 0);
  check("ldfd f6=[r5]", "add r14=r5,r16", 0, 0);
  check("getf.sig r4=f6", "add r14=r5,r16", 0, 0);
}

}  // namespace
}  // namespace respike::measure::itanium2

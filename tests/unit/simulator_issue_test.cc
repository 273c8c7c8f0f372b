// How many cycles short sequences take to issue, worked out by hand from the rules at the head of
// simulator/alpha21164/issue.cc; and what holds for every sequence.

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "optimizer/target/targets.h"
#include "simulator/alpha21164/issue.h"

namespace respike::simulator::alpha21164 {
namespace {

/// Code from instructions that are separated by semicolons.
std::vector<IssueInstruction> assemble(const std::string& text) {
  std::vector<uint8_t> bytes;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line, ';');) {
    line.erase(0, line.find_first_not_of(' '));
    if (line.empty()) continue;
    const size_t blank = line.find(' ');
    if (blank != std::string::npos) line[blank] = '\t';
    const Instruction instruction = alpha_target().parse(line, 0);
    alpha_target().encode({&instruction, 1}, bytes);
  }
  return read_for_issue(bytes);
}

/// Cycles from an empty machine, the first instruction being `offset` bytes into its group of 16.
uint32_t cycles(const std::string& text, uint64_t offset = 0) {
  return IssueState().issue(assemble(text), 0x120000000 + offset);
}

TEST(Issue, FourPipelines) {
  EXPECT_EQ(cycles("addq t0,t1,t2"), 1u);
  EXPECT_EQ(cycles("addq t0,t1,t2; addq t3,t4,t5; addt $f1,$f2,$f3; mult $f4,$f5,$f6"), 1u);
  EXPECT_EQ(cycles("addq t0,t1,t2; addq t3,t4,t5; addq t6,t7,t8; addq t9,t10,t11"), 2u);
  EXPECT_EQ(cycles("addt $f1,$f2,$f3; addt $f4,$f5,$f6"), 2u);
  EXPECT_EQ(cycles("mult $f1,$f2,$f3; mult $f4,$f5,$f6"), 2u);
  EXPECT_EQ(cycles("cpys $f1,$f2,$f3; cpys $f4,$f5,$f6"), 1u);  // FA, then FM
  EXPECT_EQ(cycles("cpys $f1,$f2,$f3; addt $f4,$f5,$f6"), 2u);  // FA is taken
  EXPECT_EQ(cycles("unop; addq t0,t1,t2; unop; addq t3,t4,t5"), 1u);
}

TEST(Issue, OnlyWithinAGroupOf16Bytes) {
  EXPECT_EQ(cycles("addq t0,t1,t2; addq t3,t4,t5", 8), 1u);
  EXPECT_EQ(cycles("addq t0,t1,t2; addq t3,t4,t5", 12), 2u);
}

TEST(Issue, ShiftsAndStoresNeedE0BranchesE1) {
  EXPECT_EQ(cycles("sll t0,1,t2; addq t3,t4,t5"), 1u);
  EXPECT_EQ(cycles("addq t3,t4,t5; sll t0,1,t2"), 1u);  // the add leaves E0 to the shift
  EXPECT_EQ(cycles("addq t3,t4,t5; addt $f1,$f2,$f3; sll t0,1,t2"), 1u);
  EXPECT_EQ(cycles("addq t3,t4,t5; sll t0,1,t2", 12), 2u);  // which is in another group
  EXPECT_EQ(cycles("sll t0,1,t1; sll t2,1,t3"), 2u);
  EXPECT_EQ(cycles("stq t0,0(sp); stq t1,8(sp)"), 2u);
  EXPECT_EQ(cycles("addq t0,t1,t2; bne t3,0x40"), 1u);
  EXPECT_EQ(cycles("addq t0,t1,t2; addq t3,t4,t5; bne t6,0x40"), 2u);
  EXPECT_EQ(cycles("ldq t0,0(sp); ldq t1,8(sp)"), 1u);
}

TEST(Issue, LoadsAndStoresApart) {
  EXPECT_EQ(cycles("stq t0,0(sp); ldq t1,8(sp)"), 2u);
  EXPECT_EQ(cycles("ldq t1,8(sp); stq t0,0(sp)"), 2u);
}

TEST(Issue, Latencies) {
  EXPECT_EQ(cycles("addq t0,t1,t2; addq t2,1,t3"), 2u);
  EXPECT_EQ(cycles("ldq t0,0(sp); addq t0,1,t1"), 3u);
  EXPECT_EQ(cycles("cmoveq t0,t1,t2; addq t2,1,t3"), 3u);
  EXPECT_EQ(cycles("addt $f1,$f2,$f3; mult $f3,$f4,$f5"), 5u);
  EXPECT_EQ(cycles("divs $f1,$f2,$f3; adds $f3,$f4,$f5"), 16u);
  EXPECT_EQ(cycles("divt $f1,$f2,$f3; addt $f3,$f4,$f5"), 23u);
  EXPECT_EQ(cycles("divt $f1,$f2,$f3; divt $f4,$f5,$f6"), 23u);  // one divider
  // What is read from register 31 is always there, and what is written to it is gone.
  EXPECT_EQ(cycles("ldq zero,0(sp); addq zero,1,t1"), 1u);
}

TEST(Issue, TestsReadComparisonsInTheSameCycle) {
  EXPECT_EQ(cycles("cmpeq t0,t1,t2; bne t2,0x40"), 1u);
  EXPECT_EQ(cycles("and t0,t1,t2; beq t2,0x40"), 1u);
  EXPECT_EQ(cycles("addq t0,t1,t2; bne t2,0x40"), 2u);
  EXPECT_EQ(cycles("cmplt t0,t1,t2; cmovne t2,t3,t4"), 1u);
  EXPECT_EQ(cycles("cmplt t0,t1,t2; cmovne t3,t2,t4"), 2u);  // moved, not tested
  EXPECT_EQ(cycles("cmplt t0,t1,t2; addq t2,1,t3"), 2u);
}

TEST(Issue, Multiplications) {
  EXPECT_EQ(cycles("mull t0,t1,t2; addl t2,1,t3"), 9u);
  EXPECT_EQ(cycles("mulq t0,t1,t2; addl t2,1,t3"), 13u);
  EXPECT_EQ(cycles("umulh t0,t1,t2; addl t2,1,t3"), 15u);
  // The manual's examples: one cycle behind the add latency is 10, two cycles behind it is 9.
  EXPECT_EQ(cycles("addl t0,t1,t2; mull t2,t3,t4; addl t4,1,t5"), 1u + 1 + 10);
  EXPECT_EQ(cycles("addl t0,t1,t2; sll t6,1,t7; sll t8,1,t9; mull t2,t3,t4; addl t4,1,t5"),
            1u + 2 + 9);
  EXPECT_EQ(cycles("mull t0,t1,t2; mull t3,t4,t5"), 1u + 4);
  EXPECT_EQ(cycles("mulq t0,t1,t2; mulq t3,t4,t5"), 1u + 8);
  // It ends in cycle 9 and needs E0 two cycles before.
  EXPECT_EQ(
      cycles("mull t0,t1,t2; sll t3,1,t3; sll t3,1,t3; sll t3,1,t3; sll t3,1,t3; sll t3,1,t3"), 6u);
  EXPECT_EQ(cycles("mull t0,t1,t2; sll t3,1,t3; sll t3,1,t3; sll t3,1,t3; sll t3,1,t3; sll t3,1,t3;"
                   "sll t3,1,t3"),
            8u);
}

TEST(Issue, InOrder) {
  // The second add waits for the load, and the third with it.
  EXPECT_EQ(cycles("ldq t0,0(sp); addq t0,1,t1; addq t2,1,t3"), 4u);
  // In one set: what is behind the waiting instruction issues in its cycle.
  EXPECT_EQ(cycles("ldq t0,0(sp); addq t0,1,t1; addt $f1,$f2,$f3"), 3u);
}

const char* const kKinds[] = {
    "addq t0,t1,t2",    "addq t2,t1,t0",    "cmpeq t0,t1,t2",   "sll t2,3,t1",
    "ldq t0,0(t1)",     "stq t2,0(t1)",     "cmovne t2,t0,t1",  "mull t0,t1,t2",
    "mulq t0,t1,t2",    "addt $f1,$f2,$f3", "mult $f3,$f2,$f1", "cpys $f1,$f2,$f3",
    "divs $f1,$f2,$f3", "divt $f3,$f1,$f2", "ldt $f1,0(t0)",    "unop",
    "bne t2,0x40",      "beq t0,0x40",      "fbne $f1,0x40",    "trapb",
    "zapnot t2,1,t0",   "lda t1,8(t1)",     "ldl_l t0,0(t1)",   "xor t0,t1,t2",
};

/// A branch that is not taken costs the same whether the code behind it is a piece of its own.
TEST(Issue, PiecesAddUp) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<IssueInstruction> code;
    std::vector<size_t> cuts;
    for (size_t i = 0; i < 40; ++i) {
      const std::string text = kKinds[random() % std::size(kKinds)];
      code.push_back(assemble(text).front());
      if (text.starts_with("b") && random() % 2 == 0) cuts.push_back(i + 1);
    }
    cuts.push_back(code.size());
    const uint64_t address = 0x120000000 + random() % 4 * 4;
    IssueState pieces;
    uint32_t sum = 0;
    size_t from = 0;
    for (const size_t cut : cuts) {
      sum += pieces.issue({code.data() + from, cut - from}, address + 4 * from);
      from = cut;
    }
    ASSERT_EQ(sum, IssueState().issue(code, address));
    EXPECT_GE(4 * sum, 40u / 2);  // at most four in a cycle, no-ops apart
  }
}

TEST(Issue, ClassesHaveSources) {
  std::set<std::string_view> names;
  for (const ClassRow& row : class_rows()) {
    EXPECT_FALSE(row.source.empty()) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
}

}  // namespace
}  // namespace respike::simulator::alpha21164

// Cycles that short sequences take to issue, computed by hand from the rules at the head of
// optimizer/machine/alpha/issue.cc; and properties of all sequences.

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "optimizer/base/bytes.h"
#include "optimizer/machine/alpha/codec.h"
#include "optimizer/machine/alpha/issue.h"
#include "optimizer/machine/machines.h"

namespace respike::alpha {
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
    const Instruction instruction = alpha_machine().text.parse(line, 0);
    alpha_machine().codec.encode({&instruction, 1}, bytes);
  }
  return read_for_issue(bytes);
}

/// Cycles from an empty processor; the first instruction is `offset` bytes into its group of 16.
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
  EXPECT_EQ(cycles("addq t3,t4,t5; sll t0,1,t2", 12), 2u);  // the shift is in another group
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
  // A read of register 31 never waits, and a write to register 31 delivers nothing.
  EXPECT_EQ(cycles("ldq zero,0(sp); addq zero,1,t1"), 1u);
}

TEST(Issue, TestsReadComparisonsInTheSameCycle) {
  EXPECT_EQ(cycles("cmpeq t0,t1,t2; bne t2,0x40"), 1u);
  EXPECT_EQ(cycles("and t0,t1,t2; beq t2,0x40"), 1u);
  EXPECT_EQ(cycles("addq t0,t1,t2; bne t2,0x40"), 2u);
  EXPECT_EQ(cycles("cmplt t0,t1,t2; cmovne t2,t3,t4"), 1u);
  EXPECT_EQ(cycles("cmplt t0,t1,t2; cmovne t3,t2,t4"), 2u);  // t2 is moved, not tested
  EXPECT_EQ(cycles("cmplt t0,t1,t2; addq t2,1,t3"), 2u);
}

TEST(Issue, Multiplications) {
  EXPECT_EQ(cycles("mull t0,t1,t2; addl t2,1,t3"), 9u);
  EXPECT_EQ(cycles("mulq t0,t1,t2; addl t2,1,t3"), 13u);
  EXPECT_EQ(cycles("umulh t0,t1,t2; addl t2,1,t3"), 15u);
  // The manual's examples: one cycle after the add the latency is 10, two cycles after it is 9.
  EXPECT_EQ(cycles("addl t0,t1,t2; mull t2,t3,t4; addl t4,1,t5"), 1u + 1 + 10);
  EXPECT_EQ(cycles("addl t0,t1,t2; sll t6,1,t7; sll t8,1,t9; mull t2,t3,t4; addl t4,1,t5"),
            1u + 2 + 9);
  EXPECT_EQ(cycles("mull t0,t1,t2; mull t3,t4,t5"), 1u + 4);
  EXPECT_EQ(cycles("mulq t0,t1,t2; mulq t3,t4,t5"), 1u + 8);
  // The multiplication ends in cycle 9 and needs E0 two cycles before.
  EXPECT_EQ(
      cycles("mull t0,t1,t2; sll t3,1,t3; sll t3,1,t3; sll t3,1,t3; sll t3,1,t3; sll t3,1,t3"), 6u);
  EXPECT_EQ(cycles("mull t0,t1,t2; sll t3,1,t3; sll t3,1,t3; sll t3,1,t3; sll t3,1,t3; sll t3,1,t3;"
                   "sll t3,1,t3"),
            8u);
}

TEST(Issue, InOrder) {
  // The second add waits for the load, and the third for the second.
  EXPECT_EQ(cycles("ldq t0,0(sp); addq t0,1,t1; addq t2,1,t3"), 4u);
  // One set: the instruction after the waiting instruction issues in the same cycle.
  EXPECT_EQ(cycles("ldq t0,0(sp); addq t0,1,t1; addt $f1,$f2,$f3"), 3u);
}

/// The class by the instruction's name; issue.cc uses numbers.
IssueClass class_by_name(std::string_view name) {
  using enum IssueClass;
  const auto is = [&](auto... starts) { return (name.starts_with(starts) || ...); };
  const auto in = [&](auto... names) { return ((name == names) || ...); };
  const std::string_view base = name.substr(0, name.find('/'));
  const bool is_single = base.ends_with('s') || base.ends_with('f');
  if (is("sqrt", "div")) return is_single ? divide_single : divide_double;
  if (is("ldl_l", "ldq_l", "stl_c", "stq_c", "wh64", "fetch") || in("mb", "wmb", "ecb", "rc", "rs"))
    return locked;
  if (is("lda")) return add;
  if (is("ld")) return load;
  if (is("st")) return store;
  if (in("fbeq", "fblt", "fble", "fbne", "fbge", "fbgt")) return floating_branch;
  if (in("blbc", "beq", "blt", "ble", "blbs", "bne", "bge", "bgt")) return integer_branch;
  if (in("br", "bsr", "jmp", "ret") || is("jsr")) return jump;
  if (is("call_pal", "pal1")) return call_pal;
  if (in("mull", "mull/v")) return multiply_long;
  if (in("mulq", "mulq/v")) return multiply_quad;
  if (name == "umulh") return multiply_high;
  if (is("mul")) return floating_multiply;
  if (name == "cpys") return floating_copy;
  if (is("cmpt", "cmpg", "cpys", "cvt", "fcmov", "mt_", "mf_", "ito")) return floating_add;
  if (is("cmp")) return compare;
  if (is("cmov")) return conditional_move;
  if (is("addl", "addq", "subl", "subq", "s4", "s8")) return add;
  if (is("add", "sub")) return floating_add;
  if (is("msk", "ext", "ins", "zap", "sext") || in("srl", "sll", "sra")) return shift;
  if (in("and", "bic", "bis", "ornot", "xor", "eqv", "amask", "implver")) return logic;
  if (in("trapb", "excb", "rpcc")) return misc;
  return multimedia;
}

TEST(Issue, ClassesOfAllInstructions) {
  for (size_t row = 1; row < alpha::kEncodingCount; ++row) {
    const alpha::Encoding& encoding = alpha::kEncodings[row];
    const uint32_t word = encoding.codec.match;
    std::vector<uint8_t> code(4);
    store(code.data(), word);
    const IssueInstruction read = read_for_issue(code).front();
    EXPECT_EQ(read.issue_class, class_by_name(encoding.name)) << std::string_view(encoding.name);
  }
  const auto unop = assemble("unop");
  EXPECT_EQ(unop.front().issue_class, IssueClass::unop);
}

const char* const kKinds[] = {
    "addq t0,t1,t2",    "addq t2,t1,t0",    "cmpeq t0,t1,t2",   "sll t2,3,t1",
    "ldq t0,0(t1)",     "stq t2,0(t1)",     "cmovne t2,t0,t1",  "mull t0,t1,t2",
    "mulq t0,t1,t2",    "addt $f1,$f2,$f3", "mult $f3,$f2,$f1", "cpys $f1,$f2,$f3",
    "divs $f1,$f2,$f3", "divt $f3,$f1,$f2", "ldt $f1,0(t0)",    "unop",
    "bne t2,0x40",      "beq t0,0x40",      "fbne $f1,0x40",    "trapb",
    "zapnot t2,1,t0",   "lda t1,8(t1)",     "ldl_l t0,0(t1)",   "xor t0,t1,t2",
};

/// A branch that is not taken costs the same whether or not the code after it is a separate piece.
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
    EXPECT_GE(4 * sum, 40u / 2);  // at most four in a cycle, apart from no-ops
  }
}

TEST(Issue, OfStraightCodeBehindOther) {
  std::vector<Instruction> load = {alpha_machine().text.parse("ldq\tt0,0(sp)", 0)};
  std::vector<Instruction> add = {alpha_machine().text.parse("addq\tt0,1,t1", 0)};
  EXPECT_EQ(issue_cycles({}, load, 0), 1u);
  EXPECT_EQ(issue_cycles({}, add, 4), 1u);    // control jumps to it: nothing is in flight
  EXPECT_EQ(issue_cycles(load, add, 4), 2u);  // it waits for the load
  EXPECT_EQ(issue_cycles(add, load, 4), 0u);  // in the same cycle
  EXPECT_EQ(issue_cycles(add, load, 16), 1u);
  EXPECT_EQ(issue_cycles({}, {}, 0), 0u);
  EXPECT_EQ(alpha_machine().issue->period, 16u);
}

TEST(Issue, ClassesHaveSources) {
  std::set<std::string_view> names;
  for (const ClassRow& row : class_rows()) {
    EXPECT_FALSE(row.source.empty()) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
}

}  // namespace
}  // namespace respike::alpha

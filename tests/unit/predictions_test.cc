// The predictions of branches follow the counts.

#include "optimizer/transform/predictions.h"

#include <gtest/gtest.h>

#include <string>

#include "optimizer/machine/machine.h"
#include "optimizer/machine/machines.h"
#include "tests/unit/layout_testing.h"

namespace respike {
namespace {

/// A block that ends in `branch`, and the two blocks that the branch leads to.
class Branching {
 public:
  Branching(const std::string& branch, uint64_t taken, uint64_t passed) {
    p_.program.machine = &ia64_machine();
    p_.add_procedure();
    for (const char* last : {branch.c_str(), "br.ret.sptk.many b0", "br.ret.sptk.many b0"}) {
      p_.add_block(0, "");
      p_.program[0].blocks.back().instructions.push_back(*p_.program.arena,
                                                         ia64_machine().text.parse(last, 0));
    }
    p_.connect(0, 2, Edge::Kind::taken);
    p_.connect(0, 1, Edge::Kind::fall_through);
    p_.program[0].blocks[0].successors[0].count = taken;
    p_.program[0].blocks[0].successors[1].count = passed;
  }

  Program& program() { return p_.program; }
  std::string branch() {
    return ia64_machine().text.print(p_.program[0].blocks[0].instructions.back(), 0);
  }

 private:
  LayoutProgram p_;
};

std::string predicted(const std::string& branch, uint64_t taken, uint64_t passed) {
  Branching code(branch, taken, passed);
  const std::string before = code.branch();
  const uint64_t changed = predict_branches(code.program());
  EXPECT_EQ(changed, before == code.branch() ? 0u : 1u);
  return code.branch();
}

TEST(Predictions, FollowTheCounts) {
  EXPECT_NE(predicted("(p06) br.cond.spnt.few 0x40", 9, 1).find("br.cond.dptk.few"),
            std::string::npos);
  EXPECT_NE(predicted("(p06) br.cond.sptk.many 0x40", 1, 9).find("br.cond.dpnt.many"),
            std::string::npos);
  EXPECT_NE(predicted("(p06) br.cond.sptk.many.clr 0x40", 1, 9).find("br.cond.dpnt.many.clr"),
            std::string::npos);
  EXPECT_NE(predicted("(p06) br.cond.dptk.few 0x40", UINT64_MAX - 1, 1).find("dptk"),
            std::string::npos);
}

TEST(Predictions, StayWhereNothingIsKnown) {
  EXPECT_NE(predicted("(p06) br.cond.spnt.few 0x40", 0, 0).find("spnt"), std::string::npos);
  EXPECT_NE(predicted("(p06) br.cond.spnt.few 0x40", UINT64_MAX, 2).find("spnt"),
            std::string::npos);
  EXPECT_NE(predicted("br.cloop.sptk.few 0x40", 1, 9).find("cloop.sptk"), std::string::npos);
}

TEST(Predictions, OfWhatStaysAreNotTouched) {
  Branching code("(p06) br.cond.spnt.few 0x40", 9, 1);
  code.program()[0].state = Procedure::State::pinned;
  EXPECT_EQ(predict_branches(code.program()), 0u);
}

/// An inverted branch predicts the opposite.
TEST(Predictions, TurnWithTheBranch) {
  const Machine& machine = ia64_machine();
  const Instruction compare = machine.text.parse("cmp.eq p6,p7=r2,r3", 0);
  Instruction branch = machine.text.parse("(p06) br.cond.spnt.few 0x40", 0);
  machine.branches.predict(branch, 9, 10);
  ASSERT_TRUE(machine.branches.invert(branch, {&compare, 1}));
  EXPECT_NE(machine.text.print(branch, 0).find("(p07) br.cond.dpnt"), std::string::npos);
}

}  // namespace
}  // namespace respike

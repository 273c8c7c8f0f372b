// Tests when a message says that a step leaves out much code.

#include "optimizer/report/left_out.h"

#include <gtest/gtest.h>

#include "optimizer/image/image.h"
#include "optimizer/ir/text/text.h"
#include "optimizer/machine/machines.h"

namespace respike {
namespace {

std::string described(std::vector<LeftOut> left_out, const std::vector<uint64_t>& others) {
  return describe_left_out(std::move(left_out), others, "is lost").value_or("");
}

TEST(LeftOut, ShareOfTheCode) {
  const std::vector<uint64_t> others(99, 1000);
  EXPECT_EQ(described({}, others), "");
  EXPECT_EQ(described({}, {}), "");
  EXPECT_EQ(described({{"a", 1000}}, others), "1.00% of the code is lost: a (1000 bytes)");
  EXPECT_EQ(described({{"a", 999}}, others), "");
  EXPECT_EQ(described({{"a", 400}, {"b", 600}}, others),
            "1.00% of the code is lost: b (600 bytes), a (400 bytes)");
  EXPECT_EQ(described({{"a", 1}}, {}), "100.00% of the code is lost: a (1 bytes)");
  EXPECT_EQ(described({{"a", 0}}, {}), "");
}

TEST(LeftOut, OneOfTheBiggest) {
  std::vector<uint64_t> others(10000, 100);
  for (int i = 0; i < 9; ++i) others.push_back(500);
  EXPECT_EQ(described({{"a", 400}}, others), "0.04% of the code is lost: a (400 bytes)");
  others.push_back(500);  // now it is the eleventh largest
  EXPECT_EQ(described({{"a", 400}}, others), "");
}

TEST(LeftOut, ThreeAreNamed) {
  EXPECT_EQ(described({{"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}, {"e", 5}}, {}),
            "100.00% of the code is lost: e (5 bytes), d (4 bytes), c (3 bytes) and 2 more");
}

TEST(LeftOut, WhatRunsOnceCostsNothing) {
  const auto runs_once_at = [](uint64_t entry, const std::string& blocks) {
    Program program =
        parse_program("program ia64\nprocedure 0 \"_start\" opaque\n" + blocks, ia64_machine());
    Image image;
    image.entry = entry;
    program.image = &image;
    program[0].address = 0x1000;
    return runs_once(program, program[0]);
  };
  const std::string straight = R"(
  block 0 entry
    br.call.sptk.many b0=b6
    -> 1 fall_through
  block 1
    break.m 0x0
)";
  EXPECT_TRUE(runs_once_at(0x1000, straight));
  EXPECT_FALSE(runs_once_at(0x2000, straight));
  EXPECT_FALSE(runs_once_at(0x1000, R"(
  block 0 entry
    (p6) br.cond.sptk.few 0
    -> 1 fall_through
    -> 0 taken
  block 1
    break.m 0x0
)"));
  EXPECT_FALSE(runs_once_at(0x1000, R"(
  block 0 entry
    br.cond.sptk.few b6
)"));
}

}  // namespace
}  // namespace respike

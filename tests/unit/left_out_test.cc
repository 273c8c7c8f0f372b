// When code that a step leaves out is worth a line.

#include "optimizer/left_out.h"

#include <gtest/gtest.h>

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
  others.push_back(500);  // now it is the eleventh
  EXPECT_EQ(described({{"a", 400}}, others), "");
}

TEST(LeftOut, ThreeAreNamed) {
  EXPECT_EQ(described({{"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}, {"e", 5}}, {}),
            "100.00% of the code is lost: e (5 bytes), d (4 bytes), c (3 bytes) and 2 more");
}

}  // namespace
}  // namespace respike

// Compares register sets of several sizes with std::set.

#include "optimizer/analysis/register_set.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/analysis_testing.h"

namespace respike {
namespace {

template <typename Set>
class RegisterSets : public testing::Test {};
using Sizes = testing::Types<BasicRegisterSet<1>, BasicRegisterSet<2>, BasicRegisterSet<6>>;
TYPED_TEST_SUITE(RegisterSets, Sizes);

TYPED_TEST(RegisterSets, AreSets) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    std::set<Register> a, b;
    TypeParam x, y;
    for (int i = 0; i < 20; ++i) {
      const auto r = static_cast<Register>(random() % TypeParam::kCapacity);
      const auto s = static_cast<Register>(random() % TypeParam::kCapacity);
      a.insert(r), x.add(r);
      b.insert(s), y.add(s);
      if (random() % 4 == 0) b.erase(r), y.remove(r);
    }
    const TypeParam both = x | y, common = x & y, rest = x - y;
    for (Register r = 0; r < TypeParam::kCapacity; ++r) {
      EXPECT_EQ(x.contains(r), a.contains(r));
      EXPECT_EQ(both.contains(r), a.contains(r) || b.contains(r));
      EXPECT_EQ(common.contains(r), a.contains(r) && b.contains(r));
      EXPECT_EQ(rest.contains(r), a.contains(r) && !b.contains(r));
    }
    EXPECT_EQ(x.count(), a.size());
    std::vector<Register> listed;
    x.for_each([&](Register r) { listed.push_back(r); });
    EXPECT_EQ(listed, std::vector<Register>(a.begin(), a.end()));
    EXPECT_TRUE(both.includes(x) && x.includes(common));
    EXPECT_EQ(x.includes(y), rest.count() == x.count() - y.count());
    EXPECT_EQ(TypeParam(RegisterSet(x)), x);
  }
  for (const size_t count : {size_t{0}, size_t{1}, size_t{63}, TypeParam::kCapacity})
    EXPECT_EQ(TypeParam::first(count).count(), count);
  EXPECT_TRUE(TypeParam().empty());
}

}  // namespace
}  // namespace respike

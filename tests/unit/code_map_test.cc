// Instructions by address: words, bundles, and instructions of variable length.

#include "optimizer/ir/code_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace respike {
namespace {

constexpr uint64_t kBase = 0x4000000000000400;

TEST(CodeMap, CountsWords) {
  const CodeMap map(CodeGroups{.bytes = 4, .slots = 1});
  EXPECT_EQ(map.next(0x120000000), 0x120000004u);
  EXPECT_EQ(map.previous(0x120000004), 0x120000000u);
  EXPECT_EQ(map.index(0x120000010) - map.index(0x120000000), 4u);
  EXPECT_EQ(map.group_end(0x120000002), 0x120000004u);
  EXPECT_TRUE(map.holds(0x120000004));
  EXPECT_FALSE(map.holds(0x120000002));
  EXPECT_EQ(map.index(0x120000007), map.index(0x120000004));
}

TEST(CodeMap, CountsSlots) {
  const CodeMap map(CodeGroups{.bytes = 16, .slots = 3});
  for (uint64_t index = map.index(kBase), i = 0; i < 30; ++i) {
    const uint64_t address = kBase + i / 3 * 16 + i % 3;
    EXPECT_EQ(map.index(address), index + i);
    EXPECT_EQ(map.address(index + i), address);
    EXPECT_EQ(map.slot(address), i % 3);
    EXPECT_EQ(map.group(address), kBase + i / 3 * 16);
    EXPECT_EQ(map.group_end(address), kBase + i / 3 * 16 + 16);
    EXPECT_TRUE(map.holds(address));
    EXPECT_EQ(map.starts_group(address), i % 3 == 0);
    EXPECT_EQ(map.next(map.previous(address)), address);
  }
  EXPECT_FALSE(map.holds(kBase + 3));
  EXPECT_EQ(map.index(kBase + 15), map.index(kBase + 2));
  EXPECT_EQ(map.next(kBase + 2), kBase + 16);
  EXPECT_EQ(map.previous_group(kBase + 16), kBase);
}

TEST(CodeMap, FindsVariableLengths) {
  const uint8_t lengths[] = {1, 5, 2};
  const CodeMap::Lengths section{.start = 0x1000, .lengths = lengths};
  const CodeMap map({&section, 1});
  EXPECT_TRUE(map.holds(0x1001));
  EXPECT_FALSE(map.holds(0x1002));
  EXPECT_FALSE(map.holds(0x1008));  // the end
  EXPECT_FALSE(map.holds(0xfff));
  EXPECT_EQ(map.next(0x1001), 0x1006u);
  EXPECT_EQ(map.next(0x1006), 0x1008u);
  EXPECT_EQ(map.previous(0x1008), 0x1006u);
  EXPECT_EQ(map.index(0x1006) - map.index(0x1000), 2u);
  EXPECT_EQ(map.group(0x1003), 0x1001u);
  EXPECT_EQ(map.group_end(0x1003), 0x1006u);
  EXPECT_EQ(map.slot(0x1006), 0u);
  EXPECT_EQ(map.largest_group(), 5u);
  EXPECT_EQ(map.groups().alignment(), 1u);
}

/// Where one section ends the next one starts: no number lies between the two.
TEST(CodeMap, JoinsAdjacentSections) {
  const uint8_t lengths[] = {1, 5}, others[] = {2, 3};
  const CodeMap::Lengths sections[] = {{.start = 0x1000, .lengths = lengths},
                                       {.start = 0x1006, .lengths = others},
                                       {.start = 0x1010, .lengths = others}};
  const CodeMap map(sections);
  EXPECT_EQ(map.index(0x1006) - map.index(0x1000), 2u);
  EXPECT_EQ(map.next(0x1001), 0x1006u);
  EXPECT_EQ(map.previous(0x1006), 0x1001u);
  EXPECT_EQ(map.address(map.index(0x1006)), 0x1006u);
  EXPECT_EQ(map.next(0x1008), 0x100bu);  // the end of the second section
  EXPECT_TRUE(map.holds(0x1010));
}

/// Several sections of random code, one of them empty, two of them side by side.
TEST(CodeMap, AgreesWithAList) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::vector<uint8_t>> lengths(4);
    std::vector<CodeMap::Lengths> sections;
    std::vector<std::vector<uint64_t>> starts(4);
    uint64_t at = kBase + random() % 100;
    for (size_t s = 0; s < 4; ++s) {
      for (unsigned n = s == 2 ? 0 : 1 + random() % 300; n != 0; --n)
        lengths[s].push_back(static_cast<uint8_t>(1 + random() % 15));
      sections.push_back({.start = at, .lengths = lengths[s]});
      for (const uint8_t length : lengths[s]) {
        starts[s].push_back(at);
        at += length;
      }
      starts[s].push_back(at);  // the end
      if (s != 0) at += 1 + random() % 1000;
    }
    const CodeMap map(sections);
    for (size_t s = 0; s < 4; ++s) {
      const uint64_t start = starts[s].front(), end = starts[s].back();
      for (uint64_t address = start; address < end; ++address) {
        const auto next = std::upper_bound(starts[s].begin(), starts[s].end(), address);
        const auto number = static_cast<uint64_t>(next - starts[s].begin()) - 1;
        EXPECT_EQ(map.holds(address), *(next - 1) == address);
        EXPECT_EQ(map.group(address), *(next - 1));
        EXPECT_EQ(map.index(address) - map.index(start), number);
        EXPECT_EQ(map.address(map.index(start) + number), *(next - 1));
        EXPECT_EQ(map.next(address), *next);
        if (number != 0) {
          EXPECT_EQ(map.previous(address), *(next - 2));
        }
      }
      EXPECT_EQ(map.holds(end), s == 0);  // where the second section starts
    }
  }
}

}  // namespace
}  // namespace respike

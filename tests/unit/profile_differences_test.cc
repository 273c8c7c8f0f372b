// Figures of profiles, profiles side by side, and losses between builds, on small profiles made by
// hand.

#include "views/profile_differences.h"

#include <gtest/gtest.h>

#include "optimizer/base/error.h"
#include "views/profile_figures.h"
#include "views/profile_losses.h"

namespace respike {
namespace {

/// A procedure of one block with 10 instructions, which ran so often.
ProcedureProfile procedure(const std::string& name, uint64_t address, uint64_t count) {
  ProcedureProfile result;
  result.name = name;
  result.address = address;
  result.signature = 7;
  result.nodes = {{1, 1}};
  result.blocks = {{{.address = address, .size = 40, .instructions = 10, .node = 0}, count}};
  return result;
}

Profile profile(const std::vector<ProcedureProfile>& procedures) {
  Profile result;
  result.procedures = procedures;
  return result;
}

const ProcedureDifference* find(const std::vector<ProcedureDifference>& rows,
                                const std::string& name) {
  for (const ProcedureDifference& row : rows)
    if (row.name == name) return &row;
  return nullptr;
}

TEST(ProfileFigures, AreSums) {
  Profile counted = profile({procedure("a", 0x100, 3), procedure("b", 0x200, 0)});
  counted.procedures[0].exact = false;
  EXPECT_EQ(figures_of(counted), (ProfileFigures{2, 1, 1, 30}));
}

TEST(ProfileFigures, TheHottestComesFirstAndNamesChoose) {
  const Profile counted =
      profile({procedure("a", 0x100, 1), procedure("b", 0x200, 5), procedure("a", 0x300, 9)});
  EXPECT_EQ(hottest_first(counted, {}, "").front()->address, 0x300u);
  EXPECT_EQ(hottest_first(counted, {"a"}, "").size(), 2u);
  EXPECT_EQ(hottest_first(counted, {"a@100"}, "").size(), 1u);
  EXPECT_THROW(hottest_first(counted, {"c"}, "file"), Error);
}

TEST(ProfileFigures, BlocksSayWhereTheyGoOn) {
  ProcedureProfile counted = procedure("a", 0x100, 4);
  counted.blocks.push_back(counted.blocks.front());
  counted.edges = {{0, 1, ProcedureProfile::Edge::Kind::taken, 1204}};
  counted.calls = {{1, 0x200, 2}, {1, 0x208, 2}, {1, 0, 2}};
  counted.indirect = {{1, 0x200, 3}};
  const auto ways = ways_on(counted, {{0x200, "b"}});
  EXPECT_EQ(ways[0], "taken 1: 1,204");
  EXPECT_EQ(ways[1], "calls b, calls 208, calls ?, last to b, 3 changes");
}

TEST(CompareProfiles, TheLargestChangeComesFirst) {
  const Profile a = profile({procedure("same", 0x100, 5), procedure("less", 0x200, 90),
                             procedure("gone", 0x300, 5), procedure("never", 0x400, 0)});
  const Profile b = profile({procedure("new", 0x50, 20), procedure("same", 0x110, 5),
                             procedure("less", 0x210, 25), procedure("never", 0x410, 0)});
  // The code of all is the same: only names distinguish the procedures.
  const auto rows = compare_profiles(a, b);
  ASSERT_GE(rows.size(), 3u);
  EXPECT_EQ(rows.front().name, "less");
  EXPECT_EQ(rows.front().change(), -650);
  EXPECT_DOUBLE_EQ(rows.front().share_a, 0.9);
  EXPECT_DOUBLE_EQ(rows.front().share_b, 0.5);
  EXPECT_EQ(find(rows, "same")->change(), 0);
  EXPECT_EQ(find(rows, "never"), nullptr);
  double sum = 0;
  for (const ProcedureDifference& row : rows) sum += row.change();
  EXPECT_EQ(sum, 500 - 1000);
}

TEST(CompareProfiles, AProfileWithItselfHasNoChange) {
  const Profile a = profile({procedure("x", 0x100, 5), procedure("y", 0x200, 9)});
  for (const ProcedureDifference& row : compare_profiles(a, a)) {
    EXPECT_EQ(row.change(), 0);
    EXPECT_EQ(row.a, row.b);
    EXPECT_TRUE(row.other_name.empty());
  }
}

TEST(ProfileLosses, SayWhatDiffers) {
  const Profile before = profile({procedure("kept", 0x100, 5), procedure("edited", 0x200, 9),
                                  procedure("redone", 0x300, 8), procedure("gone", 0x400, 7),
                                  procedure("never", 0x500, 0)});
  MatchResult match;
  match.profile = profile(
      {procedure("kept", 0x100, 0), procedure("edited", 0x210, 0), procedure("redone", 0x310, 0)});
  match.profile.procedures[1].nodes = {{2, 1}};
  match.profile.procedures[2].signature = 8;
  match.procedures = {{0, 1}, {1, 0.9}, {2, 0.5}};
  const auto lost = losses(before, match);
  ASSERT_EQ(lost.size(), 4u);  // of procedures that ran
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"gone", "not there"},
      {"redone", "flow graph changed"},
      {"edited", "instructions changed"},
      {"kept", ""}};
  for (size_t i = 0; i < lost.size(); ++i) {
    EXPECT_EQ(lost[i].before->name, expected[i].first);
    EXPECT_EQ(loss_reason(lost[i]), expected[i].second);
  }
  EXPECT_EQ(lost[0].lost(), 70);
  EXPECT_EQ(lost[1].lost(), 40);
}

}  // namespace
}  // namespace respike

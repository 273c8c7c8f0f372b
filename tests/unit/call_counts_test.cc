// Callers and callees, on small profiles made by hand and on random profiles.

#include "views/call_counts.h"

#include <gtest/gtest.h>

#include "optimizer/base/saturating.h"
#include "tests/unit/profile_testing.h"

namespace respike {
namespace {

/// Procedures of two blocks each, 0x100 apart, entered so often.
Profile procedures(const std::vector<uint64_t>& entries) {
  Profile profile;
  for (const uint64_t count : entries) {
    ProcedureProfile& procedure = profile.procedures.emplace_back();
    procedure.address = 0x100 * profile.procedures.size();
    procedure.blocks.resize(2);
    procedure.blocks[0] = {{.address = procedure.address, .size = 8}, count};
    procedure.blocks[1] = {{.address = procedure.address + 8, .size = 8}, 0};
  }
  return profile;
}

using Calls = std::vector<CallCount>;

TEST(CountCalls, AddsUpPlacesAndFindsEntriesBehindTheStart) {
  Profile profile = procedures({1, 30});
  profile.procedures[0].calls = {{0, 0x200, 10}, {1, 0x208, 20}};
  EXPECT_EQ(count_calls(profile), (Calls{{0, 1, 30, 2, false}, {kNone, 0, 1, 0, false}}));
}

TEST(CountCalls, APointerThatNeverChangedHasOneTarget) {
  Profile profile = procedures({1, 200});
  profile.procedures[0].calls = {{0, 0, 200}};
  profile.procedures[0].indirect = {{0, 0x200, 1}};
  EXPECT_EQ(count_calls(profile), (Calls{{0, 1, 200, 1, false}, {kNone, 0, 1, 0, false}}));
}

TEST(CountCalls, APointerThatChangedGivesUpperBounds) {
  Profile profile = procedures({1, 150, 50});
  profile.procedures[0].calls = {{0, 0, 200}};
  profile.procedures[0].indirect = {{0, 0x200, 3}, {0, 0x300, 1}};
  EXPECT_EQ(count_calls(profile), (Calls{{0, 1, 200, 1, true},
                                         {0, 2, 200, 1, true},
                                         {kNone, 0, 1, 0, false},
                                         {kNone, 1, 150, 0, false},
                                         {kNone, 2, 50, 0, false}}));
}

TEST(CountCalls, OtherImagesAreNotKnown) {
  Profile profile = procedures({1});
  profile.procedures[0].calls = {{0, 0, 5}, {1, 0x7000, 2}, {1, 0x7000, 0}};
  profile.procedures[0].indirect = {{0, 0, 1}};
  EXPECT_EQ(count_calls(profile), (Calls{{0, kNone, 7, 2, false}, {kNone, 0, 1, 0, false}}));
}

TEST(CountCalls, EntriesAreNeverFewerThanWhatIsNamed) {
  Random random(5);
  for (int round = 0; round < 300; ++round) {
    const Profile profile = random_profile(random);
    std::vector<uint64_t> known(profile.procedures.size());
    for (const CallCount& call : count_calls(profile)) {
      EXPECT_NE(call.count, 0u);
      EXPECT_TRUE(call.caller != kNone || call.callee != kNone);
      if (call.callee != kNone && !call.at_most)
        known[call.callee] = saturating_add(known[call.callee], call.count);
    }
    for (size_t p = 0; p < known.size(); ++p) EXPECT_GE(known[p], profile.procedures[p].entries());
  }
}

}  // namespace
}  // namespace respike

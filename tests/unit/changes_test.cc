// A note about hot code that does not fit the program is refused before anything is changed.

#include "optimizer/replay/changes.h"

#include <gtest/gtest.h>

#include "tests/unit/analysis_testing.h"

namespace respike {
namespace {

constexpr uint64_t kPlain = 0x120000000, kOpaque = 0x120000008;

Program program() {
  return parse_alpha(R"(origin_base 0x120000000
procedure 0 "plain" address=0x120000000 size=0x4
  block 0 entry
    ret
procedure 1 "opaque" address=0x120000008 size=0x4 opaque reason="unknown"
  block 0 entry
    ret
)");
}

/// Says whether the note is refused and the program is unchanged.
bool refused(const Provenance& note) {
  Program changed = program();
  const std::string before = print(changed);
  const bool refused = follow_changes(changed, note).has_value();
  EXPECT_TRUE(!refused || print(changed) == before);
  return refused;
}

TEST(Changes, NothingToFollow) {
  Program changed = program();
  EXPECT_EQ(follow_changes(changed, {}), std::nullopt);
  EXPECT_EQ(print(changed), print(program()));
}

TEST(Changes, RefusesWhatDoesNotFit) {
  Provenance note;
  note.hot_parts = {{}};
  EXPECT_FALSE(refused(note));
  note.left_out = {kPlain};
  EXPECT_FALSE(refused(note));
  note.left_out = {kPlain + 4};  // no procedure
  EXPECT_TRUE(refused(note));
  note.left_out = {kOpaque};  // would be taken for understood
  EXPECT_TRUE(refused(note));
  note.left_out.clear();
  note.hot_parts = {{{kPlain + 4, {0}}}};
  EXPECT_TRUE(refused(note));
  note.hot_parts = {{{kPlain, {uint64_t{1} << 40}}}};
  EXPECT_TRUE(refused(note));
  note.hot_parts = {{{kPlain, {0}}, {kPlain, {0}}}};  // twice
  EXPECT_TRUE(refused(note));
  note.hot_parts = {{}, {}, {}};  // more rounds than Respike has
  EXPECT_TRUE(refused(note));
}

}  // namespace
}  // namespace respike

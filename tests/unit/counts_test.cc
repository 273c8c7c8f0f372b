// Tests shapes, counts, and sums of counts.

#include "profiledb/counts.h"

#include "tests/unit/profile_testing.h"
#include "tests/unit/profiledb_testing.h"

namespace respike {
namespace {

/// Counts in the collector's form: sorted, each target once.
Profile random_counts(Random& random) {
  Profile profile = random_profile(random);
  for (ProcedureProfile& procedure : profile.procedures) {
    auto& targets = procedure.indirect;
    std::sort(targets.begin(), targets.end(), [](const auto& a, const auto& b) {
      return std::pair(a.block, a.target) < std::pair(b.block, b.target);
    });
  }
  return profile;
}

TEST(Counts, ComeBackAsTheyWere) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const Profile profile = random_counts(random);
    const Shape shape = shape_of(profile.procedures);
    const EncodedShape encoded = encode_shape(shape);
    for (size_t p = 0; p < shape.size(); ++p) {
      EXPECT_FALSE(is_counted(shape[p]));
      ProcedureProfile copy = decode_procedure(encoded.procedures[p]);
      EXPECT_EQ(copy, shape[p]);
      decode_counts(encode_counts(profile.procedures[p]), copy);
      EXPECT_EQ(copy, profile.procedures[p]);
    }
  }
}

TEST(Counts, ShapesHaveTheHashOfAllTheyAre) {
  Random random(7);
  const Shape shape = shape_of(random_counts(random).procedures);
  const auto changed = [&](auto change) {
    Shape other = shape;
    change(other);
    return encode_shape(other).hash != encode_shape(shape).hash;
  };
  EXPECT_FALSE(changed([](Shape&) {}));
  EXPECT_TRUE(changed([](Shape& s) { s[1].name += "x"; }));
  EXPECT_TRUE(changed([](Shape& s) { s[1].signature ^= 1; }));
  EXPECT_TRUE(changed([](Shape& s) { s[1].blocks[0].size ^= 1; }));
  EXPECT_TRUE(changed([](Shape& s) { s.pop_back(); }));
  EXPECT_TRUE(changed([](Shape& s) { std::swap(s[0], s[1]); }));
}

TEST(Counts, DamageIsAnErrorOrOtherCounts) {
  Random random(3);
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Profile profile = random_counts(random);
    const ProcedureProfile& procedure = profile.procedures[0];
    const bool counts = one_in(random, 2);
    auto bytes = counts ? encode_counts(procedure) : encode_procedure(procedure);
    if (one_in(random, 4))
      bytes.resize(below(random, static_cast<uint32_t>(bytes.size())));
    else
      bytes[below(random, static_cast<uint32_t>(bytes.size()))] = static_cast<uint8_t>(random());
    try {
      ProcedureProfile copy = procedure;
      if (counts)
        decode_counts(bytes, copy);
      else
        copy = decode_procedure(bytes);
      for (const auto& site : copy.indirect) EXPECT_LT(site.block, copy.blocks.size());
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 5000);
}

/// A profile of the same shape with other counts.
Profile recounted(const Profile& profile, Random& random, uint32_t most) {
  Profile result = profile;
  for (ProcedureProfile& procedure : result.procedures) {
    clear_counts(procedure);
    if (one_in(random, 3)) continue;
    const auto count = [&] { return uint64_t{below(random, most)}; };
    for (auto& block : procedure.blocks) block.count = count();
    for (auto& edge : procedure.edges) edge.count = count();
    for (auto& call : procedure.calls) call.count = count();
    for (BlockId b = 0; b < procedure.blocks.size(); ++b)
      for (uint64_t target = 0; target < 3; ++target)
        if (one_in(random, 3)) procedure.indirect.push_back({b, target, 1 + count()});
    procedure.exact = one_in(random, 2);
  }
  return result;
}

TEST(Counts, SumsAreThoseOfMergedProfiles) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const Profile shape = random_counts(random);
    std::vector<Profile> profiles;
    std::vector<std::string> names;
    for (uint32_t n = 1 + below(random, 5); n-- > 0;) {
      profiles.push_back(recounted(shape, random, 1000));
      names.emplace_back("p");
    }
    CountSum sum(shape_of(shape.procedures));
    for (const Profile& profile : profiles)
      for (size_t p = 0; p < profile.procedures.size(); ++p) sum.add(p, profile.procedures[p], 1);
    const std::vector<double> ones(profiles.size(), 1.0);
    EXPECT_EQ(sum.take(), merge_profiles(profiles, ones, names).procedures);
  }
}

TEST(Counts, SumsSaturate) {
  ProcedureProfile procedure;
  procedure.blocks.resize(1);
  procedure.blocks[0].count = UINT64_MAX - 3;
  CountSum sum({procedure});
  sum.add(0, procedure, 1);
  sum.add(0, procedure, CountSum::kMostFactor);
  EXPECT_EQ(sum.take()[0].blocks[0].count, UINT64_MAX);
  CountSum one({procedure});
  one.add(0, procedure, 1);
  EXPECT_EQ(one.take()[0].blocks[0].count, UINT64_MAX - 3) << "a large count alone is exact";
}

TEST(Counts, FactorsRoundOnce) {
  ProcedureProfile procedure;
  procedure.blocks.resize(1);
  procedure.blocks[0].count = 1;
  CountSum sum({procedure});
  for (int i = 0; i < 10; ++i) sum.add(0, procedure, 0.1);
  EXPECT_EQ(sum.take()[0].blocks[0].count, 1u);
  CountSum more({procedure});
  for (int i = 0; i < 1000; ++i) more.add(0, procedure, 0.25);
  EXPECT_EQ(more.take()[0].blocks[0].count, 250u);
}

/// A procedure that `walks` walks went through, each from block 0 along random edges to its end.
ProcedureProfile walked(Random& random, uint64_t walks) {
  ProcedureProfile procedure;
  procedure.blocks.resize(2 + below(random, 12));
  const auto size = static_cast<uint32_t>(procedure.blocks.size());
  for (BlockId from = 0; from < size; ++from)
    for (BlockId to = 1; to < size; ++to)
      if (below(random, 3) == 0)
        procedure.edges.push_back({from, to, ProcedureProfile::Edge::Kind::taken, 0});
  for (uint64_t i = 0; i < walks; ++i)
    for (BlockId at = 0; at != kNone;) {
      ++procedure.blocks[at].count;
      std::vector<ProcedureProfile::Edge*> ways;
      for (auto& edge : procedure.edges)
        if (edge.from == at) ways.push_back(&edge);
      const uint32_t way = below(random, static_cast<uint32_t>(ways.size()) + 1);
      at = way == ways.size() ? kNone : ways[way]->to;
      if (at != kNone) ++ways[way]->count;
    }
  return procedure;
}

TEST(Counts, RoundingLetsNothingIn) {
  Random random(11);
  for (int i = 0; i < 2000; ++i) {
    const ProcedureProfile procedure = walked(random, 1 + below(random, 40));
    CountSum sum(shape_of(std::vector{procedure}));
    const double factor = double(1 + below(random, 999)) / 1000;
    sum.add(0, procedure, factor);
    const ProcedureProfile rounded = sum.take()[0];
    EXPECT_EQ(rounded.entries(), rounded.blocks[0].count) << i;
    for (size_t b = 0; b < procedure.blocks.size(); ++b)
      EXPECT_NEAR(double(rounded.blocks[b].count), factor * double(procedure.blocks[b].count),
                  0.501);
    for (size_t e = 0; e < procedure.edges.size(); ++e)
      EXPECT_NEAR(double(rounded.edges[e].count), factor * double(procedure.edges[e].count), 1);
  }
}

TEST(Counts, EntriesBehindTheFirstBlockAreRounded) {
  ProcedureProfile procedure;
  procedure.blocks.resize(2);
  procedure.blocks[0].count = 10;
  procedure.blocks[1].count = 17;  // 7 of them from outside
  procedure.edges.push_back({0, 1, ProcedureProfile::Edge::Kind::fall_through, 10});
  CountSum sum(shape_of(std::vector{procedure}));
  sum.add(0, procedure, 0.96);  // 9.6, 16.32, of them 6.72 from outside
  const ProcedureProfile rounded = sum.take()[0];
  EXPECT_EQ(rounded.blocks[1].count, 16u);
  EXPECT_EQ(rounded.edges[0].count, 9u);
  EXPECT_EQ(rounded.entries(), 10u + 7u);
}

ProcedureProfile two_blocks(uint64_t address, uint64_t count) {
  ProcedureProfile procedure;
  procedure.name = "p";
  procedure.address = address;
  procedure.blocks.resize(2);
  procedure.blocks[1].address = address + 8;
  for (auto& block : procedure.blocks) block.count = count;
  procedure.edges.push_back({0, 1, ProcedureProfile::Edge::Kind::taken, count});
  return procedure;
}

TEST(Counts, UnitedProfilesKeepWhatOneOfThemKnows) {
  ProcedureProfile first = two_blocks(100, 5), second = two_blocks(100, 7);
  second.edges.push_back({1, 0, ProcedureProfile::Edge::Kind::indirect, 3});
  second.calls.push_back({1, 44, 2});
  second.exact = false;
  const Shape united = unite({two_blocks(50, 1), first}, {second, two_blocks(200, 9)});
  ASSERT_EQ(united.size(), 3u);
  EXPECT_EQ(united[0], two_blocks(50, 1));
  EXPECT_EQ(united[2], two_blocks(200, 9));
  EXPECT_EQ(united[1].blocks[0].count, 12u);
  ASSERT_EQ(united[1].edges.size(), 2u);
  EXPECT_EQ(united[1].edges[0].count, 12u);
  EXPECT_EQ(united[1].edges[1].count, 3u);
  ASSERT_EQ(united[1].calls.size(), 1u);
  EXPECT_FALSE(united[1].exact);
}

TEST(Counts, WhereBlocksDifferTheFirstCounts) {
  ProcedureProfile first = two_blocks(100, 5), second = two_blocks(100, 7);
  second.blocks[1].address += 4;
  EXPECT_EQ(unite({first}, {second}), Shape{first});
  EXPECT_EQ(unite({second}, {first}), Shape{second});
}

}  // namespace
}  // namespace respike

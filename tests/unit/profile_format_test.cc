// Profiles as bytes and in sums.

#include <gtest/gtest.h>

#include <limits>

#include "optimizer/base/bytes.h"
#include "optimizer/base/saturating.h"
#include "tests/unit/format_damage.h"
#include "tests/unit/profile_testing.h"

namespace respike {
namespace {

std::string error_of(const std::vector<uint8_t>& bytes) {
  try {
    decode_profile(bytes, "p.profile");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ProfileFormat, RoundTrip) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const Profile profile = random_profile(random);
    const std::vector<uint8_t> bytes = encode_profile(profile);
    EXPECT_EQ(decode_profile(bytes, "p"), profile) << seed;
    EXPECT_EQ(encode_profile(profile), bytes);
  }
  EXPECT_EQ(decode_profile(encode_profile({}), "p"), Profile{});
}

/// Code that never ran takes little more than a byte for a block, a byte for an edge, and four
/// bytes for a node.
TEST(ProfileFormat, IsCompact) {
  Profile profile;
  ProcedureProfile& procedure = profile.procedures.emplace_back();
  constexpr uint32_t kBlocks = 10'000;
  procedure.nodes.resize(kBlocks);
  for (uint32_t b = 0; b < kBlocks; ++b) {
    ProcedureProfile::Block block;
    block.address = 0x120000000 + 20 * b;
    block.size = 20;
    block.instructions = 5;
    block.node = b;
    procedure.blocks.push_back(block);
    if (b + 1 < kBlocks)
      procedure.edges.push_back({b, b + 1, ProcedureProfile::Edge::Kind::fall_through, 0});
  }
  EXPECT_LT(encode_profile(profile).size(), 6 * kBlocks + 100);
}

TEST(ProfileFormat, RefusesWhatIsNoProfile) {
  Random random(1);
  const std::vector<uint8_t> bytes = encode_profile(random_profile(random));
  EXPECT_EQ(error_of({}), "p.profile: this is no profile");
  EXPECT_EQ(error_of(std::vector<uint8_t>(100)), "p.profile: this is no profile");
  auto newer = bytes;
  store<uint32_t>(newer.data() + 8, 4);
  EXPECT_EQ(error_of(newer),
            "p.profile: the profile is of version 4, this Respike reads versions 2 to 3");
}

/// Version 2 had no switches.
TEST(ProfileFormat, SwitchesOfVersion2AreRefused) {
  Profile profile;
  ProcedureProfile& procedure = profile.procedures.emplace_back();
  procedure.blocks.resize(1);
  auto bytes = encode_profile(profile);
  store<uint32_t>(bytes.data() + 8, 2);
  EXPECT_EQ(error_of(bytes), "");
  procedure.switches.push_back({0});
  bytes = encode_profile(profile);
  EXPECT_EQ(error_of(bytes), "");
  store<uint32_t>(bytes.data() + 8, 2);
  EXPECT_TRUE(error_of(bytes).starts_with("p.profile: the profile is damaged: a flag is not known"))
      << error_of(bytes);
}

TEST(ProfileFormat, UnknownFlagsAreRefused) {
  std::vector<uint8_t> bytes = encode_procedure({});
  constexpr size_t kFlags = 10;  // after an empty name, an address of one byte, and a signature
  EXPECT_NO_THROW(decode_procedure(bytes));
  bytes[kFlags] |= 8;
  EXPECT_THROW(decode_procedure(bytes), Error);
}

TEST(ProfileFormat, DamageIsRefused) {
  Random random(2);
  const std::vector<uint8_t> bytes = encode_profile(random_profile(random));
  expect_damage_refused(bytes, error_of, random);
}

/// A correct checksum does not make a damaged profile sound.
TEST(ProfileFormat, DamageUnderARightChecksum) {
  Random random(3);
  const std::vector<uint8_t> bytes = encode_profile(random_profile(random));
  damage_below_checksum(
      bytes, error_of, random, [](const std::vector<uint8_t>&, const std::string& error) {
        if (error.empty()) return;
        EXPECT_TRUE(error.starts_with("p.profile: the profile is damaged: ")) << error;
        EXPECT_NE(error.find("(at offset 0x"), std::string::npos) << error;
      });
}

TEST(ProfileMerge, AddsWeightedCounts) {
  Random random(4);
  const Profile one = random_profile(random);
  Profile two = one;
  for (auto& procedure : two.procedures) {
    for (auto& block : procedure.blocks) block.count = 10;
    for (auto& edge : procedure.edges) edge.count = 7;
    procedure.exact = true;
  }
  two.runs = 2;
  const Profile sum = merge_profiles(std::vector{one, two}, std::vector{1.0, 0.5},
                                     std::vector<std::string>{"one", "two"});
  EXPECT_EQ(sum.runs, one.runs + 1);
  for (size_t p = 0; p < one.procedures.size(); ++p) {
    const ProcedureProfile &a = one.procedures[p], &s = sum.procedures[p];
    for (size_t b = 0; b < a.blocks.size(); ++b)
      EXPECT_EQ(s.blocks[b].count, saturating_add(a.blocks[b].count, 5));
    for (size_t e = 0; e < a.edges.size(); ++e)
      EXPECT_EQ(s.edges[e].count, saturating_add(a.edges[e].count, 4));
    EXPECT_EQ(s.exact, a.exact);
  }
  const Profile same =
      merge_profiles(std::vector{one}, std::vector{1.0}, std::vector<std::string>{"one"});
  EXPECT_EQ(same, one);
}

TEST(ProfileMerge, Saturates) {
  Random random(5);
  Profile one = random_profile(random);
  for (auto& procedure : one.procedures)
    for (auto& block : procedure.blocks) block.count = UINT64_MAX - 1;
  for (const double weight : {1.0, 3.0, 1e300}) {
    const Profile sum = merge_profiles(std::vector{one, one}, std::vector{weight, weight},
                                       std::vector<std::string>{"a", "b"});
    for (const auto& procedure : sum.procedures)
      for (const auto& block : procedure.blocks) EXPECT_EQ(block.count, UINT64_MAX);
  }
}

TEST(ProfileMerge, IndirectTargetsUnite) {
  Profile profile;
  profile.procedures.resize(1);
  profile.procedures[0].blocks.resize(2);
  Profile other = profile;
  profile.procedures[0].indirect = {{0, 0x100, 3}, {1, 0, 1}};
  other.procedures[0].indirect = {{0, 0x80, 2}, {0, 0x100, 4}};
  const Profile sum = merge_profiles(std::vector{profile, other}, std::vector{1.0, 2.0},
                                     std::vector<std::string>{"a", "b"});
  EXPECT_EQ(sum.procedures[0].indirect, (std::vector<ProcedureProfile::IndirectTarget>{
                                            {0, 0x80, 4}, {0, 0x100, 11}, {1, 0, 1}}));
}

TEST(ProfileMerge, RefusesAnotherImage) {
  Random random(6);
  const Profile one = random_profile(random);
  Profile hash = one, shape = one;
  ++hash.image_hash;
  shape.procedures.pop_back();
  for (const Profile& other : {hash, shape}) {
    try {
      merge_profiles(std::vector{one, other}, std::vector{1.0, 1.0},
                     std::vector<std::string>{"one", "other"});
      FAIL();
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "other: it is of another image than one");
    }
  }
}

TEST(Profile, InstructionsSaturate) {
  ProcedureProfile procedure;
  procedure.blocks.resize(2);
  procedure.blocks[0].instructions = 3;
  procedure.blocks[0].count = 5;
  EXPECT_EQ(procedure.instructions(), 15u);
  EXPECT_EQ(procedure.entries(), 5u);
  procedure.edges.push_back({0, 0, ProcedureProfile::Edge::Kind::taken, 3});
  EXPECT_EQ(procedure.entries(), 2u);
  EXPECT_TRUE(procedure.entered());
  procedure.blocks[1].instructions = 4;
  procedure.blocks[1].count = UINT64_MAX / 2;
  EXPECT_EQ(procedure.instructions(), UINT64_MAX);
}

}  // namespace
}  // namespace respike

// The profiles of several images in one file.

#include "optimizer/profile/profile_set.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "optimizer/base/error.h"
#include "optimizer/base/hash.h"
#include "optimizer/profile/records.h"

namespace respike {
namespace {

Profile profile_of(const std::string& name, uint64_t hash, const std::string& build_id) {
  Profile profile;
  profile.image_path = name;
  profile.image_hash = hash;
  profile.image_build_id = build_id;
  profile.runs = 2;
  ProcedureProfile& procedure = profile.procedures.emplace_back();
  procedure.name = "main";
  procedure.address = 0x1000;
  procedure.blocks.push_back({{0x1000, 8, 2, kNone}, 5});
  return profile;
}

ProfileSet some_profiles() {
  return {{"libstep.so.1", "x86-64", profile_of("libstep.so.1.2", 1, "aa")},
          {"", "x86-64", profile_of("prog", 2, "bb")},
          {"", "Alpha", profile_of("prog", 3, "cc")}};
}

TEST(ProfileSet, IsReadAsItWasWritten) {
  const ProfileSet set = some_profiles();
  ProfileSet read = decode_profile_set(encode_profile_set(set), "the file");
  EXPECT_TRUE(std::ranges::is_permutation(set, read));
  EXPECT_EQ(decode_profile_set(encode_profile_set({}), "the file"), ProfileSet{});
}

TEST(ProfileSet, HasTheSameBytesInAnyOrder) {
  ProfileSet set = some_profiles();
  const auto bytes = encode_profile_set(set);
  std::ranges::reverse(set);
  EXPECT_EQ(encode_profile_set(set), bytes);
}

TEST(ProfileSet, IsASingleProfile) {
  const Profile profile = profile_of("prog", 2, "bb");
  const ProfileSet read = decode_profile_set(encode_profile(profile), "the file");
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].profile, profile);
}

TEST(ProfileSet, FindsAnImageByWhatIsMostCertain) {
  const ProfileSet set = some_profiles();
  const auto found = [&](const ImageKey& key) -> uint64_t {
    const ImageProfile* entry = find_profile(set, key);
    return entry != nullptr ? entry->profile.image_hash : 0;
  };
  EXPECT_EQ(found({2, "aa", "libstep.so.1.2", "", ""}), 2u);  // contents before build id
  EXPECT_EQ(found({9, "aa", "prog", "", ""}), 1u);            // build id before name
  EXPECT_EQ(found({9, "", "prog", "libstep.so.1", "x86-64"}), 2u);
  EXPECT_EQ(found({9, "", "prog", "", "Alpha"}), 3u);
  EXPECT_EQ(found({9, "", "libstep.so.1.3", "libstep.so.1", "x86-64"}), 1u);
  EXPECT_EQ(found({9, "", "libstep.so.1.3", "libstep.so.1", "Alpha"}), 0u);
  EXPECT_EQ(found({0, "", "", "", ""}), 0u);      // nothing is known of it
  EXPECT_EQ(found({9, "", "prog", "", ""}), 0u);  // which of two machines?
}

TEST(ProfileSet, DoesNotGuessBetweenImagesOfOneName) {
  const ProfileSet set = {{"", "x86-64", profile_of("mod.so", 1, "aa")},
                          {"", "x86-64", profile_of("mod.so", 2, "bb")},
                          {"mod.so.1", "x86-64", profile_of("mod.so", 3, "cc")}};
  EXPECT_EQ(find_profile(set, {9, "", "mod.so", "", "x86-64"}), nullptr);
  EXPECT_EQ(find_profile(set, {9, "", "mod.so", "mod.so.1", "x86-64"}), &set[2]);
  EXPECT_EQ(find_profile(set, {9, "bb", "mod.so", "", "x86-64"}), &set[1]);
}

// The seal only guards against accidents: a file that somebody made to do harm has a right one.
TEST(ProfileSet, RefusesDamageBehindARightSeal) {
  const auto good = encode_profile_set(some_profiles());
  size_t refused = 0;
  for (size_t place = kSealSize; place < good.size(); ++place)
    for (const uint8_t value : {0x00, 0x7f, 0x80, 0xff}) {
      auto bytes = good;
      bytes[place] = value;
      const uint64_t hash = hash64(std::span(bytes).subspan(kSealSize));
      for (size_t i = 0; i < 8; ++i) bytes[kSealSize - 8 + i] = static_cast<uint8_t>(hash >> 8 * i);
      try {
        static_cast<void>(decode_profile_set(bytes, "the file"));
      } catch (const Error& error) {
        EXPECT_EQ(error.file(), "the file");
        ++refused;
      }
    }
  EXPECT_GT(refused, good.size());
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_THROW(decode_profile_set(std::span(good).first(size), "the file"), Error);
}

}  // namespace
}  // namespace respike

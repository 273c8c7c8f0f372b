#pragma once
// The profiles of several images in one file: what was counted of an application, to be kept beside
// its sources and used on another machine.
//
// Example: `respike profile export lighttpd -o lighttpd.profiles` writes the profiles of lighttpd
// and of its plugins; `respike optimize lighttpd --profile lighttpd.profiles` finds the profile of
// each image there.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "optimizer/profile/profile.h"

namespace respike {

/// A profile, and by what its image is known besides the contents.
struct ImageProfile {
  std::string soname;   // empty: none
  std::string machine;  // as `image info` prints it; empty: not known
  Profile profile;      // image_path may be a file name only
  bool operator==(const ImageProfile&) const = default;
};
using ProfileSet = std::vector<ImageProfile>;

/// What is known of an image for which a profile is looked for. Empty: not known.
struct ImageKey {
  uint64_t hash = 0;  // hash64 of the file
  std::string build_id;
  std::string file_name;  // without folders
  std::string soname;
  std::string machine;
};

/// The image's profile in a set: of the same contents, else of the same build id, else of the same
/// file name and SONAME, else of one of them; of the same machine. nullptr: there is none, or there
/// are several and none fits better.
const ImageProfile* find_profile(const ProfileSet& set, const ImageKey& image);

/// The format of docs/profiles.md. The same profiles in any order give the same bytes.
std::vector<uint8_t> encode_profile_set(ProfileSet set);
/// Reads a set; a file of a single profile is a set of one. Throws Error, with the offset where
/// known, when the file is damaged, of another version, or neither.
ProfileSet decode_profile_set(std::span<const uint8_t> bytes, const std::string& name);
ProfileSet read_profile_set(const std::filesystem::path& path);
/// Writes the whole file or, on error, nothing.
void write_profile_set(const std::filesystem::path& path, ProfileSet set);

}  // namespace respike

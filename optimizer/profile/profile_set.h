#pragma once
// The profiles of several images in one file: the counts of an application, to be kept beside its
// sources and used on another machine.
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

/// A profile, with what identifies its image apart from the contents.
struct ImageProfile {
  std::string soname;   // empty: none
  std::string machine;  // as `image info` prints it; empty: not known
  Profile profile;      // image_path may be a file name only
  bool operator==(const ImageProfile&) const = default;
};
using ProfileSet = std::vector<ImageProfile>;

/// What is known about an image for which a profile is sought. Empty: not known.
struct ImageKey {
  uint64_t hash = 0;  // hash64 of the file
  std::string build_id;
  std::string file_name;  // without folders
  std::string soname;
  std::string machine;
};

/// The image's profile in a set: with the same contents, else the same build id, else the same file
/// name and SONAME, else one of these; of the same machine. nullptr: no profile fits, or several
/// fit equally well.
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

// Finds the profile of an image in a set, and reads and writes sets.
//
// An image may have been built again on another machine, so its contents, build-id, file name and
// SONAME are compared in this order, from the most to the least certain. Except for equal contents,
// the machines must not differ, and two entries that fit equally well count as none.
//
// Example: lib/mod_a.so is sought by the file name "mod_a.so" without a SONAME. Two entries have
// this file name, one of them with a SONAME; the entry without one is taken.
//
// The format is a sealed frame (records.h) of entries, sorted, each with its SONAME, its machine
// and a whole profile in its own frame. A file of a single profile is read as a set of one.

#include "optimizer/profile/profile_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "optimizer/base/error.h"
#include "optimizer/base/files.h"
#include "optimizer/image/image.h"
#include "optimizer/profile/records.h"

namespace respike {
namespace {

constexpr SealedFormat kFormat = {"RSPKPSET", 1, "set of profiles", 1};

std::string file_name_of(const Profile& profile) {
  return std::filesystem::path(profile.image_path).filename();
}

bool is_set(std::span<const uint8_t> bytes) {
  return bytes.size() >= kFormat.magic.size() &&
         std::equal(kFormat.magic.begin(), kFormat.magic.end(), bytes.begin());
}

}  // namespace

const ImageProfile* find_profile(const ProfileSet& set, const ImageKey& image) {
  // The only entry that fits; nullptr as well where several do, since it is unknown which is meant.
  const auto find = [&](auto fits) -> const ImageProfile* {
    const ImageProfile* found = nullptr;
    for (const ImageProfile& entry : set) {
      const bool other_machine =
          !entry.machine.empty() && !image.machine.empty() && entry.machine != image.machine;
      if (other_machine || !fits(entry)) continue;
      if (found != nullptr) return nullptr;
      found = &entry;
    }
    return found;
  };
  const auto same = [](const std::string& a, const std::string& b) { return !a.empty() && a == b; };
  for (const ImageProfile& entry : set)  // several entries of the same contents are equal
    if (image.hash != 0 && entry.profile.image_hash == image.hash) return &entry;
  if (const auto* found =
          find([&](const auto& e) { return same(e.profile.image_build_id, image.build_id); }))
    return found;
  const auto same_name = [&](const ImageProfile& e) {
    return same(file_name_of(e.profile), image.file_name);
  };
  if (const auto* found =
          find([&](const auto& e) { return same_name(e) && e.soname == image.soname; }))
    return found;
  if (const auto* found = find(same_name)) return found;
  return find([&](const auto& e) { return same(e.soname, image.soname); });
}

std::vector<uint8_t> encode_profile_set(ProfileSet set) {
  std::vector<std::vector<uint8_t>> profiles;
  const auto key = [](const ImageProfile& entry) {
    const Profile& p = entry.profile;
    return std::tie(p.image_path, entry.soname, entry.machine, p.image_hash, p.image_build_id);
  };
  std::ranges::stable_sort(set, [&](const auto& a, const auto& b) { return key(a) < key(b); });
  ByteWriter out;
  out.uleb128(set.size());
  for (const ImageProfile& entry : set) {
    write_text(out, entry.soname);
    write_text(out, entry.machine);
    const std::vector<uint8_t> bytes = encode_profile(entry.profile);
    out.uleb128(bytes.size());
    out.append(bytes);
  }
  return seal(kFormat, out.bytes());
}

ProfileSet decode_profile_set(std::span<const uint8_t> bytes, const std::string& name) {
  if (!is_set(bytes)) return {{"", "", decode_profile(bytes, name)}};
  ByteReader in(unseal(kFormat, bytes, name), "it");
  try {
    ProfileSet set;
    constexpr size_t kLeast = kSealSize + 3;  // bytes of an entry
    for (size_t left = read_count(in, kLeast); left != 0; --left) {
      ImageProfile& entry = set.emplace_back();
      entry.soname = read_text(in);
      entry.machine = read_text(in);
      const size_t size = read_count(in);
      entry.profile = decode_profile(in.take(size), fmt::format("profile {}", set.size()));
    }
    if (!in.at_end()) throw Error("something follows its end");
    return set;
  } catch (const Error& error) {
    throw Error(fmt::format("the set of profiles is damaged: {}", error.what()), name,
                kSealSize + in.position());
  }
}

ProfileSet read_profile_set(const std::filesystem::path& path) {
  return decode_profile_set(read_file(path), path.string());
}

void write_profile_set(const std::filesystem::path& path, ProfileSet set) {
  write_file(path, encode_profile_set(std::move(set)), {});
}

}  // namespace respike

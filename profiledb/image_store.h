#pragma once
// Files under the hash of their contents: the images that Respike made, and their counter maps.
//
//   ROOT/images/<first two digits>/<32 hexadecimal digits>
//
// A file is written beside its place, brought to the disk, and renamed: what has its name is whole,
// whatever was killed when. The same contents are stored once. Nothing here knows the database;
// which files are still needed, its rows say (Database::prune).

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace respike {

/// Names a file by its contents: hash128 of its bytes.
struct ContentHash {
  std::array<uint8_t, 16> bytes{};

  bool operator==(const ContentHash&) const = default;
  auto operator<=>(const ContentHash&) const = default;
  std::string hex() const;  // 32 digits
};

ContentHash content_hash(std::span<const uint8_t> bytes);
/// nullopt unless the text is 32 lower-case hexadecimal digits.
std::optional<ContentHash> parse_content_hash(std::string_view text);

class ImageStore {
 public:
  /// Makes no folder before something is put in.
  explicit ImageStore(std::filesystem::path root) : root_(std::move(root)) {}

  /// Stores bytes with the given mode bits (0755: of images, 0644: of maps). When the contents are
  /// there already only their age is set back; a damaged file is replaced. Throws Error when they
  /// cannot be stored; nothing is left behind then.
  ContentHash put(std::span<const uint8_t> bytes, std::filesystem::perms mode);
  /// Stores a copy of a file, with its mode bits.
  ContentHash put(const std::filesystem::path& file);

  /// Where the file is, or would be.
  std::filesystem::path path(const ContentHash& hash) const;
  bool contains(const ContentHash& hash) const;
  /// Whether the file is there with its contents: reads it.
  bool is_intact(const ContentHash& hash) const;
  /// The contents. Throws Error when there are none, or when they are not those of the hash.
  std::vector<uint8_t> read(const ContentHash& hash) const;

  /// Removes files that `needed` denies and that are older than `age`: a file is put in before the
  /// row that refers to it is written. Also what an interrupted put left behind. Returns how many
  /// bytes were removed.
  uint64_t prune(const std::function<bool(const ContentHash&)>& needed, std::chrono::seconds age,
                 bool dry_run = false);

 private:
  std::filesystem::path root_;
};

}  // namespace respike

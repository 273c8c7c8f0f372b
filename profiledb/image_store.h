#pragma once
// Files under the hash of their contents: the images that Respike made, and their counter maps.
//
//   ROOT/images/<first two digits>/<32 hexadecimal digits>
//
// A file is written under another name, synced to the disk, and renamed: a file with its final name
// is complete, no matter when a process is killed. The same contents are stored once. The store
// does not know the database; its rows say which files are still needed (Database::prune).

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
  /// Makes no folder; the first put() does.
  explicit ImageStore(std::filesystem::path root) : root_(std::move(root)) {}

  /// Stores bytes with the given mode bits (0755 for images, 0644 for counter maps). If there is a
  /// file with these contents already, put() only updates its time; a damaged file is replaced.
  /// Throws Error, and leaves no file, when the bytes cannot be stored.
  ContentHash put(std::span<const uint8_t> bytes, std::filesystem::perms mode);
  /// Stores a copy of a file, with its mode bits.
  ContentHash put(const std::filesystem::path& file);

  /// The path that a file with this hash has or would have.
  std::filesystem::path path(const ContentHash& hash) const;
  bool contains(const ContentHash& hash) const;
  /// Whether the file is there and has the contents of its hash: reads the file.
  bool is_intact(const ContentHash& hash) const;
  /// The contents. Throws Error when there is no file, or when its contents do not fit the hash.
  std::vector<uint8_t> read(const ContentHash& hash) const;

  /// Removes files for which `needed` returns false and that are older than `age` (younger ones may
  /// be waiting for their row), and old temporary files of interrupted put() calls. Returns how
  /// many bytes were removed.
  uint64_t prune(const std::function<bool(const ContentHash&)>& needed, std::chrono::seconds age,
                 bool dry_run = false);

 private:
  std::filesystem::path root_;
};

}  // namespace respike

#pragma once
// The dynamic linker's cache of library names, as ldconfig writes it.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace respike {

class LibraryCache {
 public:
  /// No cache, or one in a format that is not known, knows no library, as for the dynamic linker.
  LibraryCache() = default;
  explicit LibraryCache(std::vector<uint8_t> bytes);

  /// The path of the library `name`. `flags`: of its machine's entries (Platform::cache_flags);
  /// `subfolders`: those that the processor may use, best first.
  std::optional<std::string> find(std::string_view name, uint32_t flags,
                                  std::span<const std::string_view> subfolders) const;

 private:
  struct Entry {
    uint32_t flags, name, path;  // the latter two: offsets of strings
    uint64_t hwcap;
  };
  std::string_view string(uint32_t offset) const;

  std::vector<uint8_t> bytes_;
  size_t start_ = 0;  // what offsets count from
  std::vector<Entry> entries_;
};

}  // namespace respike

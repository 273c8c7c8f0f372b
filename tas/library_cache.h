#pragma once
// The dynamic linker's cache of library names, written by ldconfig.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace respike {

class LibraryCache {
 public:
  /// Without a cache, or with a cache of an unknown format, find() finds nothing, like the dynamic
  /// linker.
  LibraryCache() = default;
  explicit LibraryCache(std::vector<uint8_t> bytes);

  /// The path of the library `name`. `flags`: the flags of entries for the machine
  /// (Platform::cache_flags). `subfolders`: the subfolders of glibc-hwcaps/ that the processor can
  /// use, best first.
  std::optional<std::string> find(std::string_view name, uint32_t flags,
                                  std::span<const std::string_view> subfolders) const;

 private:
  struct Entry {
    uint32_t flags, name, path;  // the latter two: offsets of strings
    uint64_t hwcap;
  };
  std::string_view string(uint32_t offset) const;

  std::vector<uint8_t> bytes_;
  size_t start_ = 0;  // start of the header, from which offsets count
  std::vector<Entry> entries_;
};

}  // namespace respike

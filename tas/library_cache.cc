// Reads /etc/ld.so.cache.
//
// Format (glibc 2.36, sysdeps/generic/dl-cache.h): a header of 48 bytes, "glibc-ld.so.cache1.1"
// with the number of entries at offset 20; entries of 24 bytes: flags, offsets of name and path, an
// unused word, hwcap; then strings. Offsets count from the header. Older files begin with another
// table, "ld.so-1.7.0", with the number of its 12-byte entries at offset 12.
//
// The cache may list a library several times, in versions for different levels of the processor.
// Such a version has a bit in hwcap and a path in glibc-hwcaps/LEVEL; the path shows whether the
// processor can use it. Limit: versions for the hardware capabilities used before glibc 2.33 are
// skipped.

#include "tas/library_cache.h"

#include <cstring>

#include "optimizer/base/bytes.h"

namespace respike {
namespace {

constexpr std::string_view kMagic = "glibc-ld.so.cache1.1", kOldMagic = "ld.so-1.7.0";
constexpr size_t kHeader = 48, kEntry = 24, kOldHeader = 16, kOldEntry = 12;
constexpr uint64_t kLevelBit = uint64_t{1} << 62;
constexpr std::string_view kLevels = "glibc-hwcaps/";

bool starts_with(const std::vector<uint8_t>& bytes, size_t at, std::string_view text) {
  return at <= bytes.size() && bytes.size() - at >= text.size() &&
         std::memcmp(bytes.data() + at, text.data(), text.size()) == 0;
}

/// The rank of a path, 0 is best; nullopt when the processor cannot use the library.
std::optional<size_t> rank_of(std::string_view path, bool level,
                              std::span<const std::string_view> subfolders) {
  if (!level) return subfolders.size();
  for (size_t i = 0; i < subfolders.size(); ++i) {
    const std::string folder = "/" + std::string(subfolders[i]) + "/";
    if (subfolders[i].starts_with(kLevels) && path.find(folder) != path.npos) return i;
  }
  return std::nullopt;
}

}  // namespace

LibraryCache::LibraryCache(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {
  if (starts_with(bytes_, 0, kOldMagic) && bytes_.size() >= kOldHeader) {
    const uint64_t end = kOldHeader + uint64_t{load<uint32_t>(&bytes_[12])} * kOldEntry;
    start_ = align_up(end, 8);
  }
  if (!starts_with(bytes_, start_, kMagic) || bytes_.size() - start_ < kHeader) return;
  const uint64_t count = load<uint32_t>(&bytes_[start_ + kMagic.size()]);
  const size_t room = (bytes_.size() - start_ - kHeader) / kEntry;
  for (size_t i = 0; i < std::min<uint64_t>(count, room); ++i) {
    const uint8_t* at = &bytes_[start_ + kHeader + i * kEntry];
    entries_.push_back({load<uint32_t>(at), load<uint32_t>(at + 4), load<uint32_t>(at + 8),
                        load<uint64_t>(at + 16)});
  }
}

std::string_view LibraryCache::string(uint32_t offset) const {
  if (offset >= bytes_.size() - start_) return {};
  const auto* begin = reinterpret_cast<const char*>(&bytes_[start_ + offset]);
  return {begin, strnlen(begin, bytes_.size() - start_ - offset)};
}

std::optional<std::string> LibraryCache::find(std::string_view name, uint32_t flags,
                                              std::span<const std::string_view> subfolders) const {
  std::optional<std::string> best;
  size_t best_rank = subfolders.size() + 1;
  for (const Entry& entry : entries_) {
    if (entry.flags != flags || string(entry.name) != name) continue;
    if (entry.hwcap != 0 && entry.hwcap >> 32 != kLevelBit >> 32) continue;
    const std::string_view path = string(entry.path);
    const auto rank = rank_of(path, entry.hwcap != 0, subfolders);
    if (!rank || *rank >= best_rank) continue;
    best_rank = *rank;
    best = path;
  }
  return best;
}

}  // namespace respike

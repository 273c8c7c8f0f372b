#pragma once
// Counter files where instrumented images leave them: which are finished, and what becomes of those
// that cannot be counted. Internal to profiledb.

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace respike {

inline constexpr const char* kCounterFileEnd = ".counts";

/// A file of the spool, open for reading.
class SpoolFile {
 public:
  /// nullopt when it is gone: another process has merged it. Throws Error when it cannot be opened
  /// or is no regular file.
  static std::optional<SpoolFile> open(const std::filesystem::path& path);
  SpoolFile(SpoolFile&& other) noexcept;
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;
  SpoolFile& operator=(SpoolFile&&) = delete;
  ~SpoolFile();

  const std::filesystem::path& path() const { return path_; }
  /// Whether a process can still change it: one has it open for writing, or mapped. Once that is
  /// false it stays false, since only the process that creates a counter file, and its children,
  /// ever open it.
  bool in_use() const;
  uint64_t size() const;
  /// From the beginning; no more than there is.
  std::vector<uint8_t> read(uint64_t most = UINT64_MAX) const;

 private:
  SpoolFile(std::filesystem::path path, int file) : path_(std::move(path)), file_(file) {}

  std::filesystem::path path_;
  int file_ = -1;
};

/// The slow way to find out whether a file is in use: looks at all processes. True, too, when there
/// are processes of the file's owner that may not be looked at.
bool any_process_uses(const struct stat& status, const std::filesystem::path& path);

/// Moves a file into a folder, under its name or, where that is taken, one with a number. Returns
/// the new path; nullopt when the file is gone. Throws Error.
std::optional<std::filesystem::path> move_into(const std::filesystem::path& file,
                                               const std::filesystem::path& folder);

}  // namespace respike

#pragma once
// Counter files in the spool: which of them are finished, and where uncountable files go. Internal
// to profiledb.

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
  /// nullopt when the file is gone: another process has merged it. Throws Error when the file
  /// cannot be opened or is not a regular file.
  static std::optional<SpoolFile> open(const std::filesystem::path& path);
  SpoolFile(SpoolFile&& other) noexcept;
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;
  SpoolFile& operator=(SpoolFile&&) = delete;
  ~SpoolFile();

  const std::filesystem::path& path() const { return path_; }
  /// Whether a process can still change the file, because the process has the file open for writing
  /// or mapped. Once this is false it stays false: only the process that creates a counter file,
  /// and the children of that process, ever open the file for writing.
  bool in_use() const;
  uint64_t size() const;
  /// The first bytes of the file, at most `most`.
  std::vector<uint8_t> read(uint64_t most = UINT64_MAX) const;

 private:
  SpoolFile(std::filesystem::path path, int file) : path_(std::move(path)), file_(file) {}

  std::filesystem::path path_;
  int file_ = -1;
};

/// The slow way to find out whether a file is in use: looks at all processes. Also true when a
/// process of the file's owner may not be inspected.
bool any_process_uses(const struct stat& status, const std::filesystem::path& path);

/// Moves a file into a folder; adds a number to the file's name if the name is taken. Returns the
/// new path; nullopt when the file is gone. Throws Error.
std::optional<std::filesystem::path> move_into(const std::filesystem::path& file,
                                               const std::filesystem::path& folder);

}  // namespace respike

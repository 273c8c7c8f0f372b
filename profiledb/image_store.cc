// The store of files by their contents.
//
// A file gets its name only when all its bytes are on the disk. So put() writes a temporary file
// `.new` in the same folder, syncs it, renames it, and syncs the folder; thus a row of the database
// never refers to a file that was lost in a power failure. prune() removes temporary files of
// killed processes when they are an hour old.
//
// Between put() and the commit of the row that refers to the new file, nothing refers to the file.
// That is why prune() spares young files, and put() sets the time of a file that is there already.

#include "profiledb/image_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "optimizer/base/error.h"
#include "optimizer/base/files.h"
#include "optimizer/base/hash.h"
#include "profiledb/folders.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTemporary = ".new";

[[noreturn]] void fail(const char* what, const fs::path& path, int error) {
  throw Error(fmt::format("{}: {}", what, std::strerror(error)), path);
}

/// A file that is being written; removed unless renamed.
class TemporaryFile {
 public:
  TemporaryFile(const fs::path& folder, mode_t mode) {
    std::string name = folder / ("XXXXXX" + std::string(kTemporary));
    file_ = mkostemps(name.data(), static_cast<int>(kTemporary.size()), O_CLOEXEC);
    if (file_ < 0) fail("the file cannot be made", folder, errno);
    path_ = name;
    mode_ = mode;
  }
  ~TemporaryFile() {
    if (file_ >= 0) close(file_);
    if (!path_.empty()) unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write_all(std::span<const uint8_t> bytes) {
    while (!bytes.empty()) {
      constexpr size_t kMost = size_t{1} << 30;  // write(2) accepts at least this
      const ssize_t done = write(file_, bytes.data(), std::min(kMost, bytes.size()));
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fail("the file cannot be written", path_, errno);
      bytes = bytes.subspan(static_cast<size_t>(done));
    }
  }
  void rename_to(const fs::path& path) {
    if (fchmod(file_, mode_) != 0 || fsync(file_) != 0)
      fail("the file cannot be written", path_, errno);
    if (rename(path_.c_str(), path.c_str()) != 0) fail("the file cannot be renamed", path_, errno);
    path_.clear();
  }

 private:
  fs::path path_;
  int file_ = -1;
  mode_t mode_ = 0;
};

std::chrono::seconds age_of(const struct stat& status) {
  return std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::system_clock::now() -
      std::chrono::system_clock::from_time_t(status.st_mtim.tv_sec));
}

}  // namespace

std::string ContentHash::hex() const {
  std::string text;
  for (const uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

ContentHash content_hash(std::span<const uint8_t> bytes) {
  return {hash128(bytes)};
}

std::optional<ContentHash> parse_content_hash(std::string_view text) {
  ContentHash hash;
  if (text.size() != 2 * hash.bytes.size()) return std::nullopt;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool digit = c >= '0' && c <= '9', letter = c >= 'a' && c <= 'f';
    if (!digit && !letter) return std::nullopt;
    hash.bytes[i / 2] =
        static_cast<uint8_t>(hash.bytes[i / 2] << 4 | (digit ? c - '0' : c - 'a' + 10));
  }
  return hash;
}

ContentHash ImageStore::put(std::span<const uint8_t> bytes, fs::perms mode) {
  const ContentHash hash = content_hash(bytes);
  const fs::path to = path(hash), folder = to.parent_path();
  struct stat status = {};
  if (stat(to.c_str(), &status) == 0 && static_cast<size_t>(status.st_size) == bytes.size() &&
      is_intact(hash) && utimensat(AT_FDCWD, to.c_str(), nullptr, 0) == 0)
    return hash;
  make_folder(folder);
  TemporaryFile file(folder, static_cast<mode_t>(mode & fs::perms::mask));
  file.write_all(bytes);
  file.rename_to(to);
  sync_folder(folder);
  sync_folder(folder.parent_path());
  return hash;
}

ContentHash ImageStore::put(const fs::path& file) {
  const std::vector<uint8_t> bytes = read_file(file);
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (error) fail("the file cannot be read", file, error.value());
  return put(bytes, status.permissions());
}

fs::path ImageStore::path(const ContentHash& hash) const {
  const std::string name = hash.hex();
  return root_ / "images" / name.substr(0, 2) / name;
}

bool ImageStore::contains(const ContentHash& hash) const {
  std::error_code error;
  return fs::is_regular_file(path(hash), error);
}

bool ImageStore::is_intact(const ContentHash& hash) const {
  try {
    return content_hash(read_file(path(hash))) == hash;
  } catch (const Error&) {
    return false;
  }
}

std::vector<uint8_t> ImageStore::read(const ContentHash& hash) const {
  std::vector<uint8_t> bytes = read_file(path(hash));
  if (content_hash(bytes) != hash)
    throw Error("the stored file is damaged: its contents are not those of its name", path(hash));
  return bytes;
}

uint64_t ImageStore::prune(const std::function<bool(const ContentHash&)>& needed,
                           std::chrono::seconds age, bool dry_run) {
  constexpr std::chrono::seconds kForgotten = std::chrono::hours(1);
  uint64_t removed = 0;
  const fs::path images = root_ / "images";
  for (const std::string& folder : names_in(images)) {
    for (const std::string& name : names_in(images / folder)) {
      const fs::path file = images / folder / name;
      struct stat status = {};
      if (lstat(file.c_str(), &status) != 0) continue;
      const auto hash = parse_content_hash(name);
      const bool forgotten = name.ends_with(kTemporary) && age_of(status) >= kForgotten;
      const bool unneeded = hash && age_of(status) >= age && !needed(*hash);
      if ((forgotten || unneeded) && (dry_run || unlink(file.c_str()) == 0))
        removed += static_cast<uint64_t>(status.st_size);
    }
  }
  return removed;
}

}  // namespace respike

// Finds out whether a counter file is finished.
//
// A process that was killed leaves no message, and its number may belong to another process by now.
// But the kernel knows who can write to a file. The kernel grants a read lease (fcntl(2),
// F_SETLEASE) only when no process has the file open for writing. A shared writable mapping counts
// as open, in the process itself and in forked children. So no lease is granted from the creation
// of the file to the end of its last process, not even to other PID namespaces. Example: a shell
// maps its counter file and forks; the lease is refused (EAGAIN) until parent and child have ended.
// Respike gives the lease back at once. If a process opens the file for writing in between, the
// kernel sends a signal; Respike selects SIGURG, which is ignored by default.
//
// Leases need the file's owner (or CAP_LEASE) and a file system that supports leases; ext4, tmpfs
// and overlayfs were tested. Elsewhere all processes are searched for the file. That search sees
// only processes of the same PID namespace and, unless root searches, of the same user; when a
// process of the file's owner may not be inspected, the file counts as in use.
//
// Limits: all processes that count into a spool, and all that merge it, run on one host.

#include "profiledb/spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "optimizer/base/error.h"
#include "profiledb/folders.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

struct stat status_of(int file, const fs::path& path) {
  struct stat status = {};
  if (fstat(file, &status) != 0)
    throw Error(fmt::format("the file cannot be read: {}", std::strerror(errno)), path);
  return status;
}

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// `line` is from /proc/PID/maps: range, permissions, offset, device, inode, path. On some file
/// systems the device differs from the device of stat(2); there the file name is enough, since it
/// has process and time in it.
bool is_mapping_of(const std::string& line, const struct stat& status, const std::string& name) {
  unsigned device_major = 0, device_minor = 0;
  int path_at = 0;
  unsigned long inode = 0;
  if (std::sscanf(line.c_str(), "%*s %*s %*s %x:%x %lu %n", &device_major, &device_minor, &inode,
                  &path_at) != 3)
    return false;
  const std::string path = line.substr(std::min<size_t>(path_at, line.size()));
  return path.ends_with("/" + name) || path.ends_with("/" + name + " (deleted)") ||
         (inode == status.st_ino && makedev(device_major, device_minor) == status.st_dev);
}

enum class Use { no, yes, unknown };

Use process_uses(const fs::path& process, const struct stat& status, const std::string& name) {
  std::ifstream maps(process / "maps");
  if (!maps) return errno == ENOENT || errno == ESRCH ? Use::no : Use::unknown;
  for (std::string line; std::getline(maps, line);)
    if (is_mapping_of(line, status, name)) return Use::yes;
  try {
    for (const std::string& descriptor : names_in(process / "fd")) {
      struct stat open = {};
      if (stat((process / "fd" / descriptor).c_str(), &open) != 0) continue;
      const int flags = [&] {
        std::ifstream info(process / "fdinfo" / descriptor);
        for (std::string line; std::getline(info, line);)
          if (line.starts_with("flags:"))
            return static_cast<int>(std::strtol(&line[6], nullptr, 8));
        return 0;
      }();
      if (open.st_ino == status.st_ino && open.st_dev == status.st_dev &&
          (flags & O_ACCMODE) != O_RDONLY)
        return Use::yes;
    }
  } catch (const Error&) {
    return Use::unknown;
  }
  return Use::no;
}

}  // namespace

std::optional<SpoolFile> SpoolFile::open(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0 && errno == ENOENT) return std::nullopt;
  if (file < 0) throw Error(fmt::format("the file cannot be read: {}", std::strerror(errno)), path);
  SpoolFile result(path, file);
  if (!S_ISREG(status_of(file, path).st_mode)) throw Error("this is not a regular file", path);
  return result;
}

SpoolFile::SpoolFile(SpoolFile&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}

SpoolFile::~SpoolFile() {
  if (file_ >= 0) close(file_);
}

bool SpoolFile::in_use() const {
  fcntl(file_, F_SETSIG, SIGURG);
  if (fcntl(file_, F_SETLEASE, F_RDLCK) == 0) {
    fcntl(file_, F_SETLEASE, F_UNLCK);
    return false;
  }
  return errno == EAGAIN || any_process_uses(status_of(file_, path_), path_);
}

uint64_t SpoolFile::size() const {
  return static_cast<uint64_t>(status_of(file_, path_).st_size);
}

std::vector<uint8_t> SpoolFile::read(uint64_t most) const {
  std::vector<uint8_t> bytes(static_cast<size_t>(std::min(size(), most)));
  size_t size = 0;
  while (size < bytes.size()) {
    constexpr size_t kMost = size_t{1} << 30;  // read(2) accepts at least this
    const ssize_t got = pread(file_, bytes.data() + size, std::min(kMost, bytes.size() - size),
                              static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw Error(fmt::format("the file cannot be read: {}", std::strerror(errno)), path_);
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  bytes.resize(size);
  return bytes;
}

bool any_process_uses(const struct stat& status, const fs::path& path) {
  bool unknown = false;
  for (const std::string& name : names_in("/proc")) {
    if (!is_number(name)) continue;
    const fs::path process = fs::path("/proc") / name;
    struct stat owner = {};
    const Use use = process_uses(process, status, path.filename());
    if (use == Use::yes) return true;
    if (use == Use::unknown && stat(process.c_str(), &owner) == 0 && owner.st_uid == status.st_uid)
      unknown = true;
  }
  return unknown;
}

std::optional<fs::path> move_into(const fs::path& file, const fs::path& folder) {
  make_folder(folder);
  for (unsigned number = 1;; ++number) {
    const fs::path to =
        folder / (number == 1 ? file.filename().string()
                              : fmt::format("{}.{}", file.filename().string(), number));
    // Another process may choose the same name at the same time, so no file may be replaced.
    if (renameat2(AT_FDCWD, file.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return to;
    if (errno == ENOENT) return std::nullopt;
    if (errno != EEXIST)
      throw Error(
          fmt::format("the file cannot be moved to {}: {}", folder.string(), std::strerror(errno)),
          file);
  }
}

}  // namespace respike

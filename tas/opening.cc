// Versions of libraries that programs open while they run.
//
// A library's version is mounted over the library in the program's mount namespace, like the
// versions of all other images, so the program sees the path that it opened. The dynamic linker
// identifies libraries by inode, and would load a library twice if it got a version after it was
// opened. So no version is mounted over a file that a process of the namespace has in its memory,
// and none stays mounted if the program has not waited. A library that is younger than the program
// is left alone: its maker will remove it, and a mount would prevent that. A mounted version must
// have been made of exactly the file that the program will open; the program may see another file
// under this path than the attendant.
//
// Example: a program opens ./plugin.so. Duties::open makes its version, which this process mounts
// over /home/me/plugin.so in the program's namespace; then the program opens that path.
//
// Source: setns(2).

#include "tas/opening.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include "tas/processes.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

constexpr rlim_t kProcessorTime = 300;       // seconds that a library may take
constexpr rlim_t kMemory = rlim_t{8} << 30;  // bytes that a library may take

/// The state by which a file is recognized as unchanged.
struct FileState {
  dev_t device = 0;
  uint64_t inode = 0, size = 0, modified = 0, changed = 0;
  bool is_mount = false;

  bool operator==(const FileState&) const = default;
};

std::optional<FileState> state_of(const fs::path& file) {
  struct statx status {};
  if (statx(AT_FDCWD, file.c_str(), 0, STATX_BASIC_STATS, &status) != 0) return std::nullopt;
  const auto time = [](const struct statx_timestamp& t) {
    return uint64_t(t.tv_sec) * 1000000000u + t.tv_nsec;
  };
  return FileState{.device = makedev(status.stx_dev_major, status.stx_dev_minor),
                   .inode = status.stx_ino,
                   .size = status.stx_size,
                   .modified = time(status.stx_mtime),
                   .changed = time(status.stx_ctime),
                   .is_mount = (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0};
}

/// Whether a process of the mount namespace has the file in its memory.
bool is_mapped(const FileState& file, const fs::path& path, uint64_t space) {
  const std::string inode =
      fmt::format(" {:02x}:{:02x} {} ", major(file.device), minor(file.device), file.inode);
  const std::string end = " " + path.string();
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != name.npos ||
        inode_of(mount_namespace_of(pid_t(std::atoi(name.c_str())))) != space)
      continue;
    std::ifstream maps(entry.path() / "maps");
    for (std::string line; std::getline(maps, line);)
      if (line.find(inode) != line.npos || line.ends_with(end)) return true;
  }
  return false;
}

/// Whether the process at the other end still waits.
bool is_waiting(int connection) {
  struct pollfd state {
    connection, POLLRDHUP, 0
  };
  return poll(&state, 1, 0) == 0;
}

/// Limits the resources for a file with untrusted contents.
void limit_resources() {
  const struct rlimit time { kProcessorTime, kProcessorTime }, memory{kMemory, kMemory};
  setrlimit(RLIMIT_CPU, &time);
  setrlimit(RLIMIT_AS, &memory);
}

/// Puts the version of a library in the library's place; returns whether it is there now. Enters
/// the namespace of the process that asks. `mounted`: the file over which the version was mounted.
bool put_version_in_place(const Opening& opening, const Duties& duties, uint64_t shared,
                          fs::path& mounted) {
  const Peer peer = peer_of(opening.connection);
  const fs::path root = fmt::format("/proc/{}/root", peer.process);
  std::error_code error;
  if (!opening.library.is_absolute() || peer.handle < 0 || !duties.open ||
      fs::read_symlink(root, error) != "/" || error)
    return false;
  limit_resources();
  const auto version = duties.open(opening.application, opening.library, opening.before);
  if (!version || !is_waiting(opening.connection)) return false;
  const auto made_of = state_of(version->original);
  enter_mount_namespace_of(peer.process);
  // The number of an ended process may belong to another process by now.
  if (syscall(SYS_pidfd_send_signal, peer.handle, 0, nullptr, 0) != 0) return false;
  const uint64_t entered = inode_of("/proc/self/ns/mnt");
  const auto seen = state_of(version->original);
  if (entered == 0 || entered == shared || !seen) return false;
  if (seen->is_mount) return true;
  if (seen != made_of || seen->changed >= opening.before || seen->modified >= opening.before ||
      is_mapped(*seen, version->original, entered))
    return false;
  mount_read_only(version->original, version->substitute);
  mounted = version->original;
  return true;
}

}  // namespace

void answer_opening(const Opening& opening, const Duties& duties, uint64_t shared) {
  bool done = false;
  fs::path mounted;
  try {
    done = put_version_in_place(opening, duties, shared, mounted);
  } catch (const std::exception&) {
  }
  const char answer = done ? '+' : '-';
  const bool heard =
      is_waiting(opening.connection) && send(opening.connection, &answer, 1, MSG_NOSIGNAL) == 1;
  if (!mounted.empty() && !heard) umount2(mounted.c_str(), MNT_DETACH);
  while (wait(nullptr) > 0) {  // for child processes that duties.open left
  }
}

}  // namespace respike

// Processes and their namespaces. Sources: proc(5), setns(2), ioctl_ns(2).
//
// The maker of a user namespace has all rights in it while outside it. So the user of a session
// enters the user namespace that owns the session's mount namespace, and may then enter the mount
// namespace.

#include "tas/processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "optimizer/base/error.h"
#include "tas/namespaces.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77  // Linux 6.5
#endif

namespace respike {

uint64_t start_ticks(pid_t process) {
  constexpr int kBefore = 19;  // fields after the name and before the start time
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string line, field;
  std::getline(file, line);
  const size_t name_end = line.rfind(')');
  if (name_end == line.npos) return 0;
  std::istringstream fields(line.substr(name_end + 1));
  for (int i = 0; i < kBefore; ++i) {
    fields >> field;
    const bool ended = field == "Z" || field == "X";
    if (i == 0 && ended) return 0;
  }
  uint64_t ticks = 0;
  fields >> ticks;
  return ticks;
}

uint64_t inode_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

Peer peer_of(int connection) {
  struct ucred known {};
  socklen_t size = sizeof known;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &known, &size) != 0 || known.pid <= 0)
    return {};
  Peer peer{known.pid, -1};
  size = sizeof peer.handle;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERPIDFD, &peer.handle, &size) != 0)
    peer.handle = int(syscall(SYS_pidfd_open, known.pid, 0));
  return peer;
}

std::string mount_namespace_of(pid_t process) {
  return fmt::format("/proc/{}/ns/mnt", process);
}

void enter_mount_namespace_of(pid_t process) {
  const int mounts = open(mount_namespace_of(process).c_str(), O_RDONLY | O_CLOEXEC);
  if (mounts < 0) throw Error(failure("its namespace cannot be opened"));
  const int users = ioctl(mounts, NS_GET_USERNS);
  if (users < 0) throw Error(failure("its user namespace cannot be opened"));
  struct stat own {
  }, other{};
  const bool same = stat("/proc/self/ns/user", &own) == 0 && fstat(users, &other) == 0 &&
                    own.st_ino == other.st_ino;
  if ((!same && setns(users, CLONE_NEWUSER) != 0) || setns(mounts, CLONE_NEWNS) != 0)
    throw Error(failure("its namespaces cannot be entered"));
  close(users);
  close(mounts);
}

}  // namespace respike

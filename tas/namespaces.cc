// Gives a process that may not mount the right to mount, in a namespace of its own.
//
// A process needs CAP_SYS_ADMIN to make a mount namespace. A process with this capability makes
// one, and nothing else changes. Every other process makes the mount namespace inside a new user
// namespace, in which its user and group are mapped to themselves. Two things differ there: files
// of other users and groups appear to belong to user `nobody`, and set-uid programs run without
// privilege.
//
// Since Linux 6.7 a user namespace can have a binfmt_misc of its own, whose files belong to root of
// the user namespace. So an ordinary user becomes root in a first user namespace, mounts, and
// becomes the same user again in a second one inside the first. Root also enters a user namespace
// in this case, with all users and groups mapped to themselves. There root may access files of all
// mapped users and become one of them, but cannot use devices or administer the network.
//
// If the root folder is not a mount point, as after chroot, mounts would not stay private, and no
// user namespace can be made. Root can make a mount of the folder that only this process sees: in a
// mount namespace of its own, a copy of the folder's tree becomes the root of the namespace
// (make_root_a_mount()). Nothing changes outside, and the process sees the same files as before.
//
// Sources: user_namespaces(7), mount_namespaces(7), pivot_root(2), "pivot_root(".", ".")".

#include "tas/namespaces.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "host/platform.h"
#include "optimizer/base/error.h"

namespace respike {
namespace {

bool has_capability(unsigned number) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data{};
  return syscall(SYS_capget, &header, data.data()) == 0 &&
         (data[number / 32].effective >> number % 32 & 1) != 0;
}

/// Why no user namespace with root in it could be made; to be checked before, since a process
/// cannot leave a namespace without a map. (user_namespaces(7), since Linux 5.12.)
std::optional<std::string> why_unmapped() {
  if (geteuid() != 0 || has_capability(CAP_SETFCAP)) return std::nullopt;
  return "no user namespace: root has no CAP_SETFCAP here";
}

/// A map with all numbers of this process's map, each mapped to itself.
std::string identity_map(const char* path) {
  std::ifstream file(path);
  std::string map;
  for (uint64_t inside, outside, count; file >> inside >> outside >> count;)
    map += fmt::format("{} {} {}\n", inside, inside, count);
  return map;
}

/// Enters a user namespace in which all users and groups are mapped to themselves. A process
/// outside has to write the maps. That process is made without an exit signal, so that the program
/// has no SIGCHLD pending.
std::optional<std::string> enter_with_all_users(int flags) {
  if (const auto why = why_unmapped()) return why;
  const std::string users = identity_map("/proc/self/uid_map");
  const std::string groups = identity_map("/proc/self/gid_map");
  const std::string process = fmt::format("/proc/{}/", getpid());
  std::array<int, 2> begin{}, done{};
  if (pipe2(begin.data(), O_CLOEXEC) != 0) return failure("no pipe");
  if (pipe2(done.data(), O_CLOEXEC) != 0) {
    for (const int file : begin) close(file);
    return failure("no pipe");
  }
  const long writer = syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr);
  if (writer == 0) {
    char byte = 0;
    close(begin[1]);
    const bool fine = read(begin[0], &byte, 1) == 1 && write_at_once(process + "uid_map", users) &&
                      write_at_once(process + "gid_map", groups);
    _exit(fine && write(done[1], "+", 1) == 1 ? 0 : 1);
  }
  close(begin[0]);
  close(done[1]);
  std::optional<std::string> problem;
  char byte = 0;
  if (writer < 0)
    problem = failure("no process");
  else if (unshare(flags) != 0)
    problem = failure("no user namespace");
  else if (write(begin[1], "+", 1) != 1 || read(done[0], &byte, 1) != 1)
    throw Error("the user namespace's map of users cannot be written");  // no way back
  close(begin[1]);
  close(done[0]);
  if (writer > 0) waitpid(pid_t(writer), nullptr, __WCLONE);
  return problem;
}

/// Enters a user namespace in which this process has the numbers `user` and `group`.
std::optional<std::string> enter_as(uid_t user, gid_t group, int flags) {
  const uid_t outer_user = geteuid();
  const gid_t outer_group = getegid();
  if (const auto why = why_unmapped()) return why;
  if (unshare(flags) != 0) return failure("no user namespace");
  write_at_once("/proc/self/setgroups", "deny");
  if (!write_at_once("/proc/self/uid_map", fmt::format("{} {} 1", user, outer_user)) ||
      !write_at_once("/proc/self/gid_map", fmt::format("{} {} 1", group, outer_group)))
    throw Error("the user namespace's map of users cannot be written");  // no way back
  return std::nullopt;
}

bool root_is_mount() {
  struct statx status {};
  return statx(AT_FDCWD, "/", 0, 0, &status) != 0 ||
         (status.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) == 0 ||
         (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

/// Enters a mount namespace whose root is a copy of the root folder's tree. Returns 0, or the error
/// of the system call that failed; then there is no way back.
int enter_copy_of_root() {
  const int self = int(syscall(SYS_pidfd_open, getpid(), 0));
  const bool made = self >= 0 && unshare(CLONE_NEWNS) == 0;
  const int root = made ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
  // Entering a namespace, also one's own, leads to its root folder, from where its mounts can be
  // made private.
  const bool alone = root >= 0 && setns(self, CLONE_NEWNS) == 0 &&
                     mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0;
  const int tree =
      alone ? int(syscall(SYS_open_tree, root, "",
                          AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC))
            : -1;
  const bool entered = tree >= 0 &&
                       syscall(SYS_move_mount, tree, "", root, "",
                               MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0 &&
                       fchdir(tree) == 0 && syscall(SYS_pivot_root, ".", ".") == 0 &&
                       umount2(".", MNT_DETACH) == 0;
  const int problem = entered ? 0 : errno;
  for (const int file : {self, root, tree})
    if (file >= 0) close(file);
  return problem;
}

/// Tries enter_copy_of_root() in a process of its own, made without an exit signal, and returns its
/// result.
int try_to_enter_copy_of_root() {
  const long trial = syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr);
  if (trial == 0) _exit(enter_copy_of_root());
  int status = 0;
  if (trial < 0 || waitpid(pid_t(trial), &status, __WCLONE) != trial) return errno;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;  // a system call filter may kill the
                                                           // process
}

}  // namespace

std::optional<std::string> make_root_a_mount() {
  constexpr const char* kWhat =
      "the root folder is no mount, so that mounts would not stay private";
  if (root_is_mount()) return std::nullopt;
  if (!has_capability(CAP_SYS_ADMIN) || !has_capability(CAP_SYS_CHROOT))
    return fmt::format("{}: before chroot, root has to do `mount --bind FOLDER FOLDER`", kWhat);
  std::error_code error;
  const auto here = std::filesystem::current_path(error);
  try {
    own_part("");  // afterwards the kernel does not know where this program is
  } catch (const Error& without_proc) {
    return fmt::format("{}: {}", kWhat, without_proc.what());
  }
  errno = try_to_enter_copy_of_root();
  if (errno != 0) return failure(kWhat);
  errno = enter_copy_of_root();
  if (errno != 0) throw Error(failure(kWhat));
  std::filesystem::current_path(here, error);
  return std::nullopt;
}

std::optional<std::string> Namespace::enter(bool with_formats) {
  constexpr int kUserAndMounts = CLONE_NEWUSER | CLONE_NEWNS;
  if (!with_formats && has_capability(CAP_SYS_ADMIN))
    return unshare(CLONE_NEWNS) == 0 ? std::nullopt : std::optional(failure("no mount namespace"));
  if (!with_formats) return enter_as(user_, group_, kUserAndMounts);
  if (has_capability(CAP_SETUID) && has_capability(CAP_SETGID))
    return enter_with_all_users(kUserAndMounts);
  return_ = true;
  return enter_as(0, 0, kUserAndMounts);
}

void Namespace::leave() const {
  if (!return_) return;
  if (const auto problem = enter_as(user_, group_, CLONE_NEWUSER)) throw Error(*problem);
}

bool may_mount() {
  return has_capability(CAP_SYS_ADMIN);
}

void keep_mounts_private() {
  if (mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
    throw Error(failure("mounts cannot be kept private"));
}

bool write_at_once(const std::string& path, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t written = write(file, text.data(), text.size());
  const int error = errno;
  close(file);
  errno = error;
  return written == ssize_t(text.size());
}

std::string failure(std::string_view what) {
  // The only limit of namespaces that Linux reports as a lack of space.
  if (errno == ENOSPC)
    return fmt::format("{}: sysctl user.max_user_namespaces allows no more of them", what);
  return fmt::format("{}: {}", what, std::strerror(errno));
}

}  // namespace respike

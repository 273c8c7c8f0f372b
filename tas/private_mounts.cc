// Mounts that only one process and its children see.
//
// A bind mount in a mount namespace substitutes a file without a trace: path, name, /proc/self/exe,
// AT_EXECFN and $ORIGIN stay the original's, for the program, its libraries and files opened later,
// and other processes see no difference. Example: X.db.files/images/3f/3f07... is mounted over
// /usr/bin/app; the program reads /usr/bin/app and gets the instrumented image.
//
// A process needs CAP_SYS_ADMIN to make a mount namespace. A process that has it makes one, and
// nothing else changes. Every other process makes the mount namespace inside a new user namespace,
// in which its user and group are mapped to themselves. Two things differ there: files of other
// users and groups seem to belong to nobody, and set-uid programs run without privilege.
//
// Mounts of the namespace are made slaves of the system's, so that later mounts of the system still
// appear. If the root folder is no mount point, as after chroot, the mounts would not stay private,
// so mount_privately() refuses.
//
// Programs of a foreign machine are started through an emulator. When such a program starts another
// one, the kernel must know the emulator: binfmt_misc. Since Linux 6.7 a user namespace can have a
// binfmt_misc of its own; before that the kernel refuses to mount it, and programs cannot start
// others unless the system knows the emulator. The files of binfmt_misc belong to root of the user
// namespace. So an ordinary user becomes root in a first user namespace, mounts, and becomes the
// same user again in a second one inside the first. Root, too, enters a user namespace in this
// case, with all users and groups mapped to themselves; there root may access files of all mapped
// users, but neither devices nor the network's administration.
//
// Sources: user_namespaces(7), mount_namespaces(7), Documentation/admin-guide/binfmt-misc.rst.

#include "tas/private_mounts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include "optimizer/base/error.h"
#include "optimizer/image/elf/program_headers.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormats = "/proc/sys/fs/binfmt_misc";
constexpr const char* kStarter = "respike-emulate";  // tas/emulate.cc

bool has_capability(unsigned number) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data{};
  return syscall(SYS_capget, &header, data.data()) == 0 &&
         (data[number / 32].effective >> number % 32 & 1) != 0;
}

/// Writes in one system call, which files of /proc need.
bool write_file(const std::string& path, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t written = write(file, text.data(), text.size());
  const int error = errno;
  close(file);
  errno = error;
  return written == ssize_t(text.size());
}

std::string failure(std::string_view what) {
  return fmt::format("{}: {}", what, std::strerror(errno));
}

// ---- user namespaces ----

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
/// will not find a SIGCHLD pending.
std::optional<std::string> enter_with_all_users(int flags) {
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
    const bool fine = read(begin[0], &byte, 1) == 1 && write_file(process + "uid_map", users) &&
                      write_file(process + "gid_map", groups);
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
  if (unshare(flags) != 0) return failure("no user namespace");
  write_file("/proc/self/setgroups", "deny");
  if (!write_file("/proc/self/uid_map", fmt::format("{} {} 1", user, outer_user)) ||
      !write_file("/proc/self/gid_map", fmt::format("{} {} 1", group, outer_group)))
    throw Error("the user namespace's map of users cannot be written");  // no way back
  return std::nullopt;
}

// ---- foreign programs ----

std::string hex(std::span<const uint8_t> bytes) {
  std::string text;
  for (const uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

/// Whether the kernel knows an emulator for programs of the machine.
bool kernel_knows(const Platform& platform) {
  const elf::ProgramMagic magic = elf::program_magic(platform.machine);
  const std::string start = hex(std::span(magic.bytes).first(5));
  const std::string machine = hex(std::span(magic.bytes).subspan(18, 2));
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(kFormats, error)) {
    std::ifstream file(entry.path());
    std::string first, word, text;
    for (file >> first; file >> word;)
      if (word == "magic") file >> text;
    if (first == "enabled" && text.starts_with(start) && text.size() >= 40 &&
        text.substr(36, 4) == machine)
      return true;
  }
  return false;
}

/// Registers respike-emulate for programs of the machine. Ignores errors, since most programs start
/// no others.
void teach_kernel(const Platform& platform) {
  std::error_code error;
  const fs::path starter = fs::read_symlink("/proc/self/exe", error).parent_path() / kStarter;
  if (access(starter.c_str(), X_OK) != 0 ||
      mount("binfmt_misc", kFormats, "binfmt_misc", 0, nullptr) != 0)
    return;
  const auto escaped = [](const auto& bytes) {
    std::string text;
    for (const uint8_t byte : bytes) text += fmt::format("\\x{:02x}", byte);
    return text;
  };
  const elf::ProgramMagic magic = elf::program_magic(platform.machine);
  constexpr char kBetween = '\x01';  // separates fields: a character that no field contains
  std::string line;
  for (const std::string& field : {std::string("respike"), std::string("M"), std::string(),
                                   escaped(magic.bytes), escaped(magic.mask), starter.string()})
    line += kBetween + field;
  line += std::string(1, kBetween) + "PF";  // keep argv[0]; open the starter now
  write_file(std::string(kFormats) + "/register", line);
}

void mount_over(const fs::path& original, const fs::path& substitute) {
  if (mount(substitute.c_str(), original.c_str(), nullptr, MS_BIND, nullptr) != 0)
    throw Error(
        fmt::format("{} cannot be put in its place: {}", substitute.string(), std::strerror(errno)),
        original);
  // All runs share the substitute, so nobody may write to it. The restrictions of its file system
  // have to be repeated, since a user namespace may not lift them.
  struct statvfs status {};
  unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY;
  if (statvfs(original.c_str(), &status) == 0) {
    if (status.f_flag & ST_NOSUID) flags |= MS_NOSUID;
    if (status.f_flag & ST_NODEV) flags |= MS_NODEV;
    if (status.f_flag & ST_NOEXEC) flags |= MS_NOEXEC;
    if (status.f_flag & ST_NOATIME) flags |= MS_NOATIME;
    if (status.f_flag & ST_NODIRATIME) flags |= MS_NODIRATIME;
    if (status.f_flag & ST_RELATIME) flags |= MS_RELATIME;
  }
  if (mount(nullptr, original.c_str(), nullptr, flags, nullptr) != 0)
    throw Error(
        fmt::format("{} cannot be put in its place: {}", substitute.string(), std::strerror(errno)),
        original);
}

// ---- the whole ----

/// Whether the root folder is a mount point: only then can mounts be kept private.
bool root_is_mount() {
  struct statx status {};
  return statx(AT_FDCWD, "/", 0, 0, &status) != 0 ||
         (status.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) == 0 ||
         (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

/// Enters namespaces, in one of three ways, and then may mount; leave() gives up that right.
class Namespace {
 public:
  /// Returns why entering failed, as a clause; nothing has changed then.
  std::optional<std::string> enter(bool with_formats) {
    constexpr int kUserAndMounts = CLONE_NEWUSER | CLONE_NEWNS;
    if (!with_formats && has_capability(CAP_SYS_ADMIN))
      return unshare(CLONE_NEWNS) == 0 ? std::nullopt
                                       : std::optional(failure("no mount namespace"));
    if (!with_formats) return enter_as(user_, group_, kUserAndMounts);
    if (has_capability(CAP_SETUID) && has_capability(CAP_SETGID))
      return enter_with_all_users(kUserAndMounts);
    return_ = true;
    return enter_as(0, 0, kUserAndMounts);
  }
  void leave() const {
    if (!return_) return;
    if (const auto problem = enter_as(user_, group_, CLONE_NEWUSER)) throw Error(*problem);
  }

 private:
  uid_t user_ = geteuid();
  gid_t group_ = getegid();
  bool return_ = false;
};

std::optional<std::string> mount_all(const std::vector<Substitution>& substitutions,
                                     const Platform* to_teach) {
  if (!root_is_mount()) return "the root folder is no mount, so that mounts would not stay private";
  Namespace own;
  auto problem = own.enter(to_teach != nullptr);
  if (problem && to_teach) problem = (own = Namespace()).enter(false);
  if (problem) return problem;
  if (mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
    throw Error(failure("mounts cannot be kept private"));
  for (const Substitution& s : substitutions) mount_over(s.original, s.substitute);
  if (to_teach) teach_kernel(*to_teach);
  own.leave();
  return std::nullopt;
}

/// Whether the kernel can be taught the emulator. Tried in a process of its own, since an error may
/// leave this process in a namespace, and a program without substitutes shall run wherever it runs
/// without Respike. The process is made without an exit signal, as above.
bool can_be_taught(const Platform& foreign) {
  const long trial = syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr);
  if (trial == 0) try {
      _exit(!mount_all({}, &foreign) && kernel_knows(foreign) ? 0 : 1);
    } catch (const std::exception&) {
      _exit(1);
    }
  int status = 0;
  return trial > 0 && waitpid(pid_t(trial), &status, __WCLONE) == trial && status == 0;
}

}  // namespace

std::optional<std::string> mount_privately(const std::vector<Substitution>& substitutions,
                                           const Platform* foreign) {
  const bool teach = foreign != nullptr && !kernel_knows(*foreign);
  if (substitutions.empty() && !(teach && can_be_taught(*foreign))) return std::nullopt;
  return mount_all(substitutions, teach ? foreign : nullptr);
}

std::optional<fs::path> mounted_over(const fs::path& file) {
  struct statx status {};
  if (statx(AT_FDCWD, file.c_str(), 0, STATX_MNT_ID, &status) != 0 ||
      (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) == 0 || (status.stx_mask & STATX_MNT_ID) == 0)
    return std::nullopt;
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    uint64_t number = 0;
    std::string parent, device, root;
    if (!(fields >> number >> parent >> device >> root) || number != status.stx_mnt_id) continue;
    constexpr std::string_view kRemoved = "//deleted";
    if (root.ends_with(kRemoved)) root.erase(root.size() - kRemoved.size());
    return root;
  }
  return std::nullopt;
}

}  // namespace respike

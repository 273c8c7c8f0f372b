// Mounts that only one process and its children see.
//
// A bind mount in a mount namespace substitutes a file without a trace: path, name, /proc/self/exe,
// AT_EXECFN and $ORIGIN stay the original's, for the program, its libraries and files opened later,
// and other processes see no difference. Example: X.db.files/images/3f/3f07... is mounted over
// /usr/bin/app; the program reads /usr/bin/app and gets the instrumented image.
//
// namespaces.h makes the namespaces. Mounts are made slaves of the system's mounts, so that later
// mounts of the system still appear. If mounts would not stay private, mount_privately() refuses.
//
// Programs of a foreign machine are started through an emulator. When such a program starts another
// one, the kernel must know the emulator (kernel_formats.h). If the kernel refuses to mount its
// table, programs cannot start others unless the system knows the emulator.
//
// Below `respike exec` and in sessions the kernel's table says which programs are intercepted. A
// process that shall see originals gets a table without these rules, so that measurements there
// equal measurements outside.

#include "tas/private_mounts.h"

#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include "optimizer/base/error.h"
#include "tas/kernel_formats.h"
#include "tas/namespaces.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

/// Rules for the kernel, for a namespace of their own.
struct Formats {
  std::vector<FormatRule> rules;  // the newest first
  bool required = false;          // otherwise errors are ignored: most programs start no others
};

void put_formats(const Formats& formats) {
  const bool mounted = mount_formats();
  if (!mounted && formats.required)
    throw Error(failure("programs cannot be executed as they are below this command"));
  for (auto rule = formats.rules.rbegin(); mounted && rule != formats.rules.rend(); ++rule)
    add_format(*rule);  // a rule whose interpreter is gone fails, as it would outside
}

/// The rules that make the emulator of a machine known to the kernel.
Formats formats_for(const Platform& platform) {
  Formats formats;
  if (const auto rule = emulation_rule(platform)) formats.rules.push_back(*rule);
  return formats;
}

// ---- mounting ----

std::optional<std::string> mount_all(const std::vector<Substitution>& substitutions,
                                     const Formats* formats,
                                     const std::function<void()>& while_mounting) {
  if (auto problem = make_root_a_mount()) return problem;
  Namespace own;
  auto problem = own.enter(formats != nullptr);
  if (problem && formats != nullptr && !formats->required)
    problem = (own = Namespace()).enter(false);
  if (problem) return problem;
  keep_mounts_private();
  for (const Substitution& s : substitutions) mount_read_only(s.original, s.substitute);
  if (while_mounting) while_mounting();
  if (formats != nullptr) put_formats(*formats);
  own.leave();
  return std::nullopt;
}

/// Whether the emulator can be made known to the kernel. Tried in a process of its own, since an
/// error may leave this process in a namespace, and a program without substitutes must run wherever
/// it runs without Respike. The process is made without an exit signal, as above.
bool can_be_taught(const Platform& foreign) {
  const long trial = syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr);
  if (trial == 0) try {
      const Formats formats = formats_for(foreign);
      _exit(!mount_all({}, &formats, {}) && are_executed(foreign, format_rules()) ? 0 : 1);
    } catch (const std::exception&) {
      _exit(1);
    }
  int status = 0;
  return trial > 0 && waitpid(pid_t(trial), &status, __WCLONE) == trial && status == 0;
}

}  // namespace

std::optional<std::string> mount_privately(const std::vector<Substitution>& substitutions,
                                           const Platform* foreign,
                                           const std::function<void()>& while_mounting) {
  const bool teach = foreign != nullptr && !are_executed(*foreign, format_rules());
  if (substitutions.empty() && !(teach && can_be_taught(*foreign))) return std::nullopt;
  if (!teach) return mount_all(substitutions, nullptr, while_mounting);
  const Formats formats = formats_for(*foreign);
  return mount_all(substitutions, &formats, while_mounting);
}

std::optional<std::string> mount_unintercepted(const std::vector<Substitution>& substitutions,
                                               const Platform* foreign) {
  const std::vector<FormatRule> outside = format_rules();
  if (!is_intercepted(outside)) return mount_privately(substitutions, foreign, {});
  const Formats formats{.rules = without_interception(outside), .required = true};
  return mount_all(substitutions, &formats, {});
}

void mount_read_only(const fs::path& original, const fs::path& substitute) {
  if (mount(substitute.c_str(), original.c_str(), nullptr, MS_BIND, nullptr) != 0)
    throw Error(
        fmt::format("{} cannot be put in its place: {}", substitute.string(), std::strerror(errno)),
        original);
  // All runs share the substitute, so it is mounted read-only. The restrictions of its file system
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
  if (mount(nullptr, original.c_str(), nullptr, flags, nullptr) == 0) return;
  const int error = errno;
  umount2(original.c_str(), MNT_DETACH);
  throw Error(
      fmt::format("{} cannot be put in its place: {}", substitute.string(), std::strerror(error)),
      original);
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

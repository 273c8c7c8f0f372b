#pragma once
// User and mount namespaces of this process's own, in which it may mount.

#include <sys/types.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>

namespace respike {

/// Mounts can be kept private only if the root folder is a mount point. If it is not, as after
/// chroot, moves this process into a mount namespace in which it is one. This process must have one
/// thread. Returns why that is not possible, as a clause; then nothing has changed. Throws Error if
/// it fails after something has changed.
std::optional<std::string> make_root_a_mount();

/// Enters namespaces, in one of three ways, and then may mount; leave() gives up that right. This
/// process must have one thread.
class Namespace {
 public:
  /// `with_formats`: binfmt_misc can be mounted as well. Returns why entering failed, as a clause;
  /// then nothing has changed. Throws Error if it fails after something has changed.
  std::optional<std::string> enter(bool with_formats);
  /// Becomes the same user again, who may not mount. Throws Error when that fails.
  void leave() const;

 private:
  uid_t user_ = geteuid();
  gid_t group_ = getegid();
  bool return_ = false;
};

/// Whether this process has the capability to mount in its namespace.
bool may_mount();

/// Lets later mounts of the system appear in this namespace, but not the other way round. Throws
/// Error when that is not possible.
void keep_mounts_private();

/// Writes a text in one system call, as files of /proc require.
bool write_at_once(const std::string& path, std::string_view text);

/// "WHAT: why the last system call failed".
std::string failure(std::string_view what);

}  // namespace respike

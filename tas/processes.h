#pragma once
// Facts about processes from /proc, and their namespaces.

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace respike {

/// When a process was made, in clock ticks since the system started; 0: there is no such process,
/// or it has ended and its parent has not waited for it yet.
uint64_t start_ticks(pid_t process);

/// The inode of a file, which identifies a namespace; 0: there is no file.
uint64_t inode_of(const std::string& path);

/// The process at the other end of a connection of unix(7), as the kernel knows it.
struct Peer {
  pid_t process = 0;
  int handle = -1;  // a pidfd, open; -1: there is none
};
Peer peer_of(int connection);

/// The path of the mount namespace of a process.
std::string mount_namespace_of(pid_t process);

/// Enters the mount namespace of a process, and the user namespace that owns it. This process must
/// have one thread. Throws Error when that is not allowed.
void enter_mount_namespace_of(pid_t process);

}  // namespace respike

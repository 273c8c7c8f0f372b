// System calls on files that cannot be passed to the host: their structures differ or hold
// pointers, or their paths have to be mapped.

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "emulators/ia64/memory_access.h"
#include "emulators/ia64/opened.h"
#include "emulators/ia64/signals.h"
#include "emulators/ia64/system_calls.h"

namespace respike::emulator::ia64 {

namespace {

/// asm/stat.h
struct GuestStat {
  uint64_t dev, ino, nlink;
  uint32_t mode, uid, gid, padding;
  uint64_t rdev, size, atime, atime_ns, mtime, mtime_ns, ctime, ctime_ns, blksize;
  int64_t blocks;
  uint64_t unused[3];
};
static_assert(sizeof(GuestStat) == 144);

int64_t store_stat(Thread& thread, int result, const struct stat& s, uint64_t address) {
  if (result != 0) return -errno;
  GuestStat guest = {};
  guest.dev = s.st_dev;
  guest.ino = s.st_ino;
  guest.nlink = s.st_nlink;
  guest.mode = s.st_mode;
  guest.uid = s.st_uid;
  guest.gid = s.st_gid;
  guest.rdev = s.st_rdev;
  guest.size = static_cast<uint64_t>(s.st_size);
  guest.atime = static_cast<uint64_t>(s.st_atim.tv_sec);
  guest.atime_ns = static_cast<uint64_t>(s.st_atim.tv_nsec);
  guest.mtime = static_cast<uint64_t>(s.st_mtim.tv_sec);
  guest.mtime_ns = static_cast<uint64_t>(s.st_mtim.tv_nsec);
  guest.ctime = static_cast<uint64_t>(s.st_ctim.tv_sec);
  guest.ctime_ns = static_cast<uint64_t>(s.st_ctim.tv_nsec);
  guest.blksize = static_cast<uint64_t>(s.st_blksize);
  guest.blocks = s.st_blocks;
  store_guest(thread.cpu, address, guest);
  return 0;
}

/// Whether a path is /proc/self/NAME or /proc/PID/NAME of this process.
bool is_own(const std::string& path, const char* name) {
  return path == std::string("/proc/self/") + name ||
         path == "/proc/" + std::to_string(getpid()) + "/" + name;
}

std::string path_of(Thread& thread, uint64_t address) {
  const std::string path = guest_string(thread, address);
  return is_own(path, "exe") ? thread.process.program : host_path(thread, path);
}

int64_t guest_stat_at(Thread& thread, int folder, uint64_t path, uint64_t buffer, int flags) {
  struct stat status;
  const std::string name = (flags & AT_SYMLINK_NOFOLLOW)
                               ? host_path(thread, guest_string(thread, path))
                               : path_of(thread, path);
  return store_stat(thread, fstatat(folder, name.c_str(), &status, flags), status, buffer);
}

int64_t guest_stat(Thread& thread, const Arguments& a) {
  return guest_stat_at(thread, AT_FDCWD, a[0], a[1], 0);
}
int64_t guest_lstat(Thread& thread, const Arguments& a) {
  return guest_stat_at(thread, AT_FDCWD, a[0], a[1], AT_SYMLINK_NOFOLLOW);
}
int64_t guest_fstatat(Thread& thread, const Arguments& a) {
  return guest_stat_at(thread, static_cast<int>(a[0]), a[1], a[2], static_cast<int>(a[3]));
}
int64_t guest_fstat(Thread& thread, const Arguments& a) {
  struct stat status;
  return store_stat(thread, fstat(static_cast<int>(a[0]), &status), status, a[1]);
}

/// Opens a file without a name that holds `text`.
int64_t open_text(const std::string& text, int flags) {
  const int file = memfd_create("guest", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
  if (file < 0) return -errno;
  if (write(file, text.data(), text.size()) < 0 || lseek(file, 0, SEEK_SET) < 0) {
    const int error = errno;
    close(file);
    return -error;
  }
  return file;
}

int64_t open_at(Thread& thread, int folder, uint64_t path, int flags, uint64_t mode) {
  const std::string name = guest_string(thread, path);
  if (is_own(name, "maps")) return open_text(thread.process.memory.describe(), flags);
  if (is_own(name, "cmdline")) return open_text(thread.process.command_line, flags);
  const std::string host = is_own(name, "exe") ? thread.process.program : host_path(thread, name);
  if ((flags & O_ACCMODE) == O_RDONLY) ask_for_version(thread.process, thread.cpu.ip, host);
  return safe_system_call(thread, SYS_openat, static_cast<uint64_t>(folder),
                          reinterpret_cast<uint64_t>(host.c_str()), static_cast<uint64_t>(flags),
                          mode);
}
int64_t guest_open(Thread& thread, const Arguments& a) {
  return open_at(thread, AT_FDCWD, a[0], static_cast<int>(a[1]), a[2]);
}
int64_t guest_openat(Thread& thread, const Arguments& a) {
  return open_at(thread, static_cast<int>(a[0]), a[1], static_cast<int>(a[2]), a[3]);
}

int64_t read_link(Thread& thread, int folder, uint64_t path, uint64_t buffer, uint64_t size) {
  const std::string name = guest_string(thread, path);
  std::string target;
  if (is_own(name, "exe")) {
    target = thread.process.program;
  } else {
    char text[PATH_MAX];
    const ssize_t length = readlinkat(folder, host_path(thread, name).c_str(), text, sizeof text);
    if (length < 0) return -errno;
    target.assign(text, static_cast<size_t>(length));
  }
  if (static_cast<int64_t>(size) <= 0) return -EINVAL;
  const size_t copied = std::min<size_t>(size, target.size());
  for (size_t i = 0; i < copied; ++i) store_guest(thread.cpu, buffer + i, target[i]);
  return static_cast<int64_t>(copied);
}
int64_t guest_readlink(Thread& thread, const Arguments& a) {
  return read_link(thread, AT_FDCWD, a[0], a[1], a[2]);
}
int64_t guest_readlinkat(Thread& thread, const Arguments& a) {
  return read_link(thread, static_cast<int>(a[0]), a[1], a[2], a[3]);
}

/// statfs64 and fstatfs64 also take the size of the structure, which is that of statfs.
int64_t guest_statfs64(Thread& thread, const Arguments& a) {
  struct statfs status;
  if (a[1] != sizeof status) return -EINVAL;
  if (statfs(path_of(thread, a[0]).c_str(), &status) != 0) return -errno;
  store_guest(thread.cpu, a[2], status);
  return 0;
}
int64_t guest_fstatfs64(Thread& thread, const Arguments& a) {
  struct statfs status;
  if (a[1] != sizeof status) return -EINVAL;
  if (fstatfs(static_cast<int>(a[0]), &status) != 0) return -errno;
  store_guest(thread.cpu, a[2], status);
  return 0;
}

/// pipe returns the second descriptor in r9.
int64_t guest_pipe(Thread& thread, const Arguments&) {
  int ends[2];
  if (pipe(ends) != 0) return -errno;
  thread.cpu.gr[9] = static_cast<uint64_t>(ends[1]);
  return ends[0];
}

int64_t guest_fcntl(Thread& thread, const Arguments& a) {
  switch (a[1]) {
    case F_GETLK:
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_GETLK:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
    case F_GETOWN_EX:
    case F_SETOWN_EX:
    case 1035:
    case 1036:
    case 1037:
    case 1038:  // hints of lifetime (F_GET_RW_HINT to F_SET_FILE_RW_HINT)
      return safe_system_call(thread, SYS_fcntl, a[0], a[1], host_pointer(thread, a[2]));
    default:
      return safe_system_call(thread, SYS_fcntl, a[0], a[1], a[2]);
  }
}

/// An argument in a region with memory of programs is a pointer; numbers are small.
int64_t guest_ioctl(Thread& thread, const Arguments& a) {
  const uint64_t argument = a[2] >> 61 == 0 ? a[2] : host_pointer(thread, a[2]);
  return safe_system_call(thread, SYS_ioctl, a[0], a[1], argument);
}

int64_t vector_call(Thread& thread, long number, const Arguments& a) {
  iovec vectors[IOV_MAX];
  if (a[2] > IOV_MAX) return -EINVAL;
  load_vectors(thread, a[1], a[2], vectors);
  return safe_system_call(thread, number, a[0], reinterpret_cast<uint64_t>(vectors), a[2], a[3],
                          a[4], a[5]);
}
int64_t guest_readv(Thread& t, const Arguments& a) {
  return vector_call(t, SYS_readv, a);
}
int64_t guest_writev(Thread& t, const Arguments& a) {
  return vector_call(t, SYS_writev, a);
}
int64_t guest_preadv(Thread& t, const Arguments& a) {
  return vector_call(t, SYS_preadv, a);
}
int64_t guest_pwritev(Thread& t, const Arguments& a) {
  return vector_call(t, SYS_pwritev, a);
}
int64_t guest_preadv2(Thread& t, const Arguments& a) {
  return vector_call(t, SYS_preadv2, a);
}
int64_t guest_pwritev2(Thread& t, const Arguments& a) {
  return vector_call(t, SYS_pwritev2, a);
}

/// The kernel's struct epoll_event, which is packed on x86-64, but not on IA-64.
struct GuestEvent {
  uint32_t events, padding;
  uint64_t data;
};

int64_t guest_epoll_ctl(Thread& thread, const Arguments& a) {
  epoll_event event = {};
  if (a[3] != 0) {
    const auto guest = load_guest<GuestEvent>(thread.cpu, a[3]);
    event.events = guest.events;
    event.data.u64 = guest.data;
  }
  return safe_system_call(thread, SYS_epoll_ctl, a[0], a[1], a[2],
                          a[3] == 0 ? 0 : reinterpret_cast<uint64_t>(&event));
}

int64_t guest_epoll_pwait(Thread& thread, const Arguments& a) {
  constexpr uint64_t kMost = 1024;
  epoll_event events[kMost];
  if (static_cast<int>(a[2]) <= 0) return -EINVAL;
  const int64_t count =
      safe_system_call(thread, SYS_epoll_pwait, a[0], reinterpret_cast<uint64_t>(events),
                       std::min(a[2], kMost), a[3], host_pointer(thread, a[4]), 8);
  for (int64_t i = 0; i < count; ++i) {
    store_guest<GuestEvent>(thread.cpu, a[1] + static_cast<uint64_t>(i) * sizeof(GuestEvent),
                            {events[i].events, 0, events[i].data.u64});
  }
  return count;
}
int64_t guest_epoll_wait(Thread& thread, const Arguments& a) {
  return guest_epoll_pwait(thread, {{a[0], a[1], a[2], a[3], 0, 0}});
}

/// The last argument points to a pair of a pointer and a size.
int64_t guest_pselect(Thread& thread, const Arguments& a) {
  uint64_t mask[2] = {0, 8};
  if (a[5] != 0) {
    mask[0] = host_pointer(thread, load_guest<uint64_t>(thread.cpu, a[5]));
    mask[1] = load_guest<uint64_t>(thread.cpu, a[5] + 8);
  }
  return safe_system_call(thread, SYS_pselect6, a[0], host_pointer(thread, a[1]),
                          host_pointer(thread, a[2]), host_pointer(thread, a[3]),
                          host_pointer(thread, a[4]),
                          a[5] == 0 ? 0 : reinterpret_cast<uint64_t>(mask));
}

}  // namespace

void load_vectors(Thread& thread, uint64_t address, uint64_t count, iovec* vectors) {
  for (uint64_t i = 0; i < count; ++i) {
    const auto base = load_guest<uint64_t>(thread.cpu, address + i * 16);
    vectors[i].iov_base = reinterpret_cast<void*>(host_pointer(thread, base));
    vectors[i].iov_len = load_guest<uint64_t>(thread.cpu, address + i * 16 + 8);
  }
}

SystemCall file_call(unsigned number) {
  switch (number) {
    case 1028:
      return guest_open;
    case 1058:
      return guest_pipe;
    case 1065:
      return guest_ioctl;
    case 1066:
      return guest_fcntl;
    case 1092:
      return guest_readlink;
    case 1146:
      return guest_readv;
    case 1147:
      return guest_writev;
    case 1210:
      return guest_stat;
    case 1211:
      return guest_lstat;
    case 1212:
      return guest_fstat;
    case 1244:
      return guest_epoll_ctl;
    case 1245:
      return guest_epoll_wait;
    case 1257:
      return guest_fstatfs64;
    case 1258:
      return guest_statfs64;
    case 1281:
      return guest_openat;
    case 1286:
      return guest_fstatat;
    case 1291:
      return guest_readlinkat;
    case 1294:
      return guest_pselect;
    case 1305:
      return guest_epoll_pwait;
    case 1319:
      return guest_preadv;
    case 1320:
      return guest_pwritev;
    case 1348:
      return guest_preadv2;
    case 1349:
      return guest_pwritev2;
    default:
      return nullptr;
  }
}

}  // namespace respike::emulator::ia64

#pragma once
/* For freestanding code: entering a private mount namespace, and mounting files over others. */

#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/mount.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/stat.h>

#include "tas/runtime/asking.h"
#include "tas/runtime/start_table.h"

/* Reads a hexadecimal number and the space after it. */
static inline uint64_t take_hexadecimal(const char** text) {
  uint64_t number = 0;
  for (; **text != 0 && **text != ' '; ++*text) {
    const unsigned digit = (unsigned char)**text;
    number = number * 16 + (digit <= '9' ? digit - '0' : digit - 'a' + 10);
  }
  if (**text == ' ') ++*text;
  return number;
}

static inline uint64_t nanoseconds(const struct statx_timestamp* time) {
  return (uint64_t)time->tv_sec * 1000000000u + time->tv_nsec;
}

static inline uint64_t device_of(const struct statx* status) {
  return (uint64_t)status->stx_dev_major << 32 | status->stx_dev_minor;
}

static inline int same_inode(const struct statx* status, const char* record) {
  const uint64_t device = take_hexadecimal(&record), inode = take_hexadecimal(&record);
  return device == device_of(status) && status->stx_ino == inode;
}

static inline int is_mount(const struct statx* status) {
  return (status->stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

static inline uint64_t sum_of_file(long file, size_t size) {
  if (size == 0) return sum_of_contents(NULL, 0);
  const long at = system_call(__NR_mmap, 0, (long)size, PROT_READ, MAP_PRIVATE, file, 0);
  if (at < 0 && at >= -4095) return 0;
  const uint64_t sum = sum_of_contents((const void*)at, size);
  system_call(__NR_munmap, at, (long)size, 0, 0, 0, 0);
  return sum;
}

/* Whether a file has the contents that the record describes. The contents are read only if times or
   the inode differ. `path`: NULL if `file` is open, else the file's path. */
static inline int has_contents(const struct statx* status, const char* record, long file,
                               const char* path) {
  const int same = same_inode(status, record);
  take_hexadecimal(&record);
  take_hexadecimal(&record);
  const uint64_t size = take_hexadecimal(&record), modified = take_hexadecimal(&record),
                 changed = take_hexadecimal(&record), sum = take_hexadecimal(&record);
  if (status->stx_size != size) return 0;
  if (same && nanoseconds(&status->stx_mtime) == modified &&
      nanoseconds(&status->stx_ctime) == changed)
    return 1;
  if (path != NULL)
    file = system_call(__NR_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
  const int alike = file >= 0 && sum_of_file(file, size) == sum;
  if (path != NULL && file >= 0) system_call(__NR_close, file, 0, 0, 0, 0, 0);
  return alike;
}

static inline void write_at_once(const char* path, const char* text, const char* end) {
  const long file = system_call(__NR_openat, AT_FDCWD, (long)path, O_WRONLY | O_CLOEXEC, 0, 0, 0);
  if (file < 0) return;
  system_call(__NR_write, file, (long)text, end - text, 0, 0, 0);
  system_call(__NR_close, file, 0, 0, 0, 0, 0);
}

/* Maps a number to itself, and no other number. */
static inline void map_to_itself(const char* path, uint64_t number) {
  char line[64];
  write_at_once(path, line,
                ask_text(ask_number(ask_text(ask_number(line, number), " "), number), " 1"));
}

/* Enters a mount namespace of this process's own. User and group stay the same: without
   CAP_SYS_ADMIN a user namespace is needed, in which they are mapped to themselves. Returns 0, or a
   negated error number; then nothing has changed. */
static inline long enter_own_namespace(void) {
  static const char kDeny[] = "deny";
  if (system_call(__NR_unshare, CLONE_NEWNS, 0, 0, 0, 0, 0) == 0) return 0;
  const uint64_t user = (uint64_t)system_call(__NR_geteuid, 0, 0, 0, 0, 0, 0),
                 group = (uint64_t)system_call(__NR_getegid, 0, 0, 0, 0, 0, 0);
  int death_signal = 0;
  system_call(__NR_prctl, PR_GET_PDEATHSIG, (long)&death_signal, 0, 0, 0, 0);
  const long error = system_call(__NR_unshare, CLONE_NEWUSER | CLONE_NEWNS, 0, 0, 0, 0, 0);
  if (error < 0) return error;
  write_at_once("/proc/self/setgroups", kDeny, kDeny + sizeof kDeny - 1);
  map_to_itself("/proc/self/uid_map", user);
  map_to_itself("/proc/self/gid_map", group);
  if (death_signal != 0) system_call(__NR_prctl, PR_SET_PDEATHSIG, death_signal, 0, 0, 0, 0);
  return 0;
}

/* Mounts a file over another one. Returns 0, or a negated error number. All starts share the file,
   so the mount is read-only. */
static inline long put_over(const char* original, const char* file) {
  struct mount_attr attributes;
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  attributes.attr_clr = attributes.propagation = attributes.userns_fd = 0;
  const long error = system_call(__NR_mount, (long)file, (long)original, 0, MS_BIND, 0, 0);
  if (error < 0) return error;
  return system_call(__NR_mount_setattr, AT_FDCWD, (long)original, 0, (long)&attributes,
                     sizeof attributes, 0);
}

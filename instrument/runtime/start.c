/* The start code of an instrumented image: maps a file over the counters, once, before any other
   code of the image runs. From then on counting goes into the file, however the process ends: exit,
   exec, a crash, SIGKILL.

   This is freestanding code inside a foreign process. Its rules:
   - It never harms its host. Until the file is complete the counters stay in the private memory in
     which they were loaded, and on any failure they remain there; the file is removed silently.
   - It leaves no trace but the mapping: no descriptor, no memory, no errno, no signal.
   - No library, no static data, no pointers that would need relocation, little stack, since a
     library may be loaded in a thread with a small stack. Everything is inlined into one function:
     on some machines calls and data need registers that are not set up yet (the unit test of the
     start code reads the result).
   - A machine's own part, the entry and the system calls, is in a folder with the machine's name.

   How the file is put in place:

     scratch memory    for the path, which is too long for the stack, and for zeros
     file size limit   beyond RLIMIT_FSIZE a process gets a signal, so look first
     create            exclusively, never through a link: an old file is not touched
     reserve           all of the file, since a hole on a full disk is SIGBUS in the host
     map               the whole file, anywhere: many file systems and limits refuse here
     fill              header and counts so far; the magic last, so a file with it is complete
     move              the counters' part of the mapping over the counters

   mmap with MAP_FIXED could unmap the counters and then fail, when the file system refuses. Moving
   (mremap) an existing mapping fails only before anything is unmapped, or when the kernel lacks
   memory for its own records; if the counters are gone in that case, fresh memory replaces them.

   Counts of other threads between `fill` and `move` are lost: an executable has no other threads
   yet, and a library's code is hardly known to other threads before it is initialized. Other
   threads that touch the counters during the move wait in the kernel; they never see a gap.

   Security: no environment variable is read and the path is fixed in the image, so the caller of a
   setuid program decides nothing; the program adds a new file of its effective user. Only the owner
   may write to the file, whatever the umask: a writer can truncate it, and a truncated file is
   SIGBUS in the host. For the same reason collectors must only ever remove these files. A spool
   that does not exist is not created: removing the spool turns counting off.

   Where each thread has a copy of the counters (RESPIKE_HAS_COPIES), probes at the entries of the
   image call respike_find, the machine's code. It returns at once when the current copy belongs to
   the thread, and calls respike_find_copy when it does not. Until then a new thread uses the copy
   of the thread that started it; a forked child, which finds no owner in front of the copy, uses
   its parent's copy. A thread whose thread pointer equals that of an earlier thread takes over its
   copy: threads may come and go for ever. The file is opened again for each copy, by its path, and
   has to be the same file; while it is open, there is one more descriptor, which another thread
   that closes descriptors or forks may see. A debugger or an unwinder cannot look through
   respike_find; it takes a few instructions, and no signal comes in while it makes a copy.

   Limits: a seccomp filter that kills instead of refusing may kill the host for these system calls.
   Copy-on-write file systems may need new space when reserved space is written. */

#include <asm/errno.h>
#include <asm/signal.h>
#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/resource.h>
#include <linux/time.h>

#include "instrument/runtime/counter_file.h"
#include "system_call.h" /* of the machine: system_call(number, six arguments) */

enum {
  SCRATCH_SIZE = 16384, /* the path, then ZEROS_SIZE bytes that stay zero */
  ZEROS_SIZE = 8192,
  CREATE_TRIES = 16,     /* names */
  INTERRUPT_TRIES = 1000 /* repetitions of a call that signals interrupt */
};

#define INLINE static inline __attribute__((always_inline))

/* --- System calls: a result in [-4095, -1] is an error number, negated. */

INLINE int failed(long result) {
  return (unsigned long)result >= -4095ul;
}

INLINE long map_memory(uint64_t address, uint64_t size, long flags, long file) {
  return system_call(__NR_mmap, address, size, PROT_READ | PROT_WRITE, flags, file, 0);
}

INLINE void unmap_memory(uint64_t address, uint64_t size) {
  system_call(__NR_munmap, address, size, 0, 0, 0, 0);
}

INLINE int may_have_file_of(uint64_t size) {
  struct rlimit limit;
  return !failed(system_call(__NR_getrlimit, RLIMIT_FSIZE, (long)&limit, 0, 0, 0, 0)) &&
         size <= limit.rlim_cur;
}

/* 0 when the system call fails. */
INLINE uint32_t current_process(void) {
  const long result = system_call(__NR_getpid, 0, 0, 0, 0, 0, 0);
  return failed(result) ? 0 : result;
}

/* Nanoseconds since 1970; 0 when the system call fails. */
INLINE uint64_t current_time(void) {
  struct timespec now;
  if (failed(system_call(__NR_clock_gettime, CLOCK_REALTIME, (long)&now, 0, 0, 0, 0))) return 0;
  return (uint64_t)now.tv_sec * 1000000000u + now.tv_nsec;
}

/* --- Creating the file */

/* PREFIX process id "." time in 16 hexadecimal digits ".counts" */
INLINE void make_path(char* path, const struct respike_start_parameters* parameters,
                      uint32_t process_id, uint64_t time) {
  for (uint32_t i = 0; i < parameters->file_prefix_size; ++i) *path++ = parameters->file_prefix[i];
  char* end = path + 1;
  for (uint32_t rest = process_id / 10; rest != 0; rest /= 10) ++end;
  for (char* digit = end; digit > path; process_id /= 10) *--digit = '0' + process_id % 10;
  path = end;
  *path++ = '.';
  for (int shift = 60; shift >= 0; shift -= 4) {
    const unsigned digit = time >> shift & 15;
    *path++ = digit < 10 ? '0' + digit : 'a' + digit - 10;
  }
  *path++ = '.';
  *path++ = 'c';
  *path++ = 'o';
  *path++ = 'u';
  *path++ = 'n';
  *path++ = 't';
  *path++ = 's';
  *path = 0;
}

/* Creates a file under a new name; `*time` becomes the time in the name. */
INLINE long create_file(char* path, const struct respike_start_parameters* parameters,
                        uint32_t process_id, uint64_t* time) {
  const long flags = O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  long file = -EEXIST;
  for (int names = 0; file == -EEXIST && names < CREATE_TRIES; ++names) {
    *time += names != 0;
    make_path(path, parameters, process_id, *time);
    int tries = INTERRUPT_TRIES;
    do {
      file = system_call(__NR_openat, AT_FDCWD, (long)path, flags, 0644, 0, 0);
    } while (file == -EINTR && --tries > 0);
  }
  return file;
}

/* Writes zeros to `size` bytes of the file from `start` on. */
INLINE int write_zeros(long file, uint64_t start, uint64_t size, const char* zeros) {
  uint64_t done = 0;
  int tries = INTERRUPT_TRIES;
  while (done < size) {
    const uint64_t rest = size - done;
    const long written = system_call(__NR_pwrite64, file, (long)zeros,
                                     rest < ZEROS_SIZE ? rest : ZEROS_SIZE, start + done, 0, 0);
    if (written > 0)
      done += written;
    else if (written != -EINTR || --tries == 0)
      return 0;
  }
  return 1;
}

/* Makes `size` bytes of the file from `start` on zeros, with their space on the disk reserved. */
INLINE int reserve_space(long file, uint64_t start, uint64_t size, const char* zeros) {
  long result;
  int tries = INTERRUPT_TRIES;
  do {
    result = system_call(__NR_fallocate, file, 0, start, size, 0, 0);
  } while (result == -EINTR && --tries > 0);
  if (result == -EOPNOTSUPP || result == -ENOSYS) return write_zeros(file, start, size, zeros);
  return !failed(result);
}

/* --- Filling the file and moving it into place */

INLINE void fill_header(struct respike_counter_header* header,
                        const struct respike_start_parameters* parameters, uint32_t process_id,
                        uint64_t time, uint64_t counters) {
  const uint64_t* from = (const uint64_t*)&parameters->header;
  uint64_t* to = (uint64_t*)header;
  for (unsigned i = 1; i < sizeof *header / 8; ++i) to[i] = from[i];
  header->process_id = process_id;
  header->start_time = time;
  header->counters_address = counters;
}

/* The magic is the header's first word. */
INLINE void complete_header(struct respike_counter_header* header,
                            const struct respike_start_parameters* parameters) {
  const uint64_t* from = (const uint64_t*)&parameters->header;
  __atomic_store_n((uint64_t*)header, *from, __ATOMIC_RELEASE);
}

/* Copies words that are not zero, so that pages without counts stay untouched. */
INLINE void carry_over(uint64_t* to, const uint64_t* from, uint64_t size) {
  for (uint64_t i = 0; i < size / 8; ++i)
    if (from[i] != 0) to[i] = from[i];
}

/* Maps fresh memory if nothing is mapped there now. */
INLINE void ensure_memory(uint64_t address, uint64_t size) {
  const long flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  const long result = map_memory(address, size, flags, -1);
  if (!failed(result) && (uint64_t)result != address) unmap_memory(result, size); /* old kernels */
}

/* Maps the file and moves the counters' part of it over the counters. */
INLINE int share_counters(long file, const struct respike_start_parameters* parameters,
                          uint32_t process_id, uint64_t time) {
  const uint64_t header_size = parameters->header.header_size;
  const uint64_t size = parameters->counters_size;
  const uint64_t counters = (uint64_t)parameters + parameters->counters;
  const long mapped = map_memory(0, header_size + size, MAP_SHARED, file);
  if (failed(mapped)) return 0;

  struct respike_counter_header* header = (struct respike_counter_header*)mapped;
  const uint64_t fresh = (uint64_t)mapped + header_size;
  fill_header(header, parameters, process_id, time, counters);
  carry_over((uint64_t*)fresh, (const uint64_t*)counters, size);
  complete_header(header, parameters);
  const int moved = !failed(
      system_call(__NR_mremap, fresh, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, counters, 0));
  if (!moved) ensure_memory(counters, size);
  unmap_memory(mapped, moved ? header_size : header_size + size);
  return moved;
}

#ifdef RESPIKE_HAS_COPIES

/* --- Copies of the counters for threads */

/* Makes the page zero in a forked child; see madvise(2). Kernels before 4.14 cannot: there a forked
   child counts into its parent's copy. */
INLINE void wipe_on_fork(uint64_t address) {
  system_call(__NR_madvise, address, RESPIKE_COPY_PAGE, MADV_WIPEONFORK, 0, 0, 0);
}

INLINE uint64_t first_counter(const struct respike_start_parameters* parameters) {
  return (uint64_t)parameters + parameters->counters;
}

INLINE struct respike_copies* copies_of(const struct respike_start_parameters* parameters) {
  return (struct respike_copies*)(first_counter(parameters) - RESPIKE_COPIES_SIZE);
}

INLINE struct respike_owner* owner_of(uint64_t counters) {
  return (struct respike_owner*)(counters - RESPIKE_COPY_PAGE);
}

/* Whether the file belongs to `copies`; the first call makes it so. */
INLINE int is_counter_file(long file, struct respike_copies* copies, uint64_t size) {
  struct stat status;
  if (failed(system_call(__NR_fstat, file, (long)&status, 0, 0, 0, 0))) return 0;
  if (!copies->ready) {
    copies->device = status.st_dev;
    copies->inode = status.st_ino;
  }
  return copies->device == status.st_dev && copies->inode == status.st_ino &&
         (uint64_t)status.st_size >= size;
}

INLINE void allow_copies(const struct respike_start_parameters* parameters, long file,
                         const char* path) {
  struct respike_copies* copies = copies_of(parameters);
  if (!is_counter_file(file, copies, parameters->header.header_size)) return;
  for (uint32_t i = 0; i < RESPIKE_PATH_SIZE && (copies->path[i] = path[i]) != 0; ++i) continue;
  wipe_on_fork((uint64_t)owner_of(first_counter(parameters)));
  __atomic_store_n(&copies->ready, 1, __ATOMIC_RELEASE);
}

/* The counter file, if it is still the one that the process has made. */
INLINE long open_counter_file(const struct respike_start_parameters* parameters) {
  struct respike_copies* copies = copies_of(parameters);
  int tries = INTERRUPT_TRIES;
  long file;
  do {
    file = system_call(__NR_openat, AT_FDCWD, (long)copies->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW,
                       0, 0, 0);
  } while (file == -EINTR && --tries > 0);
  if (failed(file)) return file;
  const uint64_t size = parameters->header.header_size + parameters->counters_size;
  if (is_counter_file(file, copies, size)) return file;
  system_call(__NR_close, file, 0, 0, 0, 0, 0);
  return -ENOENT;
}

/* The place of the next copy in the file; 0: no further copy is allowed. */
INLINE uint64_t next_place(const struct respike_start_parameters* parameters, long file) {
  const uint64_t size = parameters->counters_size;
  const long mapped = map_memory(0, RESPIKE_COPY_PAGE, MAP_SHARED, file);
  if (failed(mapped)) return 0;
  struct respike_counter_header* header = (struct respike_counter_header*)mapped;
  const uint64_t number = __atomic_add_fetch(&header->copies, 1, __ATOMIC_RELAXED);
  unmap_memory(mapped, RESPIKE_COPY_PAGE);
  if (number > RESPIKE_MOST_COPIES || number * size > RESPIKE_MOST_COPY_BYTES) return 0;
  return parameters->header.header_size + number * size;
}

/* Puts another copy at the end of the file and into memory; returns the address of its first
   counter, or 0. The kernel accepts no negative distance from the counters to the copy. A program
   that is run as an argument of the dynamic linker may be above all free memory; a program whose
   stack may grow without limit is above the memory that the kernel would choose. */
INLINE uint64_t make_copy(const struct respike_start_parameters* parameters) {
  const uint64_t size = parameters->counters_size;
  const uint64_t first = first_counter(parameters);
  const long file = open_counter_file(parameters);
  if (failed(file)) return 0;
  const uint64_t place = next_place(parameters, file);
  /* Twice the place: a copy and the page before it take less than two copies. */
  const uint64_t wished = (first + RESPIKE_COPY_DISTANCE + 2 * place) & ~(RESPIKE_COPY_PAGE - 1ull);
  const long memory =
      place == 0 ? -ENOMEM
                 : map_memory(wished, RESPIKE_COPY_PAGE + size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  uint64_t counters = 0;
  if (!failed(memory)) {
    counters = (uint64_t)memory + RESPIKE_COPY_PAGE;
    /* Until the file is mapped there the memory is zeros, at least ZEROS_SIZE. */
    if (counters >= first && may_have_file_of(place + size) &&
        reserve_space(file, place, size, (const char*)memory) &&
        !failed(system_call(__NR_mmap, counters, size, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_FIXED, file, place))) {
      wipe_on_fork(memory);
    } else {
      unmap_memory(memory, RESPIKE_COPY_PAGE + size);
      counters = 0;
    }
  }
  system_call(__NR_close, file, 0, 0, 0, 0, 0);
  return counters;
}

/* The counters that belong to a thread already, or 0. */
INLINE uint64_t known_copy(const struct respike_start_parameters* parameters, uint64_t thread) {
  const uint64_t first = first_counter(parameters);
  const struct respike_owner* owner = owner_of(first);
  do {
    if (owner->thread == thread) return (uint64_t)owner + RESPIKE_COPY_PAGE;
    owner = (const struct respike_owner*)__atomic_load_n(&owner->next, __ATOMIC_ACQUIRE);
  } while (owner != 0);
  uint32_t unclaimed = 0;
  if (!__atomic_compare_exchange_n(&copies_of(parameters)->claimed, &unclaimed, 1, 0,
                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    return 0;
  owner_of(first)->thread = thread;
  return first;
}

/* Puts a copy into the list of the process, after the counters themselves. */
INLINE void enlist(const struct respike_start_parameters* parameters, uint64_t counters,
                   uint64_t thread) {
  struct respike_owner* first = owner_of(first_counter(parameters));
  struct respike_owner* owner = owner_of(counters);
  owner->thread = thread;
  owner->next = __atomic_load_n(&first->next, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&first->next, &owner->next, (uint64_t)owner, 0,
                                      __ATOMIC_RELEASE, __ATOMIC_RELAXED))
    continue;
}

/* Makes a copy for the thread, with signals blocked; returns the address of its first counter, or
   0. A program that has entered a sandbox (seccomp) may no longer open files. */
INLINE uint64_t new_copy(const struct respike_start_parameters* parameters, uint64_t thread) {
  struct respike_copies* copies = copies_of(parameters);
  if (__atomic_load_n(&copies->failures, __ATOMIC_RELAXED) >= RESPIKE_MOST_FAILURES) return 0;
  uint64_t counters = 0;
  /* A kernel without sandboxes, or an emulator, rejects the call. */
  const long sandbox = system_call(__NR_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0);
  if (sandbox == 0 || sandbox == -EINVAL) {
    const uint64_t all = ~0ull;
    uint64_t before;
    system_call(__NR_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, sizeof before, 0, 0);
    counters = make_copy(parameters);
    if (counters != 0) enlist(parameters, counters, thread);
    system_call(__NR_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before, 0, 0);
  }
  if (counters == 0) __atomic_add_fetch(&copies->failures, 1, __ATOMIC_RELAXED);
  return counters;
}

/* Called by the machine's code when the current copy does not belong to the thread. A thread for
   which no copy can be made keeps the current copy. */
void respike_find_copy(const struct respike_start_parameters* parameters) {
  if (!__atomic_load_n(&copies_of(parameters)->ready, __ATOMIC_ACQUIRE)) return;
  const uint64_t thread = thread_pointer();
  uint64_t counters = known_copy(parameters, thread);
  if (counters == 0) counters = new_copy(parameters, thread);
  if (counters != 0) use_copy(counters - first_counter(parameters));
}

#endif

/* Called by the machine's entry. Returns the address at which the image continues; 0: nowhere. */
uint64_t respike_start(const struct respike_start_parameters* parameters) {
  const uint64_t size = parameters->header.header_size + parameters->counters_size;
  if (parameters->counters_size != 0 && may_have_file_of(size)) {
    const long scratch = map_memory(0, SCRATCH_SIZE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    if (!failed(scratch)) {
      char* path = (char*)scratch;
      const uint32_t process_id = current_process();
      uint64_t time = current_time();
      const long file = create_file(path, parameters, process_id, &time);
      if (!failed(file)) {
        if (!reserve_space(file, 0, size, path + SCRATCH_SIZE - ZEROS_SIZE) ||
            !share_counters(file, parameters, process_id, time))
          system_call(__NR_unlinkat, AT_FDCWD, (long)path, 0, 0, 0, 0);
#ifdef RESPIKE_HAS_COPIES
        else if (parameters->copied)
          allow_copies(parameters, file, path);
#endif
        system_call(__NR_close, file, 0, 0, 0, 0, 0);
      }
      unmap_memory(scratch, SCRATCH_SIZE);
    }
  }
  return parameters->next != 0 ? (uint64_t)parameters + parameters->next : 0;
}

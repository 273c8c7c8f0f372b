/* Loaded into the emulator (LD_PRELOAD) by start_code_test.py: makes system calls fail that the
   start code makes, as RESPIKE_FAULT says. The emulator itself makes none of those with these
   arguments. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int fault(const char* name) {
  const char* wanted = getenv("RESPIKE_FAULT");
  return wanted != NULL && strcmp(wanted, name) == 0;
}

static int fail(int error) {
  errno = error;
  return -1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void* mremap(void* old, size_t old_size, size_t new_size, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  void* to = va_arg(arguments, void*);
  va_end(arguments);
  if (flags & MREMAP_FIXED) {
    if (fault("mremap")) return (void*)(long)fail(ENOMEM);
    if (fault("mremap-unmaps")) {
      munmap(to, new_size);
      return (void*)(long)fail(ENOMEM);
    }
  }
  return REAL(mremap)(old, old_size, new_size, flags, to);
}

void* mmap64(void* address, size_t size, int prot, int flags, int file, off64_t offset) {
  if (fault("mmap") && (flags & MAP_SHARED) && file >= 0) return (void*)(long)fail(ENODEV);
  return REAL(mmap64)(address, size, prot, flags, file, offset);
}

int fallocate64(int file, int mode, off64_t offset, off64_t size) {
  static int calls;
  ++calls;
  if (fault("fallocate-full")) {
    if (ftruncate(file, offset + size) != 0) abort(); /* a hole, which nothing else would notice */
    return fail(ENOSPC);
  }
  if (fault("fallocate-quota")) return fail(EDQUOT);
  if (fault("fallocate-unsupported") || fault("write-full")) return fail(EOPNOTSUPP);
  if (fault("fallocate-unknown") || fault("write-short")) return fail(ENOSYS);
  if (fault("fallocate-interrupted") && calls < 20) return fail(EINTR);
  if (fault("fallocate-always-interrupted")) return fail(EINTR);
  return REAL(fallocate64)(file, mode, offset, size);
}

ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t offset) {
  static int calls;
  ++calls;
  if (fault("write-full") && offset >= 8192) return fail(ENOSPC);
  if (fault("write-short")) {
    if (calls % 3 == 0) return fail(EINTR);
    if (size > 1000) size = 1000;
  }
  return REAL(pwrite64)(file, bytes, size, offset);
}

int getrlimit64(__rlimit_resource_t resource, struct rlimit64* limit) {
  if (fault("getrlimit") && resource == RLIMIT_FSIZE) return fail(EPERM);
  return REAL(getrlimit64)(resource, limit);
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  if (clock == CLOCK_REALTIME && fault("clock")) return fail(EPERM);
  if (clock == CLOCK_REALTIME && fault("clock-stopped")) {
    time->tv_sec = 1700000000;
    time->tv_nsec = 123456789;
    return 0;
  }
  return REAL(clock_gettime)(clock, time);
}

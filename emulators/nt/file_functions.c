// Functions of kernel32 as far as the start code of instrumented images needs them: files, mappings
// of files, the time. Arguments and results follow the descriptions of the Win32 functions; unused
// features are refused.
//
// A handle is the number of an open file plus 4: 0 and -1 are not handles. A mapping of a file has
// a file number of its own.
//
// Views are below 2 GB, like all memory of programs, from VIEWS_ADDRESS on.

#define _GNU_SOURCE
#include "file_functions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { kFirstHandle = 4, kInvalidHandle = -1 };
enum { kCreateNew = 1, kPageReadWrite = 4, kFileMapWrite = 2 };
#define GENERIC_READ_WRITE 0xc0000000u
#define VIEWS_ADDRESS 0x40000000ul
#define VIEWS_END 0x7f000000ul
#define GRANULARITY 0x10000ul

static long handle_of(int file) {
  return file + kFirstHandle;
}

static int file_of(long handle) {
  return (int)handle - kFirstHandle;
}

/// Opens only new files, for reading and writing.
static long create_file(const char* name, long access, long sharing, void* security, long how,
                        long flags, long template) {
  (void)sharing, (void)security, (void)flags, (void)template;
  if ((uint32_t)access != GENERIC_READ_WRITE || (int)how != kCreateNew) return kInvalidHandle;
  const int file = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
  return file < 0 ? kInvalidHandle : handle_of(file);
}

/// Makes the file as long as the mapping, and reserves its space, as NT does.
static long create_file_mapping(long file, void* security, long protection, long high, long low,
                                const char* name) {
  (void)security;
  const uint64_t size = (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
  if ((int)protection != kPageReadWrite || name != NULL || size == 0) return 0;
  struct stat status;
  if (fstat(file_of(file), &status) != 0) return 0;
  if ((uint64_t)status.st_size < size && posix_fallocate(file_of(file), 0, (off_t)size) != 0)
    return 0;
  const int mapping = fcntl(file_of(file), F_DUPFD_CLOEXEC, 0);
  return mapping < 0 ? 0 : handle_of(mapping);
}

static long map_view_of_file(long mapping, long access, long high, long low, long size) {
  struct stat status;
  const off_t offset = (off_t)((uint64_t)(uint32_t)high << 32 | (uint32_t)low);
  if ((int)access != kFileMapWrite || offset % GRANULARITY != 0 ||
      fstat(file_of(mapping), &status) != 0 || offset >= status.st_size)
    return 0;
  const size_t length = size != 0 ? (size_t)(uint32_t)size : (size_t)(status.st_size - offset);
  for (uint64_t address = VIEWS_ADDRESS; address + length <= VIEWS_END; address += GRANULARITY) {
    void* view = mmap((void*)address, length, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED_NOREPLACE, file_of(mapping), offset);
    if (view == (void*)address) return (long)address;
    if (view != MAP_FAILED) munmap(view, length);  // for old kernels
    else if (errno != EEXIST) return 0;
  }
  return 0;
}

static long close_handle(long handle) {
  return close(file_of(handle)) == 0;
}

static long delete_file(const char* name) {
  return unlink(name) == 0;
}

static long current_process(void) {
  return getpid();
}

/// 100 ns since 1601.
static void system_time(uint64_t* time) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  *time = 116444736000000000ul + (uint64_t)now.tv_sec * 10000000ul + (uint64_t)now.tv_nsec / 100;
}

static const struct {
  const char* name;
  void* function;
} kFunctions[] = {
    {"CreateFileA", create_file},
    {"CreateFileMappingA", create_file_mapping},
    {"MapViewOfFile", map_view_of_file},
    {"CloseHandle", close_handle},
    {"DeleteFileA", delete_file},
    {"GetCurrentProcessId", current_process},
    {"GetSystemTimeAsFileTime", system_time},
};

void* file_function(const char* name) {
  for (size_t i = 0; i < sizeof kFunctions / sizeof kFunctions[0]; ++i)
    if (strcmp(kFunctions[i].name, name) == 0) return kFunctions[i].function;
  return NULL;
}

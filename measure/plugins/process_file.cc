// Maps a file for each process. See process_file.h.

#include "measure/plugins/process_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mman.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace respike::measure {

void fail(const char* program, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s: ", program);
  vfprintf(stderr, format, arguments);
  fputs("\n", stderr);
  va_end(arguments);
  _exit(125);
}

void* map_process_file(const char* program, const std::string& path, size_t size, void* where) {
  int file = -1;
  std::string name;
  for (int n = 0; file < 0; n++) {
    name = path + "." + std::to_string(getpid()) + "." + std::to_string(n);
    file = open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno != EEXIST) fail(program, "%s: %s", name.c_str(), strerror(errno));
  }
  if (ftruncate(file, off_t(size)) != 0) fail(program, "%s: %s", name.c_str(), strerror(errno));
  void* memory = mmap(where, size, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_NORESERVE | (where ? MAP_FIXED : 0), file, 0);
  if (memory == MAP_FAILED) fail(program, "%s: %s", name.c_str(), strerror(errno));
  close(file);  // the program shares the emulator's file numbers: leave them free
  return memory;
}

void reserve_room(const char* program, void* memory, size_t size) {
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t start = reinterpret_cast<uintptr_t>(memory), first = start & ~(page - 1);
  if (madvise(reinterpret_cast<void*>(first), start + size - first, MADV_POPULATE_WRITE) != 0 &&
      errno == EFAULT)
    fail(program, "the file system has no room for the measurement: %s", strerror(ENOSPC));
}

std::string absolute_path(std::string path) {
  if (path.starts_with('/')) return path;
  char* folder = getcwd(nullptr, 0);
  path = std::string(folder) + "/" + path;
  free(folder);
  return path;
}

}  // namespace respike::measure

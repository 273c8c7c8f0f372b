// Reads /proc/self/maps. QEMU maps the program's files into its own memory, so the kernel knows
// which file an instruction's bytes come from. No load address is needed, and a library that is
// mapped where another one was is told apart, if the list is read again after each change.

#include "simulator/mapped_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "simulator/process_file.h"

namespace respike::simulator {

void MappedFiles::read(const char* program) {
  files_.clear();
  FILE* maps = fopen("/proc/self/maps", "re");
  if (!maps) fail(program, "/proc/self/maps: %s", strerror(errno));
  char* line = nullptr;
  size_t size = 0;
  while (getline(&line, &size, maps) > 0) {
    unsigned long start, end, offset;
    int path = 0;
    if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %n", &start, &end, &offset, &path) < 3 || path == 0)
      fail(program, "/proc/self/maps: cannot read %s", line);
    if (line[path] != '/') continue;  // no file
    line[strcspn(line, "\n")] = 0;
    files_.push_back({start, end, offset, line + path});
  }
  free(line);
  fclose(maps);
}

const MappedFile* MappedFiles::find(uint64_t address) const {
  const auto after =
      std::upper_bound(files_.begin(), files_.end(), address,
                       [](uint64_t a, const MappedFile& file) { return a < file.start; });
  if (after == files_.begin() || address >= (after - 1)->end) return nullptr;
  return &*(after - 1);
}

bool may_change_mappings(bool is_alpha, int64_t number) {
  return !is_alpha || number == 71 || number == 73 || number == 341;  // mmap, munmap, mremap
}

}  // namespace respike::simulator

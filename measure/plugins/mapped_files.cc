// Reads /proc/self/maps. QEMU maps the program's files into its own memory, so the kernel knows the
// file of an instruction's bytes. No load address is needed, and a library that is mapped at the
// place of another one is recognized, if the list is read again after each change.
//
// The loader of programs for Windows NT (nt/loader.c) copies the sections of an image, which do not
// start on pages in the file, and maps only the headers. The mapped headers say where the sections
// are in memory and in the file.

#include "measure/plugins/mapped_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "measure/plugins/process_file.h"

namespace respike::measure {

namespace {

/// Bytes of the process's own memory, up to the first unreadable page: a file may have become
/// shorter than its mapping.
std::vector<uint8_t> read_memory(int memory, uint64_t address, uint64_t size) {
  std::vector<uint8_t> bytes(size);
  const ssize_t count = pread(memory, bytes.data(), size, static_cast<off_t>(address));
  bytes.resize(count < 0 ? 0 : static_cast<size_t>(count));
  return bytes;
}

/// The sections of a PE image whose headers are mapped; none if another file is mapped there.
void add_sections(int memory, const MappedFile& file, std::vector<MappedFile>& files) {
  constexpr uint64_t kLargestHeaders = 1 << 17, kStart = 64;
  if (file.offset != 0) return;
  std::vector<uint8_t> headers = read_memory(memory, file.start, kStart);
  const auto word = [&](uint64_t at) {
    uint32_t value = 0;
    if (at + sizeof value <= headers.size()) memcpy(&value, headers.data() + at, sizeof value);
    return value;
  };
  if ((word(0) & 0xffff) != 0x5a4d) return;
  headers = read_memory(memory, file.start, std::min(file.end - file.start, kLargestHeaders));
  const uint64_t coff = word(0x3c);
  if (word(coff) != 0x4550) return;
  const uint64_t count = word(coff + 6) & 0xffff;
  const uint64_t table = coff + 24 + (word(coff + 20) & 0xffff);
  for (uint64_t at = table; at < table + 40 * count && at + 40 <= headers.size(); at += 40) {
    const uint64_t start = file.start + word(at + 12);
    if (start < file.end) continue;  // a plain mapping of the file, not an image placed by a loader
    const uint64_t length = std::min(word(at + 8), word(at + 16));
    files.push_back({start, start + length, word(at + 20), file.path});
  }
}

}  // namespace

void MappedFiles::read(const char* program) {
  files_.clear();
  std::vector<MappedFile> sections;
  const int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  FILE* maps = fopen("/proc/self/maps", "re");
  if (!maps) fail(program, "/proc/self/maps: %s", strerror(errno));
  char* line = nullptr;
  size_t size = 0;
  while (getline(&line, &size, maps) > 0) {
    unsigned long start, end, offset;
    char rights[5];
    int path = 0;
    if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %n", &start, &end, rights, &offset, &path) < 4 ||
        path == 0)
      fail(program, "/proc/self/maps: cannot read %s", line);
    if (line[path] != '/') continue;  // not a file
    line[strcspn(line, "\n")] = 0;
    files_.push_back({start, end, offset, line + path});
    if (rights[0] == 'r') add_sections(memory, files_.back(), sections);
  }
  free(line);
  fclose(maps);
  if (memory >= 0) close(memory);
  if (sections.empty()) return;
  files_.insert(files_.end(), sections.begin(), sections.end());
  std::ranges::stable_sort(files_, {}, &MappedFile::start);
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

}  // namespace respike::measure

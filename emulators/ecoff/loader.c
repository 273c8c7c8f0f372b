// Loads a static program in ECOFF for Alpha and starts it: a Linux program for Alpha, for an
// emulator.
//
// It does the system's work: it maps the sections of the image, and enters the image with the
// arguments, the environment and the auxiliary vector on the stack. System calls are those of
// Linux, whose oldest calls have the numbers of OSF/1. The loader itself is at other addresses (see
// CMakeLists.txt).
//
// Example: "loader lua.ecoff script.lua" enters lua.ecoff with the arguments "lua.ecoff",
// "script.lua".
//
// The loader uses the sections, not the sizes in the optional header: `objcopy` puts other contents
// into the last page of the data, which would then be the start of .bss. Text is mapped from the
// file, so that an observer of the process can see from which image an instruction comes; other
// sections are copied.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { kAlpha = 0x183, kDemandLoaded = 0413, kFileHeader = 24, kHeaders = 104, kSection = 64 };
enum { kComment = 0x2100000, kExtended = 0x2fff000, kMostSections = 64 };
#define PAGE 0x2000ul
#define HIGHEST (1ul << 43)

static const char* program;

static void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "respike-ecoff: %s: ", program);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  exit(125);
}

static uint64_t number(const uint8_t* p, unsigned size) {
  uint64_t value = 0;
  memcpy(&value, p, size);
  return value;
}

struct mapped_file {
  const uint8_t* bytes;
  uint64_t size;
  int descriptor;
};

static struct mapped_file map_file(const char* path) {
  struct stat status;
  const int descriptor = open(path, O_RDONLY);
  if (descriptor < 0 || fstat(descriptor, &status) != 0) fail("%s", strerror(errno));
  struct mapped_file file = {.size = (uint64_t)status.st_size};
  if (file.size < kHeaders) fail("this is no ECOFF file");
  file.bytes = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (file.bytes == MAP_FAILED) fail("%s", strerror(errno));
  file.descriptor = descriptor;
  return file;
}

struct range {
  uint64_t start, end;
};

/// Maps the pages of [start, end) that are not mapped yet.
static void map_pages(struct range* mapped, unsigned* count, uint64_t start, uint64_t end) {
  start &= ~(PAGE - 1);
  end = (end + PAGE - 1) & ~(PAGE - 1);
  for (uint64_t page = start; page < end; page += PAGE) {
    unsigned i = 0;
    while (i < *count && !(page >= mapped[i].start && page < mapped[i].end)) ++i;
    if (i < *count) continue;
    uint64_t free_end = end;
    for (i = 0; i < *count; ++i)
      if (mapped[i].start >= page && mapped[i].start < free_end) free_end = mapped[i].start;
    if (mmap((void*)page, free_end - page, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != (void*)page)
      fail("there is no room for the image at %#lx", page);
    mapped[(*count)++] = (struct range){page, free_end};
    page = free_end - PAGE;
  }
}

static int is_loaded(const uint8_t* section) {
  return number(section + 24, 8) != 0 && (number(section + 60, 4) & kExtended) != kComment;
}

/// Maps the sections before the data, if all of them have the same distance between address and
/// offset; empty range: they have not.
static struct range map_text(const struct mapped_file* file, uint64_t sections,
                             uint64_t data_start) {
  const struct range none = {0};
  uint64_t start = UINT64_MAX, end = 0, distance = 0;
  for (unsigned i = 0; i < sections; ++i) {
    const uint8_t* section = file->bytes + kHeaders + i * kSection;
    const uint64_t address = number(section + 16, 8), size = number(section + 24, 8),
                   offset = number(section + 32, 8);
    if (!is_loaded(section) || address >= data_start) continue;
    if (size > HIGHEST || offset > file->size || size > file->size - offset || offset > address)
      return none;
    if (end != 0 && distance != address - offset) return none;
    distance = address - offset;
    if (address < start) start = address;
    if (address + size > end) end = address + size;
  }
  start &= ~(PAGE - 1);
  if (end == 0 || distance % PAGE != 0 || start < distance) return none;
  void* place = mmap((void*)start, end - start, PROT_READ | PROT_EXEC,
                     MAP_PRIVATE | MAP_FIXED_NOREPLACE, file->descriptor, start - distance);
  if (place != (void*)start) fail("there is no room for the image at %#lx", start);
  return (struct range){start, end};
}

/// Maps the image; returns the address of its entry.
static uint64_t load_image(const struct mapped_file* file) {
  const uint8_t* h = file->bytes;
  if (number(h, 2) != kAlpha) fail("this is no ECOFF file for Alpha");
  if (number(h + 20, 2) != kHeaders - kFileHeader || number(h + kFileHeader, 2) != kDemandLoaded)
    fail("it is not a program that is loaded by pages");
  const uint64_t sections = number(h + 2, 2), data_start = number(h + kFileHeader + 48, 8);
  if (sections > kMostSections || kHeaders + sections * kSection > file->size)
    fail("its section headers are damaged");
  const struct range text = map_text(file, sections, data_start);
  static struct range mapped[2 * kMostSections];
  unsigned count = 0;
  uint64_t code_end = 0;
  for (unsigned i = 0; i < sections; ++i) {
    const uint8_t* section = h + kHeaders + i * kSection;
    const uint64_t address = number(section + 16, 8), size = number(section + 24, 8),
                   offset = number(section + 32, 8);
    if (!is_loaded(section)) continue;
    if (address > HIGHEST || size > HIGHEST) fail("its section %.8s is damaged", section);
    if (address >= text.start && address + size <= text.end) continue;
    map_pages(mapped, &count, address, address + size);
    if (address < data_start && address + size > code_end) code_end = address + size;
    if (offset == 0) continue;
    if (offset > file->size || size > file->size - offset)
      fail("its section %.8s is not in the file", section);
    memcpy((void*)address, file->bytes + offset, size);
  }
  for (unsigned i = 0; i < count; ++i)
    if (mapped[i].start < code_end &&
        mprotect((void*)mapped[i].start, mapped[i].end - mapped[i].start, PROT_READ | PROT_EXEC))
      fail("%s", strerror(errno));
  return number(h + kFileHeader + 32, 8);
}

/// A pair of the auxiliary vector.
struct pair {
  uint64_t kind, value;
};
enum { kLast = 0, kProgramHeaders = 3, kHeaderSize = 4, kHeaderCount = 5, kEntry = 9 };

/// Enters the image with the stack as the system makes it. The words of the loader's own stack are
/// copied: only the auxiliary vector's entries for program headers are replaced.
static void enter(uint64_t entry, int count, char** arguments) {
  extern char** environ;
  unsigned variables = 0, pairs = 0;
  while (environ[variables] != NULL) ++variables;
  const struct pair* given = (const struct pair*)(environ + variables + 1);
  while (given[pairs].kind != kLast) ++pairs;
  const uint64_t words = 1 + (uint64_t)count + 1 + variables + 1 + 2 * ((uint64_t)pairs + 1);
  uint64_t* stack = __builtin_alloca((words + 2) * sizeof *stack);
  stack = (uint64_t*)(((uintptr_t)stack + 15) & ~15ul);
  uint64_t* next = stack;
  *next++ = (uint64_t)count;
  for (int i = 0; i < count; ++i) *next++ = (uint64_t)arguments[i];
  *next++ = 0;
  for (unsigned i = 0; i < variables; ++i) *next++ = (uint64_t)environ[i];
  *next++ = 0;
  for (unsigned i = 0; i < pairs; ++i) {
    const uint64_t kind = given[i].kind;
    if (kind == kProgramHeaders || kind == kHeaderSize || kind == kHeaderCount) continue;
    *next++ = kind;
    *next++ = kind == kEntry ? entry : given[i].value;
  }
  *next++ = kLast;
  *next++ = 0;
  register uint64_t pv __asm__("$27") = entry;
  register uint64_t* sp __asm__("$1") = stack;
  __asm__ volatile(
      "bis $1, $1, $30\n\t"
      "bis $31, $31, $26\n\t"
      "bis $31, $31, $0\n\t"
      "jmp $31, ($27)"
      :
      : "r"(pv), "r"(sp)
      : "memory");
  __builtin_unreachable();
}

int main(int count, char** arguments) {
  if (count < 2) {
    fputs("usage: respike-ecoff-loader PROGRAM [ARGUMENTS]\n", stderr);
    return 2;
  }
  program = arguments[1];
  const struct mapped_file file = map_file(program);
  const uint64_t entry = load_image(&file);
  munmap((void*)file.bytes, file.size);
  close(file.descriptor);
  fflush(NULL);
  enter(entry, count - 1, arguments + 1);
}

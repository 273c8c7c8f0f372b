// Loads a program for Windows NT on Alpha and runs it: a Linux program for Alpha, for an emulator.
//
// It does the work of NT's loader: it maps the sections of the image, adds the distance to the
// preferred base to every word that base relocations name, and binds imports (modules.c). The C
// library replaces NT's own libraries: an import is bound to the function of that name. The images,
// the stack and the code that leads to the C library are below 2 GB, as on NT, including images
// with 64-bit addresses (PE32+, machine 0x284).
//
// Example: "loader --base 0x1230000 lua.exe script.lua" binds printf of lua.exe to the C library's
// printf.
//
// Source: Microsoft PE/COFF specification, sections 2 to 6. Code of the C library expects its own
// address in register 27, which code for NT does not set: a thunk for each import does.
//
// Limit: main() gets the arguments.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "exceptions.h"
#include "file_functions.h"
#include "loader.h"
#include "module_functions.h"
#include "modules.h"
#include "stops.h"
#include "substitutes.h"
#include "thread_data.h"
#include "unwind.h"

enum { kMachine = 0x184, kPe32 = 0x10b, kWideMachine = 0x284, kPe32Plus = 0x20b, kThunkWords = 6 };
#define SECTION_EXECUTABLE 0x20000000u
enum { kAbsolute = 0, kHigh = 1, kLow = 2, kHighLow = 3, kHighAdjusted = 4, kAddress64 = 10 };
#define STACK_ADDRESS 0x20000000ul
#define STACK_SIZE 0x800000ul
#define THUNKS_ADDRESS 0x10000000ul
#define THUNKS_SIZE 0x20000ul
// The place of images that cannot be at their own bases, and of blocks of threads.
#define LOW_ADDRESS 0x30000000ul
#define LOW_END 0x70000000ul
#define LOW_STEP 0x10000ul

static const char* program;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  // guards low memory and thunks

void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "respike-nt: %s: ", program);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  exit(125);
}

uint16_t load16(const uint8_t* p) {
  uint16_t value;
  memcpy(&value, p, sizeof value);
  return value;
}

uint32_t load32(const uint8_t* p) {
  uint32_t value;
  memcpy(&value, p, sizeof value);
  return value;
}

uint64_t load64(const uint8_t* p) {
  uint64_t value;
  memcpy(&value, p, sizeof value);
  return value;
}

static void store16(uint8_t* p, uint16_t value) {
  memcpy(p, &value, sizeof value);
}

void store32(uint8_t* p, uint32_t value) {
  memcpy(p, &value, sizeof value);
}

void store64(uint8_t* p, uint64_t value) {
  memcpy(p, &value, sizeof value);
}

// ---- the file

struct file {
  const char* path;
  uint8_t* bytes;
  size_t size;
};

static struct file read_file(const char* path) {
  struct file file = {.path = path};
  FILE* stream = fopen(path, "rb");
  if (stream == NULL) fail("%s: %s", path, strerror(errno));
  fseek(stream, 0, SEEK_END);
  file.size = ftell(stream);
  rewind(stream);
  file.bytes = malloc(file.size + 1);
  if (file.bytes == NULL || fread(file.bytes, 1, file.size, stream) != file.size)
    fail("the file cannot be read");
  fclose(stream);
  return file;
}

/// The address of `size` bytes of the image; they must be in the image.
uint8_t* at(const struct image* image, uint32_t place, uint32_t size) {
  if (place > image->size || size > image->size - place) fail("%#x is not in the image", place);
  return image->memory + place;
}

/// The file's bytes from `offset` on.
static const uint8_t* in_file(const struct file* file, uint64_t offset, uint64_t size) {
  if (offset > file->size || size > file->size - offset) fail("the file is too short");
  return file->bytes + offset;
}

/// Memory at the address; NULL when it is taken.
static void* map_if_free(uint64_t address, uint64_t size) {
  void* memory = mmap((void*)address, size, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (memory != MAP_FAILED && memory != (void*)address) munmap(memory, size);
  return memory == (void*)address ? memory : NULL;
}

static void* map(uint64_t address, uint64_t size, const char* what) {
  void* memory = map_if_free(address, size);
  if (memory == NULL) fail("there is no room for %s at %#lx", what, address);
  return memory;
}

void* map_low(uint64_t size) {
  static uint64_t next = LOW_ADDRESS;
  void* memory = NULL;
  pthread_mutex_lock(&lock);
  for (; memory == NULL && next + size < LOW_END; next += LOW_STEP) {
    memory = map_if_free(next, size);
    if (memory != NULL) next += (size - 1) / LOW_STEP * LOW_STEP;
  }
  pthread_mutex_unlock(&lock);
  if (memory == NULL) fail("there is no room below 2 GB");
  return memory;
}

// ---- relocations and imports

static void relocate_word(const struct image* image, uint32_t place, unsigned kind,
                          uint16_t parameter, uint64_t whole_distance) {
  const uint32_t distance = (uint32_t)whole_distance;
  uint8_t* p;
  switch (kind) {
    case kAbsolute:
      return;
    case kHigh:
      p = at(image, place, 2);
      store16(p, load16(p) + (distance >> 16));
      return;
    case kLow:
      p = at(image, place, 2);
      store16(p, load16(p) + distance);
      return;
    case kHighLow:
      p = at(image, place, 4);
      store32(p, load32(p) + distance);
      return;
    case kAddress64:
      p = at(image, place, 8);
      store64(p, load64(p) + whole_distance);
      return;
    case kHighAdjusted:
      p = at(image, place, 2);
      store16(p, (((uint32_t)load16(p) << 16) + (int16_t)parameter + distance + 0x8000) >> 16);
      return;
    default:
      fail("base relocations of kind %u are unknown", kind);
  }
}

static void relocate(const struct image* image, uint64_t distance) {
  const uint32_t start = image->directory[kBaseRelocations],
                 size = image->directory_size[kBaseRelocations];
  if (distance == 0) return;
  if (size == 0) fail("the image has no base relocations and can only be at its own base");
  for (uint32_t block = start; block < start + size;) {
    const uint32_t page = load32(at(image, block, 8)), length = load32(at(image, block, 8) + 4);
    if (length < 8) fail("a block of base relocations is damaged");
    for (uint32_t i = 8; i + 2 <= length; i += 2) {
      const uint16_t entry = load16(at(image, block + i, 2));
      uint16_t parameter = 0;
      if (entry >> 12 == kHighAdjusted) parameter = load16(at(image, block + (i += 2), 2));
      relocate_word(image, page + (entry & 0xfff), entry >> 12, parameter, distance);
    }
    block += length;
  }
}

static FILE* stream(int number) {
  return number == 0 ? stdin : number == 1 ? stdout : stderr;
}

static int count_bits(unsigned long value) {
  return __builtin_popcountl(value);
}

static int leading_zeros(unsigned long value) {
  return __builtin_clzl(value);
}

static int trailing_zeros(unsigned long value) {
  return __builtin_ctzl(value);
}

static int at_exit(void (*function)(void)) {
  return atexit(function);
}

extern char divq[] __asm__("__divq"), divl[] __asm__("__divl"), divqu[] __asm__("__divqu"),
    divlu[] __asm__("__divlu"), remq[] __asm__("__remq"), reml[] __asm__("__reml"),
    remqu[] __asm__("__remqu"), remlu[] __asm__("__remlu");

/// Functions that the C library does not export.
static const struct {
  const char* name;
  void* function;
} kOwn[] = {
    {"respike_nt_stream", stream},
    {"__popcountdi2", count_bits},
    {"__clzdi2", leading_zeros},
    {"__ctzdi2", trailing_zeros},
    {"atexit", at_exit},
    {"RaiseException", raise_exception},
    {"__C_specific_handler", c_specific_handler},
    {"__divq", divq},
    {"__divl", divl},
    {"__divqu", divqu},
    {"__divlu", divlu},
    {"__remq", remq},
    {"__reml", reml},
    {"__remqu", remqu},
    {"__remlu", remlu},
};

void* function_named(const char* name) {
  for (size_t i = 0; i < sizeof kOwn / sizeof kOwn[0]; ++i)
    if (strcmp(kOwn[i].name, name) == 0) return kOwn[i].function;
  void* function = file_function(name);
  if (function == NULL) function = module_function(name);
  return function != NULL ? function : dlsym(RTLD_DEFAULT, name);
}

static uint32_t add_thunk(void* function) {
  static uint32_t* next;
  static uint32_t* end;
  if (next == NULL) {
    next = map(THUNKS_ADDRESS, THUNKS_SIZE, "thunks");
    end = next + THUNKS_SIZE / sizeof *next;
  }
  for (uint32_t* made = (uint32_t*)THUNKS_ADDRESS; made != next; made += kThunkWords)
    if (memcmp(made + 4, &function, sizeof function) == 0) return (uint32_t)(uintptr_t)made;
  if (end - next < kThunkWords) fail("it imports too much");
  uint32_t* thunk = next;
  next += kThunkWords;
  thunk[0] = 0xc3800000;  // br $28, the next instruction
  thunk[1] = 0xa77c000c;  // ldq $27, 12($28)
  thunk[2] = 0x6bfb0000;  // jmp ($27)
  memcpy(thunk + 4, &function, sizeof function);
  return (uint32_t)(uintptr_t)thunk;
}

/// Code below 2 GB that jumps to a function with the function's address in register 27.
uint32_t make_thunk(void* function) {
  pthread_mutex_lock(&lock);
  const uint32_t thunk = add_thunk(function);
  pthread_mutex_unlock(&lock);
  return thunk;
}

const char* text_in(const struct image* image, uint32_t place) {
  const char* text = (const char*)at(image, place, 1);
  if (memchr(text, 0, image->size - place) == NULL) fail("a name is damaged");
  return text;
}

// ---- loading

/// The headers are mapped from the file, so that observers of the process's memory
/// (measure/plugins/mapped_files.cc) can identify the image's file.
static void map_headers(const struct image* image, const struct file* file, uint32_t size) {
  uint8_t* headers = at(image, 0, size);
  in_file(file, 0, size);
  const int descriptor = open(file->path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0 || mmap(headers, size, PROT_READ | PROT_WRITE | PROT_EXEC,
                             MAP_PRIVATE | MAP_FIXED, descriptor, 0) != headers)
    fail("%s", strerror(errno));
  close(descriptor);
}

/// Puts the file's image into memory, at `base`; 0: at its own base, or elsewhere if that base is
/// taken.
static struct image place_image(const struct file* file, uint64_t base) {
  if (file->size < 64 || memcmp(file->bytes, "MZ", 2) != 0) fail("this is no PE file");
  const uint64_t headers = load32(in_file(file, 0x3c, 4));
  const uint8_t* coff = in_file(file, headers, 24 + 112);
  const uint8_t* optional = coff + 24;
  if (memcmp(coff, "PE\0\0", 4) != 0) fail("this is no PE file");
  const bool is_wide = load16(coff + 4) == kWideMachine && load16(optional) == kPe32Plus;
  if (!is_wide && (load16(coff + 4) != kMachine || load16(optional) != kPe32))
    fail("it is for machine %#x, not for Alpha", load16(coff + 4));
  const unsigned sections = load16(coff + 6), optional_size = load16(coff + 20);
  in_file(file, headers + 24, optional_size + 40ul * sections);

  const uint64_t preferred = is_wide ? load64(optional + 24) : load32(optional + 28);
  struct image image = {.size = load32(optional + 56), .entry = load32(optional + 16)};
  if (base == 0 && preferred + image.size <= 0x7fff0000)
    image.memory = map_if_free(preferred, image.size);
  if (base == 0 && image.memory == NULL) image.memory = map_low(image.size);
  if (image.memory == NULL) {
    if (base % 0x10000 != 0 || base + image.size > 0x7fff0000)
      fail("no image can be at %#lx", base);
    image.memory = map(base, image.size, "the image");
  }
  base = (uint64_t)image.memory;
  map_headers(&image, file, load32(optional + 60));
  for (unsigned i = 0; i < sections; ++i) {
    const uint8_t* section = optional + optional_size + 40 * i;
    const uint32_t size = load32(section + 8), place = load32(section + 12),
                   in_image = load32(section + 16), offset = load32(section + 20);
    const uint32_t copied = size != 0 && size < in_image ? size : in_image;
    at(&image, place, size);
    if (copied != 0) memcpy(at(&image, place, copied), in_file(file, offset, copied), copied);
  }
  const uint32_t table = is_wide ? 112 : 96, directories = load32(optional + table - 4);
  for (uint32_t i = 0; i < directories && i < kDirectories; ++i) {
    image.directory[i] = load32(in_file(file, headers + 24 + table + 8 * i, 8));
    image.directory_size[i] = load32(in_file(file, headers + 24 + table + 8 * i + 4, 4));
  }
  image.is_wide = is_wide;
  if (is_wide && image.directory_size[kThreadData] != 0)
    fail("thread-local data of images with 64-bit addresses is not supported");
  image.is_library = (load16(coff + 22) & 0x2000) != 0;
  relocate(&image, base - preferred);
  const uint32_t table_size = image.directory_size[kExceptions];
  unwind_add_image(image.memory, image.size, at(&image, image.directory[kExceptions], table_size),
                   table_size, is_wide);
  for (unsigned i = 0; i < sections; ++i) {
    const uint8_t* section = optional + optional_size + 40 * i;
    const uint64_t start = (uint64_t)image.memory + load32(section + 12);
    if ((load32(section + 36) & SECTION_EXECUTABLE) != 0)
      stops_add_code(start, start + load32(section + 8) / 4 * 4);
  }
  return image;
}

struct image load_image(const char* path, uint64_t base) {
  const struct file file = read_file(path);
  const struct image image = place_image(&file, base);
  free(file.bytes);
  return image;
}

/// Initializes all libraries, and calls the program's entry, whose gp is not needed.
static long run(long count, char** arguments, const struct module* module) {
  initialize_modules();
  long (*entry)(long, char**, char**) = (void*)at(&module->image, module->image.entry, 4);
  return entry(count, arguments, environ);
}

/// Calls run() on a stack below 2 GB.
static long run_on_low_stack(const struct module* module, long count, char** arguments) {
  uint8_t* stack = map(STACK_ADDRESS, STACK_SIZE, "the stack");
  register void* entry __asm__("$27") = run;
  register long first __asm__("$16") = count;
  register char** second __asm__("$17") = arguments;
  register const struct module* third __asm__("$18") = module;
  register uint8_t* top __asm__("$9") = stack + STACK_SIZE - 256;
  register long result __asm__("$0");
  __asm__ volatile(
      "mov $30,$10\n\t"
      "mov $9,$30\n\t"
      "jsr $26,($27),0\n\t"
      "ldgp $29,0($26)\n\t"
      "mov $10,$30"
      : "=r"(result), "+r"(entry), "+r"(first), "+r"(second), "+r"(third)
      : "r"(top)
      : "memory", "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$10", "$19", "$20", "$21", "$22",
        "$23", "$24", "$25", "$26", "$28", "$f0", "$f1", "$f10", "$f11", "$f12", "$f13", "$f14",
        "$f15", "$f16", "$f17", "$f18", "$f19", "$f20", "$f21", "$f22", "$f23", "$f24", "$f25",
        "$f26", "$f27", "$f28", "$f29", "$f30");
  return result;
}

int main(int count, char** arguments) {
  uint64_t base = 0;
  int first = 1;
  program = "";
  const char* seen_name = NULL;
  for (; first + 1 < count && strncmp(arguments[first], "--", 2) == 0; first += 2) {
    const char* value = arguments[first + 1];
    if (strcmp(arguments[first], "--base") == 0)
      base = strtoul(value, NULL, 0);
    else if (strcmp(arguments[first], "--libraries") == 0)
      set_library_base(strtoul(value, NULL, 0));
    else if (strcmp(arguments[first], "--substitutes") == 0)
      read_substitutes(value);
    else if (strcmp(arguments[first], "--opened") == 0)
      note_in(value);
    else if (strcmp(arguments[first], "--argv0") == 0)
      seen_name = value;
    else
      fail("%s is no option", arguments[first]);
  }
  if (first >= count) fail("usage: [OPTION VALUE]... PROGRAM.exe [ARGUMENTS]");
  program = arguments[first];
  const struct module* module = load_program(program, base);
  if (seen_name != NULL) arguments[first] = (char*)seen_name;
  set_command_line(count - first, arguments + first);
  // For tests of unwinding: the file to which stops.c writes its findings.
  const char* report = getenv("RESPIKE_NT_STOPS");
  if (report != NULL) stops_begin(report);
  exceptions_begin();
  serve_thread_data();
  exit((int)run_on_low_stack(module, count - first, arguments + first));
}

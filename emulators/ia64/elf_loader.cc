// Puts ELF images into memory, and builds the initial stack of a program.
//
// Segments are mapped as in Linux: whole pages of the file, the rest of the last page zero, memory
// beyond the file anonymous. An interpreter is searched for below the sysroot. Position-independent
// programs go to 0x2000000800000000, interpreters where mmap puts mappings. Stack and register
// stack are near the end of the window of region 3, as in Linux; RLIMIT_STACK is the size of each.
// Example: a segment of 0x5000 bytes in the file and 0x9000 in memory is two pages of 16 KB of the
// file, the second with zeros from 0x5000 on, and an anonymous page.
//
// A program starts with sp 16 bytes below argc, its register stack empty, gp unset (its first code
// computes it), and r8 to r11 zero. There is no AT_SYSINFO: the C library then uses break for
// system calls.
//
// Sources: linux/fs/binfmt_elf.c; linux/arch/ia64/include/asm/{elf,processor}.h.

#include "emulators/ia64/elf_loader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "emulators/ia64/system_calls.h"
#include "optimizer/base/error.h"
#include "optimizer/image/elf/program_headers.h"

namespace respike::emulator::ia64 {

namespace {

constexpr uint64_t kPieBase = 0x2000000800000000;
constexpr uint64_t kStackTop = region_base(3) + kWindow - (uint64_t{1} << 30);
constexpr uint64_t kRegisterStackBase = region_base(3) + kWindow / 2;
constexpr size_t kMaximumHeaders = 512;

class File {
 public:
  explicit File(const std::string& path)
      : path_(path), number_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (number_ < 0) throw Error(fmt::format("cannot be opened: {}", std::strerror(errno)), path);
    struct stat status;
    if (fstat(number_, &status) != 0 || !S_ISREG(status.st_mode)) {
      close(number_);
      throw NotExecutable(fmt::format("{}: not a regular file", path));
    }
    size_ = static_cast<uint64_t>(status.st_size);
  }
  ~File() { close(number_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool read(void* to, size_t size, uint64_t offset) const {
    return offset <= size_ && size <= size_ - offset &&
           pread(number_, to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
  }
  [[noreturn]] void refuse(const std::string& reason) const {
    throw NotExecutable(fmt::format("{}: {}", path_, reason));
  }
  int number() const { return number_; }
  uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int number_;
  uint64_t size_ = 0;
};

struct Headers {
  elf::FileStart file;
  std::vector<Segment> segments;
};

Headers read_headers(const File& file) {
  Headers headers;
  elf::FileStart& h = headers.file;
  std::array<uint8_t, elf::kFileStartSize> start;
  if (file.read(start.data(), start.size(), 0)) h = elf::read_file_start(start);
  if (!h.is_elf) file.refuse("not an ELF image");
  if (!h.is_64_bit_little_endian || h.machine() != MachineId::ia64)
    file.refuse("not a little-endian 64-bit program for IA-64");
  if (!h.is_linked) file.refuse("not an executable program");
  if (h.header_size != elf::kProgramHeaderSize || h.header_count == 0 ||
      h.header_count > kMaximumHeaders)
    file.refuse("damaged: bad program headers");
  std::vector<uint8_t> table(h.header_count * elf::kProgramHeaderSize);
  if (!file.read(table.data(), table.size(), h.headers_offset))
    file.refuse("damaged: program headers beyond the file's end");
  headers.segments = elf::read_segments(table);
  return headers;
}

/// An image in memory.
struct Loaded {
  uint64_t bias = 0, start = 0, end = 0, entry = 0, headers = 0;
  unsigned header_count = 0;
  std::string interpreter;
};

/// Checks that a segment can be mapped, and is inside its file.
void check_segment(const File& file, const Segment& p) {
  if (p.file_size > p.memory_size || p.offset > file.size() ||
      p.file_size > file.size() - p.offset) {
    file.refuse("damaged: a segment lies beyond the file's end");
  }
  if (p.memory_size > kWindow || (p.address & kUnmappableBits) ||
      p.address % kPage != p.offset % kPage) {
    file.refuse("damaged: a segment has an impossible address");
  }
}

int protection_of(const Segment& p) {
  return (p.rights & Segment::kReadable ? PROT_READ : 0) | (p.writable() ? PROT_WRITE : 0) |
         (p.executable() ? PROT_EXEC : 0);
}

void must(const File& file, int64_t result) {
  if (result < 0) file.refuse("cannot be mapped at its addresses");
}

void map_segment(GuestMemory& memory, const File& file, const Segment& p, uint64_t bias,
                 const std::string& name) {
  const uint64_t address = p.address + bias, start = page_down(address);
  const uint64_t file_end = address + p.file_size, end = page_up(address + p.memory_size);
  const int protection = protection_of(p), fixed = MAP_PRIVATE | MAP_FIXED;
  uint64_t anonymous = start;
  if (p.file_size != 0) {
    anonymous = page_up(file_end);
    // Writable at first, if the tail has to be cleared.
    const bool clears = p.memory_size > p.file_size && file_end < anonymous;
    must(file, memory.map(start, anonymous - start, protection | (clears ? PROT_WRITE : 0), fixed,
                          file.number(), static_cast<int64_t>(page_down(p.offset)), name));
    if (clears) {
      std::memset(memory.host(file_end), 0, anonymous - file_end);
      must(file, memory.protect(start, anonymous - start, protection));
    }
  }
  if (anonymous < end) {
    must(file, memory.map(anonymous, end - anonymous, protection, fixed | MAP_ANONYMOUS, -1, 0));
  }
}

std::string read_interpreter(const File& file, const Segment& p) {
  std::string path(std::min<uint64_t>(p.file_size, 4096), '\0');
  if (path.empty() || !file.read(path.data(), path.size(), p.offset))
    file.refuse("damaged: bad interpreter");
  path.resize(std::min(path.find('\0'), path.size()));
  return path;
}

/// Refuses libraries, which have no entry: their entry address is 0, is the ELF header, or is in no
/// segment.
void require_entry(const File& file, const Headers& headers) {
  const uint64_t entry = headers.file.entry;
  for (const Segment& p : headers.segments) {
    const uint64_t inside = entry - p.address;
    if (p.loaded() && p.executable() && entry >= p.address && inside < p.memory_size &&
        p.offset + inside >= elf::kFileStartSize)
      return;
  }
  file.refuse("not an executable program: there is no place to start it at");
}

Loaded load(GuestMemory& memory, const File& file, const std::string& name, bool is_program) {
  const Headers headers = read_headers(file);
  Loaded image;
  uint64_t lowest = ~uint64_t{0}, highest = 0;
  for (const Segment& p : headers.segments) {
    if (p.kind == Segment::Kind::interpreter) image.interpreter = read_interpreter(file, p);
    if (!p.loaded() || p.memory_size == 0) continue;
    check_segment(file, p);
    lowest = std::min<uint64_t>(lowest, page_down(p.address));
    highest = std::max<uint64_t>(highest, page_up(p.address + p.memory_size));
  }
  if (lowest >= highest) file.refuse("damaged: nothing to load");
  require_entry(file, headers);
  if (headers.file.can_be_moved) {
    // If the image was linked to an address, data is in another region; else after the text.
    if (highest - lowest > kWindow) file.refuse("a position-independent image that spans regions");
    const int64_t place = memory.map(is_program ? kPieBase : 0, highest - lowest, PROT_NONE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(file, place);
    image.bias = static_cast<uint64_t>(place) - lowest;
  }
  for (const Segment& p : headers.segments) {
    if (!p.loaded() || p.memory_size == 0) continue;
    map_segment(memory, file, p, image.bias, name);
    const uint64_t header_offset = headers.file.headers_offset - p.offset;
    if (headers.file.headers_offset >= p.offset && header_offset < p.file_size)
      image.headers = p.address + image.bias + header_offset;
    image.end = std::max(image.end, p.address + p.memory_size + image.bias);
  }
  image.start = lowest + image.bias;
  image.entry = headers.file.entry + image.bias;
  image.header_count = headers.file.header_count;
  return image;
}

/// Writes from the top of the stack down.
class StackWriter {
 public:
  StackWriter(GuestMemory& memory, uint64_t top, uint64_t bottom)
      : memory_(memory), sp_(top), bottom_(bottom) {}

  uint64_t push(const void* data, size_t size) {
    if (size > sp_ - bottom_ || sp_ - size - bottom_ < 128 * 1024)
      throw Error("the arguments are too long for the stack");
    sp_ -= size;
    std::memcpy(memory_.host(sp_), data, size);
    return sp_;
  }
  uint64_t push(const std::string& text) { return push(text.c_str(), text.size() + 1); }
  void align() { sp_ &= ~uint64_t{15}; }
  uint64_t sp() const { return sp_; }

 private:
  GuestMemory& memory_;
  uint64_t sp_, bottom_;
};

uint64_t stack_size() {
  rlimit limit = {};
  getrlimit(RLIMIT_STACK, &limit);
  const uint64_t most = uint64_t{1} << 30;
  return page_up(std::clamp<uint64_t>(limit.rlim_cur, 1 << 20, most));
}

uint64_t map_stack(GuestMemory& memory, uint64_t start, uint64_t size, const char* name) {
  if (memory.map(start, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0, name) < 0) {
    throw Error("cannot map the stack");
  }
  return start;
}

using Auxiliary = std::vector<std::pair<uint64_t, uint64_t>>;

/// If `repeatable`, the random bytes are always the same.
Auxiliary auxiliary_vector(const Loaded& program, const Loaded& linker, StackWriter& stack,
                           const std::string& name, bool repeatable) {
  uint8_t random[16] = {};
  if (repeatable || getrandom(random, sizeof random, GRND_NONBLOCK) < 0)
    std::memset(random, 0x5a, sizeof random);
  return {{AT_PHDR, program.headers},
          {AT_PHENT, elf::kProgramHeaderSize},
          {AT_PHNUM, program.header_count},
          {AT_PAGESZ, kPage},
          {AT_BASE, linker.bias},
          {AT_FLAGS, 0},
          {AT_ENTRY, program.entry},
          {AT_UID, getuid()},
          {AT_EUID, geteuid()},
          {AT_GID, getgid()},
          {AT_EGID, getegid()},
          {AT_SECURE, 0},
          {AT_HWCAP, 0},
          {AT_CLKTCK, 100},
          {AT_RANDOM, stack.push(random, sizeof random)},
          {AT_EXECFN, stack.push(name)},
          {AT_NULL, 0}};
}

/// Writes the strings, and below them argc, argv, environment and auxiliary vector. Returns the
/// address of argc.
uint64_t build_stack(GuestMemory& memory, const Loaded& program, const Loaded& linker,
                     const std::string& name, const std::vector<std::string>& arguments,
                     char** environment, bool repeatable) {
  const uint64_t size = stack_size();
  const uint64_t bottom = map_stack(memory, kStackTop - size, size, "[stack]");
  StackWriter stack(memory, kStackTop - 16, bottom);
  std::vector<uint64_t> words = {arguments.size()};
  for (const std::string& argument : arguments) words.push_back(stack.push(argument));
  words.push_back(0);
  for (char** entry = environment; *entry != nullptr; ++entry) words.push_back(stack.push(*entry));
  words.push_back(0);
  for (const auto& [type, value] : auxiliary_vector(program, linker, stack, name, repeatable)) {
    words.push_back(type);
    words.push_back(value);
  }
  if (words.size() % 2 != 0) words.push_back(0);
  stack.align();
  return stack.push(words.data(), words.size() * sizeof(uint64_t));
}

}  // namespace

bool is_guest_program(const std::string& path) {
  const int number = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (number < 0) return false;
  std::array<uint8_t, elf::kFileStartSize> start;
  const bool complete = pread(number, start.data(), start.size(), 0) == ssize_t{start.size()};
  close(number);
  return complete && elf::read_file_start(start).machine() == MachineId::ia64;
}

void load_program(Process& process, Thread& thread, const std::string& path,
                  const std::string& name, const std::vector<std::string>& arguments,
                  char** environment) {
  GuestMemory& memory = process.memory;
  process.loaded_at = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                std::chrono::system_clock::now().time_since_epoch())
                                                .count());
  const File file(path);
  const Loaded program = load(memory, file, path, true);
  Loaded linker;
  uint64_t entry = process.entry = program.entry & ~uint64_t{15};
  if (!program.interpreter.empty()) {
    const std::string linker_path = host_path(thread, program.interpreter);
    if (!std::filesystem::exists(linker_path)) {
      throw Error(
          fmt::format("needs {}, which is not there: name the folder that holds it by --sysroot",
                      program.interpreter),
          path);
    }
    linker = load(memory, File(linker_path), linker_path, false);
    entry = linker.entry;
    process.linker_start = linker.start;
    process.linker_end = linker.end;
  }
  memory.start_break((program.start >> 61) == 1 ? region_base(3) + kPage : program.end);
  const uint64_t argc = build_stack(memory, program, linker, name, arguments, environment,
                                    !process.options.model.empty());
  const uint64_t registers =
      map_stack(memory, kRegisterStackBase, stack_size(), "[register stack]");

  Cpu& cpu = thread.cpu;
  cpu.gr[12] = argc - 16;
  cpu.ip = entry & ~uint64_t{15};
  cpu.stack.start(cpu, registers);
}

}  // namespace respike::emulator::ia64

// Finds the function that executes a system call.
//
// Most calls take the same structures on IA-64 and x86-64, both being 64-bit little-endian Linux
// with the generic headers: the host executes these calls with translated pointers
// (system_calls.def), and its kernel returns EFAULT for unmapped memory. The other calls are in
// system_calls_*.cc, by subject. Example: write(1, p, 5) becomes the host's write(1, p + bias, 5);
// fstat is a function of system_calls_file.cc, since struct stat differs.

#include "emulators/ia64/system_calls.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "emulators/ia64/memory_access.h"
#include "emulators/ia64/signals.h"

namespace respike::emulator::ia64 {

namespace {

struct Row {
  long host;
  std::string_view arguments;
};

const std::unordered_map<unsigned, Row>& rows() {
  static const std::unordered_map<unsigned, Row> kRows = {
#define ROW(number, name, arguments) {number, {SYS_##name, arguments}},
#include "emulators/ia64/system_calls.def"
#undef ROW
  };
  return kRows;
}

/// A pointer that every system call refuses, even if the call would not use it.
constexpr uint64_t kBadPointer = uint64_t{1} << 63;
/// Addresses from here on belong to the kernel, and are also refused (asm/processor.h, TASK_SIZE).
constexpr uint64_t kTaskSize = region_base(5);

int64_t pass(Thread& thread, const Row& row, const Arguments& a) {
  uint64_t values[6] = {};
  std::string paths[6];
  for (size_t i = 0; i < row.arguments.size(); ++i) {
    switch (row.arguments[i]) {
      case 'p':
        values[i] = host_pointer(thread, a[i]);
        break;
      case 'x':
        values[i] = a[i] >> 61 == 0 ? a[i] : host_pointer(thread, a[i]);
        break;
      case 's':
        if (a[i] == 0) break;
        paths[i] = host_path(thread, guest_string(thread, a[i]));
        values[i] = reinterpret_cast<uint64_t>(paths[i].c_str());
        break;
      default:
        values[i] = a[i];
    }
  }
  return safe_system_call(thread, row.host, values[0], values[1], values[2], values[3], values[4],
                          values[5]);
}

}  // namespace

uint64_t host_pointer(const Thread& thread, uint64_t address) {
  if (address == 0) return 0;
  if (address >= kTaskSize) return kBadPointer;
  const char* host = thread.process.memory.host(address);
  return host == nullptr ? kBadPointer : reinterpret_cast<uint64_t>(host);
}

std::string guest_string(Thread& thread, uint64_t address) {
  // Read in parts within a page: the page after the string may be unmapped.
  std::string text;
  while (text.size() < 65536) {
    const auto character = load_guest<char>(thread.cpu, address++);
    if (character == '\0') return text;
    text += character;
  }
  return text;
}

std::string host_path(const Thread& thread, const std::string& path) {
  const std::string& root = thread.process.options.sysroot;
  if (root.empty() || path.empty() || path[0] != '/') return path;
  std::string below = root + path;
  return faccessat(AT_FDCWD, below.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0 ? below : path;
}

int64_t system_call(Thread& thread) {
  Cpu& cpu = thread.cpu;
  const auto number = static_cast<unsigned>(cpu.gr[15]);
  const FrameMarker marker{cpu.cfm};
  Arguments a;
  for (unsigned i = 0; i < 6; ++i)
    a.values[i] = general(cpu, marker.general(32 + marker.sol() + i));
  for (const auto find : {file_call, memory_call, process_call, network_call}) {
    if (const SystemCall call = find(number)) return call(thread, a);
  }
  const auto row = rows().find(number);
  return row == rows().end() ? -ENOSYS : pass(thread, row->second, a);
}

}  // namespace respike::emulator::ia64

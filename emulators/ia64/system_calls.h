#pragma once
// The system calls of IA-64 Linux: break 0x100000 with the number in r15, arguments in out0 to
// out5, the result in r8 and r10.

#include <sys/uio.h>

#include <cstdint>
#include <string>

#include "emulators/ia64/process.h"

namespace respike::emulator::ia64 {

/// The result of calls that set all registers themselves, or do not return.
constexpr int64_t kNoResult = INT64_MIN;

/// Executes the call that the registers describe. Returns a result, -errno, -kRestart or kNoResult.
int64_t system_call(Thread& thread);

/// The arguments of a call.
struct Arguments {
  uint64_t values[6];
  uint64_t operator[](size_t i) const { return values[i]; }
};

/// A call that cannot simply be passed to the host.
using SystemCall = int64_t (*)(Thread& thread, const Arguments& a);

/// The calls that each file implements, by number; null for other numbers.
SystemCall file_call(unsigned number);
SystemCall memory_call(unsigned number);
SystemCall process_call(unsigned number);
SystemCall network_call(unsigned number);

/// The host's pointer for a guest's pointer; 0 stays 0. For a pointer that can never be mapped: a
/// pointer that the kernel refuses.
uint64_t host_pointer(const Thread& thread, uint64_t address);

/// Copies an array of struct iovec, with translated pointers; raises a fault (EFAULT).
void load_vectors(Thread& thread, uint64_t address, uint64_t count, iovec* vectors);

/// Copies a path or another string; raises a fault (EFAULT).
std::string guest_string(Thread& thread, uint64_t address);
/// The host's path for a guest's path: below the sysroot if the path is absolute and exists there.
std::string host_path(const Thread& thread, const std::string& path);

}  // namespace respike::emulator::ia64

#pragma once
// Makes threads and processes, and executes other programs.

#include <string>
#include <vector>

#include "emulators/ia64/process.h"

namespace respike::emulator::ia64 {

/// The arguments of clone2. Memory stack and register stack of the child share one area: the memory
/// stack grows down from the end of the area, the register stack up from its start. Stack 0: the
/// child continues on the parent's stacks.
struct CloneArguments {
  uint64_t flags, stack, stack_size, parent_tid, child_tid, tls;
};

/// Returns the child's number, or -errno; 0 in a forked child.
int64_t clone_thread(Thread& thread, const CloneArguments& arguments);

/// Ends a thread's bookkeeping: clears its number and releases its robust futexes.
void release_thread(Thread& thread);

/// Ends the first thread: waits for the other threads, and ends the process with the status of the
/// thread that ends last.
[[noreturn]] void end_first_thread(Thread& thread, int status);

/// execve. Guest programs run under this emulator with the same options, scripts under their
/// interpreter, programs of the host directly. Returns only with -errno.
int64_t execute_program(Thread& thread, const std::string& path,
                        const std::vector<std::string>& arguments,
                        const std::vector<std::string>& environment);

}  // namespace respike::emulator::ia64

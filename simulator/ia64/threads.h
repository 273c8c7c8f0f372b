#pragma once
// Making threads and processes, and becoming another program.

#include <string>
#include <vector>

#include "simulator/ia64/process.h"

namespace respike::simulator::ia64 {

/// The arguments of clone2. Memory stack and register stack of the child share one area: the first
/// grows down from its end, the second up from its start; 0 continues on the parent's.
struct CloneArguments {
  uint64_t flags, stack, stack_size, parent_tid, child_tid, tls;
};

/// The child's number, or -errno; in a forked child 0.
int64_t clone_thread(Thread& thread, const CloneArguments& arguments);

/// What remains to be done when a thread ends: its number is cleared, its robust futexes are
/// released.
void release_thread(Thread& thread);

/// After the first thread's exit: waits for the others, and ends the process with the status of the
/// last exit.
[[noreturn]] void end_first_thread(Thread& thread, int status);

/// execve. Guest programs run under this emulator with the same options, scripts by their
/// interpreter, programs of the host by themselves. Returns only with -errno.
int64_t execute_program(Thread& thread, const std::string& path,
                        const std::vector<std::string>& arguments,
                        const std::vector<std::string>& environment);

}  // namespace respike::simulator::ia64

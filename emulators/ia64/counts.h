#pragma once
// Exact counts of executed instructions: --counts FILE.

#include "emulators/ia64/process.h"

namespace respike::emulator::ia64 {

/// Adds a thread's counts to the process's and sets them to 0.
void collect_counts(Thread& thread);

/// Ends counting: stops the other threads, and appends the counts of the process to the file.
void finish_counts(Thread& thread);

/// In a forked child: sets all counts to 0.
void reset_counts(Thread& thread);

}  // namespace respike::emulator::ia64

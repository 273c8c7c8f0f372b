#pragma once
// Puts a program and its dynamic linker into guest memory, and sets up a thread to run the program.

#include <stdexcept>
#include <string>
#include <vector>

#include "emulators/ia64/process.h"

namespace respike::emulator::ia64 {

/// The file exists, but is not a program for this machine. For a file that cannot be found Error is
/// thrown.
struct NotExecutable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Whether a file begins like an ELF image of this machine.
bool is_guest_program(const std::string& path);

/// Loads the program at `path`, a path of the host; the guest knows the program as `name`. Throws
/// Error or NotExecutable.
void load_program(Process& process, Thread& thread, const std::string& path,
                  const std::string& name, const std::vector<std::string>& arguments,
                  char** environment);

}  // namespace respike::emulator::ia64

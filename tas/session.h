#pragma once
// Starting a program with other images in place of its own.

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tas/private_mounts.h"

namespace respike {

/// Where opened libraries are noted (opened.h); empty: nowhere.
struct Notes {
  std::filesystem::path folder;
  std::filesystem::path audit_module;  // for the dynamic linker; empty: the emulator makes notes
  std::filesystem::path attendant;     // the socket where programs ask for versions of libraries;
                                       // empty: none
};

class Attendant;

struct Launch {
  std::filesystem::path program;            // absolute; what the program gets as argv[0]
  std::vector<std::string> arguments;       // after argv[0]
  std::vector<std::string> environment;     // NAME=VALUE, replaces variables of this process
  std::vector<Substitution> substitutions;  // originals as the loader opens them
  // Programs of Windows: the folder for their versions, and images of the application that have no
  // version but load images that have one.
  std::filesystem::path versions;
  std::vector<std::filesystem::path> unchanged;
  Notes notes;
  // Starts the attendant that answers at notes.attendant, whose folder is empty and serves only
  // this purpose; only run_to_end() calls this.
  std::function<Attendant()> start_attendant;
  const Attendant* attendant = nullptr;          // the attendant that was started
  std::function<void(const std::string&)> warn;  // called before the program starts
  std::function<void()> before_execution;        // the very last step
  bool unintercepted = false;                    // as with mount_unintercepted()
};

/// Becomes the program, which keeps this process's number, parent, group, terminal, open files,
/// limits and signals. If no namespace can be made, warns and runs the main image's substitute by
/// its own path, with the originals of all other images. Throws Error when the program cannot be
/// started.
[[noreturn]] void start(const Launch& launch);

struct ProgramEnd {
  pid_t process = 0;
  uint64_t started_after = 0;  // nanoseconds since 1970
  int status = 0;              // as from waitpid()
};

/// Starts the program as a child in the same process group and waits for its end. Passes signals
/// that are sent only to this process on to the program. Stops when the program stops, and
/// continues when the program or this process is continued. If this process is killed, the program
/// is killed as well. Throws Error when the program cannot be started.
ProgramEnd run_to_end(const Launch& launch);

/// Ends this process as a program ended: with the program's exit status or signal.
[[noreturn]] void end_as(const ProgramEnd& end);

}  // namespace respike

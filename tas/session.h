#pragma once
// Starting a program with other images in the place of its own.

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
  std::filesystem::path attendant;  // the socket where versions of them are asked for; empty: none
};

class Attendant;

struct Launch {
  std::filesystem::path program;            // absolute; what the program gets as argv[0]
  std::vector<std::string> arguments;       // behind argv[0]
  std::vector<std::string> environment;     // NAME=VALUE, replaces variables of this process
  std::vector<Substitution> substitutions;  // originals as the loader opens them
  // Programs of Windows: the folder for their versions, and images of the application that have no
  // version, but load others that do.
  std::filesystem::path versions;
  std::vector<std::filesystem::path> unchanged;
  Notes notes;
  // Starts who is asked at notes.attendant, whose folder is empty and there for that alone; only
  // run_to_end() calls it.
  std::function<Attendant()> start_attendant;
  const Attendant* attendant = nullptr;          // who was started
  std::function<void(const std::string&)> warn;  // called before the program starts
  std::function<void()> before_execution;        // the very last step
  bool unintercepted = false;                    // as mount_unintercepted() does it
};

/// Becomes the program, which keeps this process's number, parent, group, terminal, open files,
/// limits and signals. Where no namespace can be made, warns and runs the main image's substitute
/// by its own path, with the originals of all other images. Throws Error when the program cannot be
/// started.
[[noreturn]] void start(const Launch& launch);

struct ProgramEnd {
  pid_t process = 0;
  uint64_t started_after = 0;  // nanoseconds since 1970
  int status = 0;              // as waitpid() gives it
};

/// Starts the program as a child in the same process group and waits for its end. Passes signals
/// that are sent to this process alone on to the program. Stops when the program stops, and goes on
/// when the program or this process is continued. When this process is killed, so is the program.
/// Throws Error when the program cannot be started.
ProgramEnd run_to_end(const Launch& launch);

/// Ends this process as a program ended: by its exit status or its signal.
[[noreturn]] void end_as(const ProgramEnd& end);

}  // namespace respike

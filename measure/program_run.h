#pragma once
// The inputs of a program's run, for all kinds of measurement.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace respike::measure {

/// The load on a program that is a server (server_run.h). Both commands are shell commands.
struct Driver {
  std::string command = {};  // runs while the server runs; empty: the program is not a server
  std::string before = {};   // runs before the server starts; empty: none
  unsigned seconds = 30;     // time for the server to stop
};

/// A program and its surroundings. Processes that the program forks, and programs that it executes,
/// count as part of it; under an emulator, only if they also run under the emulator.
struct ProgramRun {
  std::filesystem::path program;
  std::string argv0;
  std::vector<std::string> arguments;
  int input = 0;  // file numbers that the program gets as 0, 1 and 2
  int output = 2;
  int errors = 2;
  std::filesystem::path folder = {};  // working folder; empty: the present folder
  // NAME=VALUE, each replaces the variable of the present environment
  std::vector<std::string> variables = {};
  int stop = -1;  // a file number that kills the program when it becomes readable; -1: none
  // Called in a process between this one and the program: prepares the program's surroundings, for
  // example by private mounts. Throws Error. Empty: no preparation.
  std::function<void()> enter = {};
  bool by_own_path = false;  // start the program by its own path; otherwise by a link
  std::string name = {};     // the program's name in messages; empty: its path
  bool places = false;       // also find out where the events of a model happen
  bool counted = false;      // use the processor's counters, if there are any
  Driver driver = {};        // for a server
};

/// One of two versions that run in the same way.
struct Version {
  std::filesystem::path program;
  std::function<void()> enter = {};  // as in ProgramRun
  bool by_own_path = false;          // as in ProgramRun
  std::string name = {};
};

/// The work that two programs do, each in turn.
struct Workload {
  std::vector<std::string> arguments;
  std::filesystem::path folder = {};  // as in ProgramRun
  std::vector<std::string> variables = {};
  int input = 0;  // read to its end before the first run
  int stop = -1;  // as in ProgramRun
  bool places = false;
  Driver driver = {};
};

}  // namespace respike::measure

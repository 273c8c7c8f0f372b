#pragma once
// What a program is run with, whatever measures it.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace respike::measure {

/// What puts a load on a program that is a server (server_run.h). Both are commands for the shell.
struct Driver {
  std::string command = {};  // runs while the server runs; empty: the program is no server
  std::string before = {};   // runs before the server starts; empty: nothing is to be done
  unsigned seconds = 30;     // that the server may take to stop
};

/// A program and what it sees. Processes that the program forks, and programs that it executes,
/// count as part of it; under an emulator, if they run under the emulator, too.
struct ProgramRun {
  std::filesystem::path program;
  std::string argv0;
  std::vector<std::string> arguments;
  int input = 0;  // file numbers that the program gets as 0, 1 and 2
  int output = 2;
  int errors = 2;
  std::filesystem::path folder = {};  // where it runs; empty: in the present folder
  // NAME=VALUE, each instead of what the present environment has; the rest is the present one
  std::vector<std::string> variables = {};
  int stop = -1;  // a file number: when it can be read, the program is killed; -1: none
  // Called in a process between this one and the program: makes the world in which the program is
  // to run, by private mounts for example. Throws Error. Empty: nothing is to be made.
  std::function<void()> enter = {};
  bool by_own_path = false;  // how the program is started; otherwise by a link
  std::string name = {};     // what messages call the program; empty: its path
  bool places = false;       // also find out where the events of a model happen
  bool counted = false;      // by the processor's counters, where there are some
  Driver driver = {};        // of a server
};

/// One of two versions that are run alike.
struct Version {
  std::filesystem::path program;
  std::function<void()> enter = {};  // as in ProgramRun
  bool by_own_path = false;          // likewise
  std::string name = {};
};

/// The work that two programs do, each in turn.
struct Workload {
  std::vector<std::string> arguments;
  std::filesystem::path folder = {};  // as in ProgramRun
  std::vector<std::string> variables = {};
  int input = 0;  // is read to its end first
  int stop = -1;  // as in ProgramRun
  bool places = false;
  Driver driver = {};
};

}  // namespace respike::measure

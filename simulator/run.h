#pragma once
// Runs programs under an emulator that drives a machine model.

#include <filesystem>
#include <string>
#include <vector>

#include "simulator/machine_models.h"

namespace respike::simulator {

struct Measurement {
  std::string model;
  Events events{};                    // of all processes and threads
  std::vector<Figure> figures;        // from the model
  std::vector<Component> components;  // from the model
  uint64_t cycles = 0;                // the sum of the components
  unsigned processes = 0;
  int exit_status = 0;  // of the program
};

/// A program and what it sees. The program runs with the present environment and with address
/// randomization off. Processes that the program forks, and programs that it executes,
/// count as part of it if they run under the emulator.
struct ProgramRun {
  std::filesystem::path program;
  std::string argv0;
  std::vector<std::string> arguments;
  int input = 0;  // file numbers that the program gets as 0, 1 and 2
  int output = 2;
  int errors = 2;
  std::filesystem::path folder = {};  // where it runs; empty: in the present folder
  int stop = -1;  // a file number: when it can be read, the program is killed; -1: none
};

/// The work that two programs do, each in turn.
struct Workload {
  std::vector<std::string> arguments;
  std::filesystem::path folder = {};  // as in ProgramRun
  int input = 0;                      // is read to its end first
  int stop = -1;                      // as in ProgramRun
};

/// The default model for the machine of a program. Throws Error if the file is no program, or if
/// its machine has no model.
const ModelInfo& model_for(const std::filesystem::path& program);

/// Runs a program; every run starts with empty caches. Throws Error if the emulator or the plugin
/// is missing, if the program is not for the model's machine, if a signal kills the program, if the
/// run was stopped, or if nothing was measured.
Measurement measure(const ModelInfo& model, const ProgramRun& run);

/// Two programs that do the same work, and whether they behaved alike.
struct Comparison {
  Measurement before, after;
  std::string difference;  // one clause; empty: same output, same exit status
};

/// Runs `before`, then `after`, with the same arguments, argv[0] (the path of `before`),
/// environment and input. The outputs of the programs are only compared. Throws Error as measure()
/// does.
Comparison compare(const ModelInfo& model, const std::filesystem::path& before,
                   const std::filesystem::path& after, const Workload& workload);

}  // namespace respike::simulator

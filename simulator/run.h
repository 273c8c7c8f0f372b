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
  std::vector<Figure> figures;        // by the model
  std::vector<Component> components;  // the same
  uint64_t cycles = 0;                // the sum of the components
  unsigned processes = 0;
  int exit_status = 0;  // of the program
};

/// The program and what it sees. It runs in the present folder with the present environment, with
/// address randomization off. Processes that it forks, and programs for the emulator that it
/// executes, count as part of it.
struct ProgramRun {
  std::filesystem::path program;
  std::string argv0;
  std::vector<std::string> arguments;
  int input = 0;  // what it gets as file 0, 1 and 2
  int output = 2;
  int errors = 2;
};

/// The model for a program: the first of those of its machine. Throws Error when it is no program,
/// or when there is none.
const ModelInfo& model_for(const std::filesystem::path& program);

/// Runs a program; every run starts with empty caches. Throws Error when there is no
/// emulator, no plugin, when the program is not one for the model's machine, when a signal kills
/// it, or when nothing was measured.
Measurement measure(const ModelInfo& model, const ProgramRun& run);

/// Two programs that do the same work, one after the other, and whether they behaved alike.
struct Comparison {
  Measurement before, after;
  std::string difference;  // one clause; empty: same output, same exit status
};

/// Runs both with the same arguments, argv[0] (the first one's path), environment and standard
/// input, which is read to its end before. Their outputs go nowhere. Throws Error as measure()
/// does.
Comparison compare(const ModelInfo& model, const std::filesystem::path& before,
                   const std::filesystem::path& after, const std::vector<std::string>& arguments);

}  // namespace respike::simulator

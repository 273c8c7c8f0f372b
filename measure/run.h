#pragma once
// Runs programs under an emulator that drives a machine model.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "measure/program_run.h"
#include "models/machine_models.h"

namespace respike::measure {

/// The events at a place of code: an offset in the file `image`; empty: memory without a file.
struct PlaceEvents {
  std::string image;
  uint64_t offset = 0;
  Events events{};
};

struct Measurement {
  std::string model;
  Events events{};                    // of all processes and threads
  std::vector<Figure> figures;        // from the model
  std::vector<Component> components;  // from the model
  uint64_t cycles = 0;                // the sum of the components
  unsigned processes = 0;
  int exit_status = 0;              // the program's exit status
  std::vector<PlaceEvents> places;  // if requested; their sum is `events`; sorted by image and
                                    // offset
};

/// The name for the host's own processor, instead of a model's name.
inline constexpr std::string_view kNative = "native";

/// The model with the name `wanted`, or, if that is empty, the default model for the machine of a
/// program. Null: the program is to be timed on this host (timing.h), because kNative is wanted, or
/// because `wanted` is empty and the model cannot be driven here; then `why_timed` gets the reason,
/// a clause. Throws Error if the file is not a program, or if the program can be neither measured
/// nor timed.
const ModelInfo* model_for(const std::filesystem::path& program, std::string_view wanted,
                           std::string* why_timed = nullptr);

/// Runs a program with address randomization off; every run starts with empty caches. Throws Error
/// if the emulator or the plugin is missing, if the program is not for the model's machine, if a
/// signal kills the program, if the run was stopped, or if nothing was measured.
Measurement measure_run(const ModelInfo& model, const ProgramRun& run);

/// Two programs that do the same work, and whether they behaved in the same way.
struct Comparison {
  Measurement before, after;
  std::string difference;  // one clause; empty: same output, same exit status
};

/// Runs `before`, then `after`, with the same arguments, argv[0] (the path of `before`),
/// environment and input. The outputs of the programs are compared, not printed. Throws the errors
/// of measure_run().
Comparison compare(const ModelInfo& model, const Version& before, const Version& after,
                   const Workload& workload);

}  // namespace respike::measure

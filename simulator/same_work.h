#pragma once
// Two programs that do the same work: their input, and what they print.

#include <filesystem>
#include <string>

#include "simulator/child.h"
#include "simulator/program_run.h"

namespace respike::simulator {

/// Copies an input up to its end. A terminal counts as empty.
OpenFile copy_of_input(int input);

struct Outputs {
  OpenFile output = temporary_file(), errors = temporary_file();
};

/// A run of `program` on the workload, with its input from the start.
ProgramRun run_of(const std::filesystem::path& program, const std::filesystem::path& argv0,
                  const Workload& workload, const OpenFile& input, const Outputs& outputs);

/// How two runs differ, one clause; empty: same exit status, same output.
std::string difference_of(int status_before, const Outputs& before, int status_after,
                          const Outputs& after);

}  // namespace respike::simulator

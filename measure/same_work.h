#pragma once
// Two programs that do the same work: their input and their output.

#include <filesystem>
#include <string>

#include "measure/child.h"
#include "measure/program_run.h"

namespace respike::measure {

/// Copies an input up to its end. A terminal counts as empty.
OpenFile copy_of_input(int input);

struct Outputs {
  OpenFile output = temporary_file(), errors = temporary_file();
};

/// A run of a version on the workload, with its input from the start.
ProgramRun run_of(const Version& version, const std::filesystem::path& argv0,
                  const Workload& workload, const OpenFile& input, const Outputs& outputs);

/// "exit status 3", "signal 11 (Segmentation fault)". `signal`: 0: none.
std::string text_of_end(int exit_status, int signal);

/// How the ends of two runs differ, one clause; empty: they do not differ.
std::string difference_of_ends(const ProcessEnd& before, const ProcessEnd& after);
/// How the outputs of two runs differ, one clause; empty: they do not differ.
std::string difference_of_outputs(const Outputs& before, const Outputs& after);
/// The difference of ends or, if they are equal, of outputs.
std::string difference_of(const ProcessEnd& end_before, const Outputs& before,
                          const ProcessEnd& end_after, const Outputs& after);

}  // namespace respike::measure

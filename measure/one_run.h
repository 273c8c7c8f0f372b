#pragma once
// One run; compare(), compare_times() and the trials of two versions (trials.h) repeat it.

#include "measure/child.h"
#include "measure/run.h"

namespace respike::measure {

struct MeasuredRun {
  Measurement result;
  ProcessEnd end;  // perhaps by a signal
};

/// Runs a program on a model; the files of its processes are in the folder during the run. Throws
/// the errors of measure_run(), but not for a deadly signal after the first instruction.
MeasuredRun measure_in(const Folder& folder, const ModelInfo& model, const ProgramRun& run);

/// The platform of a program; throws Error unless the host runs the program itself.
const Platform& require_native(const std::filesystem::path& program);

/// Runs a program on this host; the link to it is in the folder. Throws Error when it cannot be
/// started or was stopped.
ProcessEnd run_natively(const Folder& folder, const ProgramRun& run, Addresses addresses);

}  // namespace respike::measure

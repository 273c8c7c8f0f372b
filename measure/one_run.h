#pragma once
// One run, as compare(), compare_times() and the trials of two versions (trials.h) repeat it.

#include "measure/child.h"
#include "measure/run.h"

namespace respike::measure {

struct MeasuredRun {
  Measurement result;
  ProcessEnd end;  // perhaps by a signal
};

/// Runs a program on a model; the files of its processes lie in the folder meanwhile. Throws Error
/// as measure_run() does, but not for a deadly signal after the first instruction.
MeasuredRun measure_in(const Folder& folder, const ModelInfo& model, const ProgramRun& run);

/// The platform of a program; throws Error unless the host runs the program itself.
const Platform& require_native(const std::filesystem::path& program);

/// Runs a program that this host runs itself; the link to it lies in the folder. Throws Error when
/// it cannot be started or was stopped.
ProcessEnd run_natively(const Folder& folder, const ProgramRun& run, Addresses addresses);

}  // namespace respike::measure

#pragma once
// One run of a server under the load of a driver.

#include "measure/child.h"
#include "measure/same_work.h"

namespace respike::measure {

/// Runs the command before, starts the server, runs the driver's command at once beside it, and
/// stops the server by SIGTERM when the driver has ended. The driver has the input and the outputs
/// of `run`, and the server's process number in RESPIKE_SERVER_PID; the server reads nothing, and
/// what it prints is not kept. The costs are those of all processes of the server, from its start
/// to its end. Throws Error when something cannot be started, the command before fails, the server
/// ends and the driver does not know what to do without it, or when the run was stopped.
ProcessEnd run_server(const Folder& folder, const ProgramRun& run, Addresses addresses);

/// Throws Error when the driver has failed, with what it said last, or the server did not stop: of
/// the original, with which everything has to work.
void require_good_driver(const ProgramRun& run, const ProcessEnd& end);

}  // namespace respike::measure

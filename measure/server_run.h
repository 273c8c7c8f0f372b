#pragma once
// One run of a server under the load of a driver.

#include "measure/child.h"
#include "measure/same_work.h"

namespace respike::measure {

/// Runs the command `before`, starts the server and the driver's command at the same time, and
/// stops the server with SIGTERM when the driver has ended. The driver has the input and the
/// outputs of `run`, and the server's process number in RESPIKE_SERVER_PID; the server has no
/// input, and its output is not kept. The costs are those of all processes of the server, from its
/// start to its end. Throws Error when a command cannot be started, when `before` fails, when the
/// server ends and the driver fails without it, or when the run was stopped.
ProcessEnd run_server(const Folder& folder, const ProgramRun& run, Addresses addresses);

/// For the original, with which everything has to work: throws Error when the driver has failed,
/// with its last output, or when the server did not stop.
void require_good_driver(const ProgramRun& run, const ProcessEnd& end);

}  // namespace respike::measure

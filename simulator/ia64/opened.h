#pragma once
// Which libraries a program opens while it runs (dlopen).

#include <string>

#include "simulator/ia64/process.h"

namespace respike::simulator::ia64 {

/// Called when a file of the host has been mapped for execution. With Options::opened, notes
/// libraries of this machine once the program has been entered; failures are not reported.
void note_mapped(const Process& process, const std::string& path);

}  // namespace respike::simulator::ia64

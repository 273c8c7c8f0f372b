#pragma once
// Which libraries a program opens while it runs (dlopen).

#include <string>

#include "simulator/ia64/process.h"

namespace respike::simulator::ia64 {

/// To be called when a file of the host has been mapped to be executed. With Options::opened, a
/// library of this machine is noted if the program has been entered; failures are not told.
void note_mapped(const Process& process, const std::string& path);

}  // namespace respike::simulator::ia64

#pragma once
// Which libraries a program opens while it runs (dlopen).

#include <cstdint>
#include <string>

#include "emulators/ia64/process.h"

namespace respike::emulator::ia64 {

/// Called when a file of the host has been mapped for execution. With Options::opened, notes
/// libraries of this machine once the program has been entered; failures are not reported.
void note_mapped(const Process& process, const std::string& path);

/// Called when the instruction at `from` is about to open a file of the host for reading. With
/// Options::attendant, asks for the version of a library that the dynamic linker opens once the
/// program has been entered, and waits until the version is in the library's place, or the
/// attendant has declined or does not answer.
void ask_for_version(Process& process, uint64_t from, const std::string& path);

}  // namespace respike::emulator::ia64

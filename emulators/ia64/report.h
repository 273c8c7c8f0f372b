#pragma once
// What the emulator prints when a fault ends the program.

#include <string>

#include "emulators/ia64/process.h"

namespace respike::emulator::ia64 {

/// Writes a line to stderr: signal, address, instruction; and all registers, unless Options::brief
/// is set. Writes nothing with Options::quiet.
void report_fault(Thread& thread, const GuestFault& fault);

/// The instruction at an address and slot in the assembler's syntax, or the reason why there is
/// none.
std::string instruction_text(const GuestMemory& memory, uint64_t ip);

}  // namespace respike::emulator::ia64

#pragma once
// What a user hears when a fault ends the program.

#include <string>

#include "simulator/ia64/process.h"

namespace respike::simulator::ia64 {

/// One line to stderr: signal, address, instruction; without Options::brief all registers, too.
/// Nothing with Options::quiet.
void report_fault(Thread& thread, const GuestFault& fault);

/// The instruction at an address and slot in the assembler's syntax, or why it cannot be shown.
std::string instruction_text(const GuestMemory& memory, uint64_t ip);

}  // namespace respike::simulator::ia64

#pragma once
// Signals: from the host's to the guest's handlers and back.

#include <cstdint>

#include "emulators/ia64/process.h"

namespace respike::emulator::ia64 {

/// Installs the handlers that the emulator needs (SIGSEGV, SIGBUS, a signal of its own), and adopts
/// the parent's set of ignored signals.
void start_signals(Process& process);

/// Maps the page with the code to which guest handlers return.
void map_trampoline(Process& process);

/// Delivers the pending signal, if any. `interrupted`: a system call at cpu.ip was given up for the
/// signal; the signal's action decides whether the call ends with EINTR or is executed again.
void deliver_pending(Thread& thread, bool interrupted);

/// Delivers a fault; if the guest has no handler, reports the fault and ends the process.
void deliver_fault(Thread& thread, const GuestFault& fault);

/// rt_sigreturn: sets the registers from the frame at sp.
void return_from_signal(Thread& thread);

// System calls.
int64_t set_action(Thread& thread, int signal, uint64_t action, uint64_t old, uint64_t size);
int64_t set_mask(Thread& thread, int how, uint64_t set, uint64_t old, uint64_t size);
int64_t set_alternate_stack(Thread& thread, uint64_t stack, uint64_t old);
int64_t suspend(Thread& thread, uint64_t set, uint64_t size);
int64_t pending_signals(Thread& thread, uint64_t set, uint64_t size);
int64_t wait_for_signal(Thread& thread, uint64_t set, uint64_t info, uint64_t time, uint64_t size);

/// Sets the host's mask to the guest's mask, without the signals that the emulator needs.
void apply_mask(Thread& thread);
void block_all_signals();

/// The result of safe_system_call if a signal came before the call had an effect.
constexpr int64_t kRestart = 512;

/// A system call of the host that does not begin if a signal is pending. Returns the result or
/// -errno.
int64_t safe_system_call(Thread& thread, long number, uint64_t a = 0, uint64_t b = 0,
                         uint64_t c = 0, uint64_t d = 0, uint64_t e = 0, uint64_t f = 0);

/// Makes a thread return to its loop.
void kick(const Thread& thread);

}  // namespace respike::emulator::ia64

// Runs a thread.
//
// Translated code runs until it leaves to the loop here: a branch has no target yet, an event (such
// as a signal) needs the thread's attention, or an instruction cannot complete. Such an instruction
// jumps back here with a fault (siglongjmp; so does the host's signal handler for faults of
// memory). A break is such an instruction: number 0x100000 is a system call, other numbers are
// signals (linux/arch/ia64/kernel/traps.c, ia64_bad_break).
//
// Example: a program's first `br.call` has no target. It leaves; the loop translates the block at
// cpu.ip, links the branch to the block, and executes the block.

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "emulators/ia64/counts.h"
#include "emulators/ia64/handlers.h"
#include "emulators/ia64/process.h"
#include "emulators/ia64/signals.h"
#include "emulators/ia64/system_calls.h"

namespace respike::emulator::ia64 {

thread_local Thread* current_thread = nullptr;

namespace {

constexpr int kSystemCallBreak = 0x100000;

/// The fault that Linux raises for the number of a break.
GuestFault break_fault(int number, uint64_t ip) {
  GuestFault fault = {SIGTRAP, TRAP_BRKPT, ip, 0, number};
  const auto be = [&](int signal, int code) {
    fault.signal = signal;
    fault.code = code;
  };
  switch (number) {
    case 0:
      be(SIGILL, ILL_ILLOPC);
      break;
    case 1:
      be(SIGFPE, FPE_INTDIV);
      break;
    case 2:
      be(SIGFPE, FPE_INTOVF);
      break;
    case 3:
      be(SIGFPE, FPE_FLTSUB);
      break;
    case 4:
      be(SIGSEGV, SEGV_MAPERR);
      break;
    case 5:
      be(SIGBUS, BUS_ADRALN);
      break;
    case 6:
    case 7:
    case 8:
    case 9:
    case 10:
      be(SIGFPE, FPE_FLTINV);
      break;  // decimal arithmetic
    case 11:
      be(SIGSEGV, SEGV_MAPERR);
      break;  // stack overflow
    default:
      if (number < 0x80000) be(SIGILL, ILL_ILLTRP);
  }
  return fault;
}

/// Moves the thread's position from cpu.op to cpu.ip.
void settle(Thread& thread) {
  Cpu& cpu = thread.cpu;
  if (cpu.op != nullptr) cpu.ip = thread.cache.starting_with(cpu.op)->ip;
  cpu.op = nullptr;
  cpu.link = nullptr;
}

void attend(Thread& thread) {
  __atomic_store_n(&thread.cpu.interrupt, 0, __ATOMIC_SEQ_CST);
  settle(thread);
  if (thread.process.exiting) park(thread);
  thread.phase = Phase::delivering;
  deliver_pending(thread, false);
  thread.phase = Phase::running;
}

const MicroOp* next_operation(Thread& thread) {
  Cpu& cpu = thread.cpu;
  const uint64_t generation = cpu.memory->code_generation();
  if (thread.cache.generation != generation) {
    settle(thread);
    thread.cache.clear(cpu);
    thread.cache.generation = generation;
  }
  if (cpu.op != nullptr) return cpu.op;
  const uint64_t key = cpu.cfm | (cpu.nat_count != 0 ? kNatKey : 0);
  const JumpEntry& entry = cpu.jumps[jump_index(cpu.ip, key)];
  const bool known = entry.ip == cpu.ip && entry.key == key;
  if (!known && cpu.ip == thread.process.entry) thread.process.entered = true;
  const MicroOp* op = known ? entry.op : thread.cache.find(thread, cpu.ip, key);
  if (cpu.link != nullptr && !(key & kNatKey)) BlockCache::link(cpu.link, op);
  cpu.link = nullptr;
  return op;
}

void system_call_at(Thread& thread, uint64_t ip) {
  Cpu& cpu = thread.cpu;
  cpu.ip = ip;
  cpu.op = nullptr;
  thread.phase = Phase::system_call;
  const int64_t result = system_call(thread);
  finish_system_call(thread, result);
}

}  // namespace

void finish_system_call(Thread& thread, int64_t result) {
  Cpu& cpu = thread.cpu;
  thread.phase = Phase::delivering;
  const bool interrupted = result == -kRestart;
  if (!interrupted && result != kNoResult) {
    const bool failed = result < 0 && result > -4096;
    cpu.gr[8] = static_cast<uint64_t>(failed ? -result : result);
    cpu.gr[10] = failed ? ~uint64_t{0} : 0;
    for (unsigned r = 8; r < 12; ++r) set_nat(cpu, r, false);
    cpu.ip = advance_slots(cpu.ip, 1);
  }
  deliver_pending(thread, interrupted);
  thread.phase = Phase::running;
}

/// Delivers the fault that stopped an instruction.
static void handle_fault(Thread& thread) {
  Cpu& cpu = thread.cpu;
  GuestFault fault = thread.fault;
  cpu.link = nullptr;
  if (thread.phase == Phase::system_call) return finish_system_call(thread, -EFAULT);
  if (thread.phase == Phase::delivering) die_by_signal(thread, SIGSEGV);
  const uint64_t ip = thread.cache.origin(cpu.op);
  thread.cache.uncount(cpu.op, cpu.feed);
  cpu.ip = ip;
  cpu.op = nullptr;
  if (thread.process.options.sandbox_steps != 0) {
    thread.ended = true;
    return;
  }
  if (fault.signal == -1) {
    if (fault.immediate == kSystemCallBreak) return system_call_at(thread, ip);
    fault = break_fault(fault.immediate, ip);
  }
  if (fault.address == 0 && fault.signal != SIGSEGV && fault.signal != SIGBUS) fault.address = ip;
  // Unmapped parts of the window are mapped on the host, without permissions.
  if (fault.signal == SIGSEGV && !cpu.memory->find(fault.address)) fault.code = SEGV_MAPERR;
  thread.phase = Phase::delivering;
  deliver_fault(thread, fault);
  thread.phase = Phase::running;
}

void raise_fault(Cpu& cpu, const GuestFault& fault) {
  cpu.thread->fault = fault;
  siglongjmp(cpu.thread->recovery, 1);
}

/// In a sandbox, makes every taken branch return here; returns whether the steps are used up.
static bool leaves_early(Thread& thread) {
  thread.cpu.interrupt = 1;
  return ++thread.steps > thread.process.options.sandbox_steps;
}

int run(Thread& thread) {
  current_thread = &thread;
  thread.in_guest = 1;
  // Faults jump to here, also faults in the delivery of a fault.
  if (sigsetjmp(thread.recovery, 0) != 0) handle_fault(thread);
  while (!thread.ended) {
    if (__atomic_load_n(&thread.cpu.interrupt, __ATOMIC_RELAXED) != 0) attend(thread);
    const MicroOp* op = next_operation(thread);
    if (thread.process.options.sandbox_steps != 0 && leaves_early(thread)) break;
    execute(op, &thread.cpu);
  }
  thread.in_guest = 0;
  return thread.exit_status;
}

Process::Process() {
  memory.on_code_change = [this] {
    std::lock_guard guard(threads_lock);
    for (Thread* thread : threads) __atomic_store_n(&thread->cpu.interrupt, 1, __ATOMIC_SEQ_CST);
  };
}

Thread::Thread(Process& owner) : process(owner) {
  cpu.memory = &owner.memory;
  cpu.thread = this;
  cpu.jumps = jumps.data();
  for (unsigned region = 0; region < 8; ++region) cpu.bias[region] = owner.memory.bias(region);
  cpu.fr[0] = kZero;
  cpu.fr[1] = kOne;
  cache.generation = owner.memory.code_generation();
  if (owner.feed != nullptr) feed = owner.feed->start_thread(owner.memory);
  cpu.feed = feed.get();
  std::lock_guard guard(owner.threads_lock);
  owner.threads.push_back(this);
}

Thread::~Thread() {
  collect_counts(*this);
  std::lock_guard guard(process.threads_lock);
  std::erase(process.threads, this);
}

/// The thread that ends the process waits for `parked` before it writes the counts.
void park(Thread& thread) {
  block_all_signals();
  collect_counts(thread);
  __atomic_store_n(&thread.parked, true, __ATOMIC_SEQ_CST);
  for (;;) pause();
}

void end_process(Thread& thread, int status) {
  finish_counts(thread);
  syscall(SYS_exit_group, status);
  __builtin_unreachable();
}

}  // namespace respike::emulator::ia64

#pragma once
// The guest process and its threads: state shared by the loop, signals and system calls.

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulators/ia64/block_cache.h"
#include "emulators/ia64/cpu.h"
#include "emulators/ia64/guest_memory.h"
#include "emulators/ia64/model_feed.h"

namespace respike::emulator::ia64 {

struct Options {
  std::string sysroot;         ///< absolute, or empty
  std::string counts;          ///< absolute path of the file of counts, or empty
  std::string model;           ///< absolute path of the model's files, without process, or empty
  std::string opened;          ///< absolute path of the folder of notes (opened.h), or empty
  std::string attendant;       ///< with `opened`: socket of the attendant, asked for versions; or
                               ///empty
  bool append_counts = false;  ///< the run has begun writing counts before this program
  bool places = false;         ///< with `model`: also the file and offset of events
  bool brief = false;          ///< one line when a fault kills the program, without the registers
  bool quiet = false;          ///< no output when a fault kills the program
  bool general_only = false;   ///< translate only into general handlers
  uint64_t sandbox_steps =
      0;  ///< not 0: no system calls; a thread ends at a fault or after so many blocks (fuzzing)
  std::string argv0;  ///< the program's argv[0], if not its path
};

constexpr unsigned kSignals = 64;

/// The guest kernel's action of a signal. `handler` is the address of a function descriptor, 0 or
/// 1.
struct GuestAction {
  uint64_t handler = 0, flags = 0, mask = 0;
};

struct GuestStack {
  uint64_t base = 0;
  int32_t flags = SS_DISABLE;
  int32_t reserved = 0;
  uint64_t size = 0;
};

struct Thread;

struct Process {
  Process();

  Options options;
  std::string program;                        ///< absolute path of the running program
  std::string command_line;                   ///< its words, each followed by a zero
  uint64_t entry = 0;                         ///< of the program itself, not of its dynamic linker
  std::atomic<bool> entered = false;          ///< control has reached `entry`
  uint64_t loaded_at = 0;                     ///< when it was loaded, in nanoseconds since 1970
  uint64_t linker_start = 0, linker_end = 0;  ///< place of the dynamic linker, if there is one
  GuestMemory memory;
  uint64_t trampoline = 0;  ///< address of the code that signal handlers return to

  std::mutex asking_lock;
  std::set<std::string> asked;  ///< libraries that the attendant was asked for

  std::mutex actions_lock;
  GuestAction actions[kSignals + 1];

  std::mutex threads_lock;
  std::vector<Thread*> threads;
  bool exiting = false;
  std::unique_ptr<ModelFeed> feed;  ///< of the driven machine model, if any
  std::mutex counts_lock;
  std::unordered_map<uint64_t, int64_t>
      counts;  ///< of threads that have ended, by address and slot
};

/// What the thread is doing, which decides what a fault means.
enum class Phase : uint8_t {
  running,      ///< an instruction: a fault becomes a signal
  system_call,  ///< a system call: a fault becomes EFAULT
  delivering,   ///< delivery of a signal: a fault ends the process
};

struct Thread {
  explicit Thread(Process& process);
  ~Thread();
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  Process& process;
  Cpu cpu;
  BlockCache cache;
  std::unique_ptr<ThreadFeed> feed;
  int tid = 0;
  uint64_t clear_child_tid = 0, robust_list = 0;

  uint64_t mask = 0;  ///< the guest's signal mask, bit 0 is signal 1
  GuestStack alternate_stack;

  // Written by the host's signal handlers for the loop.
  sigjmp_buf recovery;
  volatile sig_atomic_t in_guest = 0;  ///< `recovery` is valid
  Phase phase = Phase::running;
  GuestFault fault;
  volatile sig_atomic_t pending = 0;  ///< a signal that has to be delivered
  siginfo_t pending_info;
  uint64_t held = 0;  ///< SIGSEGV and SIGBUS that were sent although the guest blocks them
  siginfo_t held_info[2];

  bool borrowed = false;  ///< the thread is a child of vfork: everything else is its parent's
  uint64_t steps = 0;     ///< in a sandbox
  bool ended = false;
  int exit_status = 0;
  bool parked = false;
  std::vector<JumpEntry> jumps = std::vector<JumpEntry>(kJumpEntries);
};

/// The thread that runs on this host thread.
extern thread_local Thread* current_thread;

/// Runs the thread until it ends (its exit, not the process's). Returns the thread's exit status.
int run(Thread& thread);

/// Continues after a system call; `result` is the call's result or -errno.
void finish_system_call(Thread& thread, int64_t result);
/// Waits for the end of the process, which another thread causes.
[[noreturn]] void park(Thread& thread);

/// Ends the process like exit_group, after the counts have been written.
[[noreturn]] void end_process(Thread& thread, int status);
/// Ends the process by a signal.
[[noreturn]] void die_by_signal(Thread& thread, int signal);

}  // namespace respike::emulator::ia64

#pragma once
// The guest process and its threads: what the loop, the signals and the system calls share.

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "simulator/ia64/block_cache.h"
#include "simulator/ia64/cpu.h"
#include "simulator/ia64/guest_memory.h"
#include "simulator/ia64/model_feed.h"

namespace respike::simulator::ia64 {

struct Options {
  std::string sysroot;         ///< absolute, or empty
  std::string counts;          ///< absolute path of the file of counts, or empty
  std::string model;           ///< absolute path of the model's files, without process, or empty
  std::string opened;          ///< absolute path of the folder of notes (opened.h), or empty
  bool append_counts = false;  ///< a program of a run that has begun writing counts
  bool brief = false;          ///< one line when a fault kills the program, without the registers
  bool quiet = false;          ///< not even that
  bool general_only = false;   ///< translate nothing into specialised handlers
  uint64_t sandbox_steps =
      0;  ///< not 0: no system calls, a fault or so many blocks end a thread (for fuzzing)
  std::string argv0;  ///< what the program sees as argv[0], if not its path
};

constexpr unsigned kSignals = 64;

/// An action as the guest's kernel keeps it. `handler` is a function descriptor, 0 or 1.
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
  std::string program;                ///< absolute path of the running program
  uint64_t entry = 0;                 ///< of the program itself, behind its dynamic linker
  std::atomic<bool> entered = false;  ///< the dynamic linker has done its work, if there is one
  GuestMemory memory;
  uint64_t trampoline = 0;  ///< code that handlers of signals return to

  std::mutex actions_lock;
  GuestAction actions[kSignals + 1];

  std::mutex threads_lock;
  std::vector<Thread*> threads;
  bool exiting = false;
  std::unique_ptr<ModelFeed> feed;  ///< of the machine model that is driven, if any
  std::mutex counts_lock;
  std::unordered_map<uint64_t, int64_t>
      counts;  ///< of threads that have ended, by address and slot
};

/// What a fault means.
enum class Phase : uint8_t {
  running,      ///< of an instruction: a signal
  system_call,  ///< EFAULT
  delivering,   ///< of a signal's frame: the end
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

  // What the host's handlers leave for the loop.
  sigjmp_buf recovery;
  volatile sig_atomic_t in_guest = 0;  ///< recovery is valid
  Phase phase = Phase::running;
  GuestFault fault;
  volatile sig_atomic_t pending = 0;  ///< a signal that has to be delivered
  siginfo_t pending_info;
  uint64_t held = 0;  ///< of SIGSEGV and SIGBUS: sent, but the guest blocks them
  siginfo_t held_info[2];

  bool borrowed = false;  ///< of a child of vfork: all else belongs to its parent
  uint64_t steps = 0;     ///< in a sandbox
  bool ended = false;
  int exit_status = 0;
  bool parked = false;
  std::vector<JumpEntry> jumps = std::vector<JumpEntry>(kJumpEntries);
};

/// The thread that runs on this host thread.
extern thread_local Thread* current_thread;

/// Runs the thread until it ends (its exit, not the process's). Its status.
int run(Thread& thread);

/// Goes on behind a system call, with its result or -errno.
void finish_system_call(Thread& thread, int64_t result);
/// Waits for the end of the process, which another thread brings about.
[[noreturn]] void park(Thread& thread);

/// Ends the process as exit_group does: counts are written, nothing else is.
[[noreturn]] void end_process(Thread& thread, int status);
/// Ends the process by a signal.
[[noreturn]] void die_by_signal(Thread& thread, int signal);

}  // namespace respike::simulator::ia64

// Guest threads are host threads, guest processes are host processes.
//
// fork is the host's fork with the emulator's locks held, so that the child finds the tables in a
// consistent state. vfork, which posix_spawn uses, shares memory until the child executes a program
// or ends. The host's vfork does the same: the child runs on a Thread of its own inside the call,
// while the parent's host thread waits. Example: a guest's system() is vfork, run_borrower() in the
// child until execve, then the parent continues.
//
// When a thread ends, Linux clears the thread's number in memory and wakes the thread that joins
// it. The host's kernel does this only for one address, which glibc's own threads use. So the
// emulator clears the number of guest threads itself, after the thread has run its last
// instruction.

#include "emulators/ia64/threads.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <new>

#include "emulators/ia64/counts.h"
#include "emulators/ia64/elf_loader.h"
#include "emulators/ia64/memory_access.h"
#include "emulators/ia64/signals.h"
#include "emulators/ia64/system_calls.h"

namespace respike::emulator::ia64 {

namespace {

constexpr size_t kHostStack = 1 << 20;

/// Sets the registers of a child: the parent's registers after its call, with result 0.
void copy_registers(Thread& child, const Thread& parent, const CloneArguments& a) {
  Cpu& to = child.cpu;
  const Cpu& from = parent.cpu;
  std::memcpy(to.gr, from.gr, sizeof to.gr);
  std::memcpy(to.pr, from.pr, sizeof to.pr);
  std::memcpy(to.br, from.br, sizeof to.br);
  std::memcpy(to.fr, from.fr, sizeof to.fr);
  to.cfm = from.cfm;
  to.lc = from.lc;
  to.ec = from.ec;
  to.pfs = from.pfs;
  to.unat = from.unat;
  to.fpsr = from.fpsr;
  to.ccv = from.ccv;
  to.csd = from.csd;
  to.ssd = from.ssd;
  to.rsc = from.rsc;
  to.user_mask = from.user_mask;
  to.ip = advance_slots(from.ip, 1);
  to.gr[8] = to.gr[10] = 0;
  to.stack.start(to, a.stack != 0 ? a.stack : from.stack.bsp(from));
  std::memcpy(to.frame, from.frame, 96 * sizeof(uint64_t));
  if (a.stack != 0) to.gr[12] = a.stack + a.stack_size - 16;
  if (a.flags & CLONE_SETTLS) to.gr[13] = a.tls;
  child.mask = parent.mask;
}

void store_number(Thread& thread, uint64_t address, int number) {
  if (thread.process.memory.allows(address, 4, PROT_WRITE))
    store_guest<int32_t>(thread.cpu, address, number);
}

struct Start {
  Thread* thread;
  CloneArguments arguments;
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t started = PTHREAD_COND_INITIALIZER;
  int number = 0;  ///< of the child, whose Thread may be gone when the parent reads it
};

void* thread_main(void* argument) {
  auto* start = static_cast<Start*>(argument);
  Thread* thread = start->thread;
  thread->tid = static_cast<int>(syscall(SYS_gettid));
  const CloneArguments& a = start->arguments;
  if (a.flags & CLONE_CHILD_CLEARTID) thread->clear_child_tid = a.child_tid;
  // Before the child can end, since its end clears the number again.
  if (a.flags & CLONE_PARENT_SETTID) store_number(*thread, a.parent_tid, thread->tid);
  if (a.flags & CLONE_CHILD_SETTID) store_number(*thread, a.child_tid, thread->tid);
  pthread_mutex_lock(&start->lock);
  start->number = thread->tid;
  pthread_cond_signal(&start->started);
  pthread_mutex_unlock(&start->lock);
  current_thread = thread;  // before the first signal
  apply_mask(*thread);
  run(*thread);
  block_all_signals();
  current_thread = nullptr;
  release_thread(*thread);
  delete thread;
  return nullptr;
}

int64_t start_thread(Thread& parent, const CloneArguments& a) {
  auto* child = new Thread(parent.process);
  copy_registers(*child, parent, a);
  Start start = {child, a};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kHostStack);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  block_all_signals();
  pthread_mutex_lock(&start.lock);
  pthread_t handle;
  const int error = pthread_create(&handle, &attributes, thread_main, &start);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    pthread_mutex_unlock(&start.lock);
    apply_mask(parent);
    delete child;
    return -error;
  }
  while (start.number == 0) pthread_cond_wait(&start.started, &start.lock);
  pthread_mutex_unlock(&start.lock);
  apply_mask(parent);
  return start.number;
}

/// Sets up a forked child, in the only thread of the new process.
void become_child(Thread& thread, const CloneArguments& a) {
  Process& process = thread.process;
  process.threads = {&thread};
  process.exiting = false;
  thread.pending = 0;  // waiting signals belong to the parent
  thread.held = 0;
  thread.tid = static_cast<int>(syscall(SYS_gettid));
  reset_counts(thread);
  if (process.feed != nullptr) process.feed->start_child();
  thread.robust_list = 0;
  thread.clear_child_tid = a.flags & CLONE_CHILD_CLEARTID ? a.child_tid : 0;
  if (a.stack != 0) {
    Cpu& cpu = thread.cpu;
    uint64_t frame[96];
    std::memcpy(frame, cpu.frame, sizeof frame);
    cpu.stack.start(cpu, a.stack);
    std::memcpy(cpu.frame, frame, sizeof frame);
    cpu.gr[12] = a.stack + a.stack_size - 16;
  }
  if (a.flags & CLONE_SETTLS) thread.cpu.gr[13] = a.tls;
  if (a.flags & CLONE_CHILD_SETTID) store_number(thread, a.child_tid, thread.tid);
}

int64_t fork_process(Thread& thread, const CloneArguments& a) {
  Process& process = thread.process;
  block_all_signals();
  std::unique_lock memory(process.memory.lock());
  std::unique_lock actions(process.actions_lock), threads(process.threads_lock),
      counts(process.counts_lock), asking(process.asking_lock);
  std::unique_lock<std::mutex> feed;
  if (process.feed != nullptr) feed = process.feed->lock();
  const pid_t pid = fork();
  const int error = errno;
  if (pid == 0) {
    // Mutexes that store the owner's number cannot be unlocked by the child.
    new (memory.release()) std::recursive_mutex;
  } else {
    memory.unlock();
  }
  actions.unlock();
  threads.unlock();
  counts.unlock();
  asking.unlock();
  if (feed) feed.unlock();
  if (pid == 0)
    become_child(thread, a);
  else if (pid > 0 && (a.flags & CLONE_PARENT_SETTID))
    store_number(thread, a.parent_tid, pid);
  apply_mask(thread);
  return pid < 0 ? -error : pid;
}

/// Runs the child of vfork inside the parent's call. Never returns.
[[noreturn]] void run_borrower(Thread& child) {
  child.tid = static_cast<int>(syscall(SYS_gettid));
  current_thread = &child;
  apply_mask(child);
  end_process(child, run(child));
}

int64_t vfork_process(Thread& thread, const CloneArguments& a) {
  Process& process = thread.process;
  auto child = std::make_unique<Thread>(process);
  copy_registers(*child, thread, a);
  child->borrowed = true;
  GuestAction actions[kSignals + 1];
  std::memcpy(actions, process.actions, sizeof actions);
  block_all_signals();
  const pid_t pid = vfork();
  if (pid == 0) run_borrower(*child);
  const int error = errno;
  current_thread = &thread;
  std::memcpy(process.actions, actions, sizeof actions);
  child->cache.counts().clear();
  child.reset();
  apply_mask(thread);
  return pid < 0 ? -error : pid;
}

/// Marks a futex of a thread that died holding the futex (linux/kernel/futex, handle_futex_death).
void release_futex(Thread& thread, uint64_t address) {
  if (address % 4 != 0 || !thread.process.memory.allows(address, 4, PROT_READ | PROT_WRITE)) return;
  auto* word = reinterpret_cast<uint32_t*>(thread.process.memory.host(address));
  uint32_t seen = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  while ((seen & FUTEX_TID_MASK) == static_cast<uint32_t>(thread.tid)) {
    const uint32_t fresh = (seen & FUTEX_WAITERS) | FUTEX_OWNER_DIED;
    if (!__atomic_compare_exchange_n(word, &seen, fresh, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      continue;
    if (seen & FUTEX_WAITERS) syscall(SYS_futex, word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
    return;
  }
}

void release_robust_list(Thread& thread) {
  const uint64_t head = thread.robust_list;
  const GuestMemory& memory = thread.process.memory;
  const auto read = [&](uint64_t address) {
    uint64_t value = 0;
    if (memory.allows(address, 8, PROT_READ)) std::memcpy(&value, memory.host(address), 8);
    return value;
  };
  if (head == 0) return;
  const uint64_t offset = read(head + 8), pending = read(head + 16) & ~uint64_t{1};
  uint64_t entry = read(head) & ~uint64_t{1};
  for (unsigned i = 0; i < 2048 && entry != 0 && entry != head; ++i) {
    const uint64_t next = read(entry) & ~uint64_t{1};
    if (entry != pending) release_futex(thread, entry + offset);
    entry = next;
  }
  if (pending != 0) release_futex(thread, pending + offset);
}

// --- execve --------------------------------------------------------------------------------------

/// The words of the interpreter in a script's first line.
std::vector<std::string> interpreter_of(const std::string& path) {
  char line[256] = {};
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t size = pread(file, line, sizeof line - 1, 0);
  close(file);
  if (size < 3 || line[0] != '#' || line[1] != '!') return {};
  std::string text(line + 2);
  text.resize(std::min(text.find('\n'), text.size()));
  const auto strip = [](std::string value) {
    const size_t first = value.find_first_not_of(" \t"), last = value.find_last_not_of(" \t");
    return first == std::string::npos ? std::string() : value.substr(first, last - first + 1);
  };
  text = strip(text);
  const size_t gap = text.find_first_of(" \t");
  if (text.empty()) return {};
  if (gap == std::string::npos) return {text};
  return {text.substr(0, gap), strip(text.substr(gap))};
}

std::vector<std::string> emulator_command(const Thread& thread, const std::string& path,
                                          const std::vector<std::string>& arguments) {
  const Options& options = thread.process.options;
  std::vector<std::string> command = {"respike-ia64"};
  if (!options.sysroot.empty()) command.insert(command.end(), {"--sysroot", options.sysroot});
  if (!options.counts.empty())
    command.insert(command.end(), {"--counts", options.counts, "--append-counts"});
  if (!options.model.empty()) command.insert(command.end(), {"--model", options.model});
  if (options.places) command.emplace_back("--places");
  if (options.brief) command.push_back("--brief");
  if (options.quiet) command.push_back("--quiet");
  if (options.general_only) command.push_back("--general-only");
  if (!arguments.empty()) command.insert(command.end(), {"--argv0", arguments[0]});
  command.push_back(path);
  if (!arguments.empty()) command.insert(command.end(), arguments.begin() + 1, arguments.end());
  return command;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (const std::string& text : strings) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace

int64_t clone_thread(Thread& thread, const CloneArguments& a) {
  if (a.flags & CLONE_VM) {
    if (a.flags & CLONE_THREAD) return start_thread(thread, a);
    if (a.flags & CLONE_VFORK) return vfork_process(thread, a);
    return -EINVAL;
  }
  return fork_process(thread, a);
}

void release_thread(Thread& thread) {
  release_robust_list(thread);
  const uint64_t address = thread.clear_child_tid;
  if (address == 0 || !thread.process.memory.allows(address, 4, PROT_WRITE)) return;
  auto* word = reinterpret_cast<int32_t*>(thread.process.memory.host(address));
  __atomic_store_n(word, 0, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void end_first_thread(Thread& thread, int status) {
  block_all_signals();
  for (;;) {
    {
      std::lock_guard guard(thread.process.threads_lock);
      if (thread.process.threads.size() == 1) break;
    }
    if (thread.process.exiting) park(thread);
    usleep(1000);
  }
  end_process(thread, status & 0xff);
}

int64_t execute_program(Thread& thread, const std::string& path,
                        const std::vector<std::string>& arguments,
                        const std::vector<std::string>& environment) {
  const std::string own = "/proc/self/exe";
  std::string host = path == own ? thread.process.program : host_path(thread, path);
  std::vector<std::string> words = arguments;
  if (access(host.c_str(), F_OK) != 0 || access(host.c_str(), X_OK) != 0) return -errno;
  const std::vector<std::string> interpreter = interpreter_of(host);
  if (!interpreter.empty()) {
    const std::string program = host_path(thread, interpreter[0]);
    if (is_guest_program(program)) {
      std::vector<std::string> script = interpreter;
      script.push_back(path);
      if (!words.empty()) script.insert(script.end(), words.begin() + 1, words.end());
      words = script;
      host = program;
    }
  }
  const bool guest = is_guest_program(host);
  const std::vector<std::string> command = guest ? emulator_command(thread, host, words) : words;
  finish_counts(thread);
  execve(guest ? own.c_str() : host.c_str(), pointers(command).data(),
         pointers(environment).data());
  return -errno;
}

}  // namespace respike::emulator::ia64

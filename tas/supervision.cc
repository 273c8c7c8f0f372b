// Runs a program as a child, and hides the parent in between.
//
// Respike notes how an instrumented program ended, so a parent has to wait for it. The program
// stays in this process's group: signals that the terminal or a shell sends to the group reach the
// program directly, and the program may read from the terminal. This process has to pass on only
// signals that were sent to it alone. Signals from the terminal have no process as their sender;
// they went to the whole group. A signal from a process does not show whether it was sent to the
// group or only to this process. So there is a witness: another child in the group, in which all
// signals are blocked. A signal that is also pending in the witness was sent to the group.
//
// Example: `kill -TERM PID` (of this process) is not pending in the witness: it is passed on. After
// `kill -TERM -GROUP` SIGTERM is pending in the witness, and the program has it already.
//
// All signals are blocked in this process and taken one by one with sigwaitinfo: no code runs in a
// handler, and no signal is lost. When the program is stopped, this process stops as well, so that
// the shell gets its prompt. When this process is continued, it continues the program. While this
// process is stopped, it cannot notice that another process continues or kills only the program; so
// a helper watches the program in the meantime. If this process is killed, the kernel kills the
// program, the witness and the helper.

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fcntl.h>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "optimizer/base/error.h"
#include "tas/attendant.h"
#include "tas/session.h"

namespace respike {
namespace {

uint64_t now() {
  struct timespec time {};
  clock_gettime(CLOCK_REALTIME, &time);
  return uint64_t(time.tv_sec) * 1000000000u + uint64_t(time.tv_nsec);
}

/// Blocks all signals as long as the object lives.
class AllBlocked {
 public:
  AllBlocked() {
    sigfillset(&all_);
    sigprocmask(SIG_SETMASK, &all_, &before_);
  }
  ~AllBlocked() { restore(); }
  AllBlocked(const AllBlocked&) = delete;
  AllBlocked& operator=(const AllBlocked&) = delete;
  void restore() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  const sigset_t& all() const { return all_; }

 private:
  sigset_t all_{}, before_{};
};

bool is_stopped(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string line;
  std::getline(file, line);
  const size_t name_end = line.rfind(')');
  return name_end != line.npos && line.size() > name_end + 2 && line[name_end + 2] == 'T';
}

/// Runs in the child: becomes the program. On failure writes the message into the pipe `report`.
[[noreturn]] void be_program(const Launch& launch, const AllBlocked& blocked, pid_t parent,
                             int report) {
  try {
    Launch own = launch;
    own.before_execution = [&] {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(125);
      blocked.restore();
    };
    start(own);
  } catch (const std::exception& error) {
    const std::string text = error.what();
    if (write(report, text.data(), text.size()) < 0) _exit(125);
  }
  _exit(125);
}

/// The signals pending in a process as a whole, bit number - 1.
uint64_t signals_waiting_in(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/status", process));
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("ShdPnd:")) return std::strtoull(&line[7], nullptr, 16);
  return 0;
}

/// The signals pending in this process, bit number - 1.
uint64_t signals_waiting_here() {
  sigset_t waiting;
  sigpending(&waiting);
  uint64_t bits = 0;
  for (int number = 1; number <= 64; ++number)
    if (sigismember(&waiting, number) == 1) bits |= uint64_t{1} << (number - 1);
  return bits;
}

/// Knows which signals were sent to the whole group. To be constructed while all signals are
/// blocked.
class Witness {
 public:
  Witness() : parent_(getpid()), process_(start()) {}
  ~Witness() { end(process_); }
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

  /// Whether a signal that this process has taken was sent to the group. The kernel signals the
  /// youngest process of a group first, so the witness has the signal already. False if there is no
  /// witness, because fork failed.
  bool has(int number) {
    if (process_ < 0) return false;
    const uint64_t bit = uint64_t{1} << (number - 1);
    const bool known = (known_ & bit) != 0;
    known_ &= ~bit;
    if (known) return true;
    if ((signals_waiting_in(process_) & bit) == 0) return false;
    replace();
    return true;
  }

 private:
  /// Replaces the witness, because its pending signals cannot be removed, and would also answer the
  /// next has(). known_ keeps the signals that the old witness has, the new witness lacks, and that
  /// are still pending in this process.
  void replace() {
    const pid_t before = process_;
    process_ = start();
    const uint64_t here = signals_waiting_here();
    known_ |= here & signals_waiting_in(before) & ~signals_waiting_in(process_);
    end(before);
  }
  pid_t start() const {
    const pid_t process = fork();
    if (process != 0) return process;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (getppid() == parent_) pause();
    _exit(0);
  }
  static void end(pid_t process) {
    if (process < 0) return;
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }

  pid_t parent_, process_;
  uint64_t known_ = 0;  // signals sent to the group that are pending here, bit number - 1
};

/// Runs in the helper: continues `stopped`, its parent, when `program` continues or ends. Polls,
/// since the program is not a child of the helper.
[[noreturn]] void watch(pid_t program, pid_t stopped) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  constexpr struct timespec kPause { 0, 20'000'000 };
  while (getppid() == stopped) {
    if (is_stopped(stopped) && !is_stopped(program)) kill(stopped, SIGCONT);
    nanosleep(&kPause, nullptr);
  }
  _exit(0);
}

/// Stops until this process or the program is continued. Returns the helper's process number, to
/// recognize a signal of the helper that is still pending.
pid_t stop_with(pid_t program) {
  const pid_t parent = getpid(), helper = fork();
  if (helper == 0) watch(program, parent);
  raise(SIGSTOP);
  if (helper > 0) {
    kill(helper, SIGKILL);
    while (waitpid(helper, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (is_stopped(program)) kill(program, SIGCONT);
  return helper;
}

/// Passes a signal on to the program unless the program sent it or has it already.
void pass_on(const siginfo_t& signal, pid_t program, pid_t helper, Witness& witness) {
  const bool from_process = signal.si_code <= 0;
  if (!from_process || signal.si_pid == program || signal.si_pid == helper ||
      witness.has(signal.si_signo))
    return;
  if (signal.si_code == SI_QUEUE)
    sigqueue(program, signal.si_signo, signal.si_value);
  else
    kill(program, signal.si_signo);
}

/// Waits until the program has ended; returns its status.
int wait_for(pid_t program, const AllBlocked& blocked, Witness& witness) {
  pid_t helper = -1;
  for (;;) {
    siginfo_t signal{};
    if (sigwaitinfo(&blocked.all(), &signal) < 0) continue;
    if (signal.si_signo != SIGCHLD) {
      pass_on(signal, program, helper, witness);
      continue;
    }
    int status = 0;
    while (waitpid(program, &status, WNOHANG | WUNTRACED) > 0) {
      if (!WIFSTOPPED(status)) return status;
      helper = stop_with(program);
    }
  }
}

std::string read_all(int file) {
  std::string text;
  std::array<char, 512> block;
  for (ssize_t got; (got = read(file, block.data(), block.size())) != 0;) {
    if (got < 0 && errno != EINTR) break;
    if (got > 0) text.append(block.data(), size_t(got));
  }
  return text;
}

}  // namespace

ProgramEnd run_to_end(const Launch& launch) {
  const pid_t parent = getpid();
  const AllBlocked blocked;
  Witness witness;
  std::array<int, 2> report{};  // made after the witness, which would keep the pipe open
  if (pipe2(report.data(), O_CLOEXEC) != 0)
    throw Error(fmt::format("no pipe: {}", std::strerror(errno)));
  ProgramEnd end;
  end.started_after = now();
  struct sigaction children {};  // if SIGCHLD were ignored, the program's status would be lost
  struct sigaction normal {};
  normal.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &normal, &children);
  Launch own = launch;
  Attendant attendant;  // made after the witness, which would keep its socket open
  if (launch.start_attendant) attendant = launch.start_attendant();
  own.attendant = &attendant;
  end.process = fork();
  if (end.process == 0) {
    sigaction(SIGCHLD, &children, nullptr);
    be_program(own, blocked, parent, report[1]);
  }
  const int error = errno;
  attendant = Attendant();  // the program's process has it
  close(report[1]);
  std::string problem;
  if (end.process < 0)
    problem = fmt::format("no process can be made: {}", std::strerror(error));
  else
    problem = read_all(report[0]);  // empty once the program has been executed
  close(report[0]);
  if (end.process > 0) end.status = wait_for(end.process, blocked, witness);
  if (!problem.empty()) throw Error(problem);
  return end;
}

void end_as(const ProgramEnd& end) {
  if (!WIFSIGNALED(end.status)) std::_Exit(WEXITSTATUS(end.status));
  const int number = WTERMSIG(end.status);
  const struct rlimit none {};
  setrlimit(RLIMIT_CORE, &none);  // the program has left its own core
  signal(number, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(number);
  std::_Exit(128 + number);
}

}  // namespace respike

// Watches a program by ptrace(2) until a fault would kill it.
//
// A signal stops the program before it takes effect. If the program handles, ignores or blocks the
// signal, the signal is delivered: such a fault is the program's own business.
//
// Source: ptrace(2), proc(5).

#include "tas/fault_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "optimizer/base/error.h"
#include "registers.h"  // the machine's
#include "tas/attendant.h"
#include "tas/namespaces.h"

namespace respike {
namespace {

/// Whether the process handles or ignores the signal.
bool survives(pid_t process, int signal) {
  std::ifstream file(fmt::format("/proc/{}/status", process));
  uint64_t known = 0;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("SigCgt:") || line.starts_with("SigIgn:"))
      known |= std::stoull(line.substr(7), nullptr, 16);
  return (known >> (signal - 1) & 1) != 0;
}

FaultPlace place_of(pid_t thread, int signal) {
  FaultPlace place;
  place.signal = signal;
  place.registers = registers_of(thread);
  siginfo_t info{};
  if ((signal == SIGSEGV || signal == SIGBUS) &&
      ptrace(PTRACE_GETSIGINFO, thread, nullptr, &info) == 0 && info.si_code > 0)
    place.accessed = reinterpret_cast<uint64_t>(info.si_addr);
  if (place.registers.empty()) return place;
  const uint64_t instruction = place.registers.front().second;
  std::ifstream maps(fmt::format("/proc/{}/maps", thread));
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    uint64_t start = 0, end = 0, offset = 0;
    char dash = 0;
    std::string access, device, inode, path;
    fields >> std::hex >> start >> dash >> end >> access >> offset >> device >> inode >> std::ws;
    std::getline(fields, path);
    if (instruction < start || instruction >= end || !path.starts_with('/')) continue;
    place.file = path;
    place.offset = instruction - start + offset;
  }
  return place;
}

/// Runs in the child: becomes the program, watched by its parent.
[[noreturn]] void be_watched(const Launch& launch, int report) {
  try {
    Launch own = launch;
    own.before_execution = [] {
      if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0)
        throw Error(failure("it cannot be watched"));
      dup2(STDERR_FILENO, STDOUT_FILENO);
    };
    start(own);
  } catch (const std::exception& error) {
    const std::string text = error.what();
    if (write(report, text.data(), text.size()) < 0) _exit(125);
  }
  _exit(125);
}

}  // namespace

std::optional<FaultPlace> run_to_fault(const Launch& launch) {
  std::array<int, 2> report{};
  if (pipe2(report.data(), O_CLOEXEC) != 0) throw Error(failure("no pipe"));
  const pid_t program = fork();
  if (program == 0) be_watched(launch, report[1]);
  close(report[1]);
  std::string problem = program < 0 ? failure("no process can be made") : "";
  std::array<char, 512> block;
  for (ssize_t got; program > 0 && (got = read(report[0], block.data(), block.size())) > 0;)
    problem.append(block.data(), size_t(got));
  close(report[0]);
  std::optional<FaultPlace> place;
  bool begun = false;
  for (int status = 0;;) {
    const pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0 && errno == EINTR) continue;
    if (thread < 0) break;
    if (!WIFSTOPPED(status)) {
      if (thread == program) break;
      continue;
    }
    const int signal = WSTOPSIG(status);
    if (!begun) {  // the program was executed
      begun = true;
      constexpr long kOptions = PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
      ptrace(PTRACE_SETOPTIONS, thread, nullptr, kOptions);
      ptrace(PTRACE_CONT, thread, nullptr, 0);
      continue;
    }
    const bool event = status >> 16 != 0 || signal == SIGSTOP;  // a new thread
    if (!event && is_fault(signal) && !survives(thread, signal)) place = place_of(thread, signal);
    ptrace(PTRACE_CONT, thread, nullptr, event ? 0 : signal);
  }
  if (!problem.empty()) throw Error(problem);
  return place;
}

}  // namespace respike

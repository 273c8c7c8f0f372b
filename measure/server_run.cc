// Runs a server while a driver puts a load on it.
//
// A server does not end on its own, forks workers for which it may or may not wait, and perhaps
// puts itself into the background (a daemon): then the process that was started ends at once. So
// between this process and the server is a helper that adopts all of the server's processes whose
// parents have ended (PR_SET_CHILD_SUBREAPER). The helper prepares the server's surroundings,
// starts the server, and waits for all of its processes. The server's cost is the cost of these
// processes, including the children for which they waited themselves. If a server leaves its
// children to the kernel (SIGCHLD ignored), this sum lacks their time; the kernel's own count of
// the time of all processes (perf_event_open(2)) has it where such counts are allowed, so the
// larger number is used.
//
//     this process -+- helper, in the version's surroundings -- server -- workers
//                   +- driver, in the command's surroundings
//
// The driver is started at the same time as the server, and retries until the server answers. When
// the driver has ended, the helper sends SIGTERM to the server: to the process that was started or,
// if that has ended, to the daemons that it left. Processes that do not stop in time are killed. If
// the server ends on its own, the driver gets the same time to notice this.
//
// Only its parent sees that a worker dies, and may start another one. But the helper watches the
// server's processes all the time (host/process_watch.h), so that a worker's fault counts as a
// difference of the versions, even if the driver got all of its answers.
//
// Example: `respike check lighttpd --driver ./load.sh -- -D -f test.conf` starts lighttpd and
// load.sh, which waits until the port answers and then requests a thousand pages. When load.sh has
// ended, lighttpd gets SIGTERM.

#include "measure/server_run.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/process_watch.h"
#include "optimizer/base/error.h"

namespace respike::measure {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLook = 20;  // milliseconds between two looks at the server's processes

/// Messages from the helper: the server's process number, then how it ended; or an error.
struct Started {
  pid_t server;
};
struct Report {
  ServerEnd end;
  uint64_t microseconds = 0;
  Counts counts;
};
/// Messages to the helper: the driver's process group, which the helper ends if this process is
/// killed; then one byte: the server shall stop.
struct Driving {
  pid_t driver;
};
constexpr char kStop = 's';

/// Two ends of a channel for messages, one channel for each direction: if the reader of a shared
/// channel ended before it has read everything, the other direction's messages would also be lost.
struct Channel {
  Channel() {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
      throw Error(fmt::format("no channel to the server: {}", std::strerror(errno)));
    reader.emplace(ends[0]);
    writer.emplace(ends[1]);
  }
  void send(const void* bytes, size_t size) const {
    static_cast<void>(!::send(writer->number(), bytes, size, MSG_NOSIGNAL));
  }

  std::optional<OpenFile> reader, writer;
};

bool is_fault(int signal) {
  constexpr std::array kFaults = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  return std::ranges::find(kFaults, signal) != kFaults.end();
}

/// Uses a pidfd: the process's number may belong to another process by now.
void send_signal(int handle, int signal) {
  syscall(SYS_pidfd_send_signal, handle, signal, nullptr, 0);
}

/// The last non-empty line of a file.
std::string last_line(int file) {
  std::array<char, 2048> block;
  const off_t size = lseek(file, 0, SEEK_END);
  const off_t from = std::max<off_t>(0, size - off_t(block.size()));
  const ssize_t got = pread(file, block.data(), block.size(), from);
  std::string text(block.data(), size_t(std::max<ssize_t>(got, 0)));
  while (!text.empty() && uint8_t(text.back()) <= ' ') text.pop_back();
  text.erase(0, text.rfind('\n') + 1);
  std::erase_if(text, [](char c) { return uint8_t(c) < ' '; });
  return text.substr(0, std::tuple_size_v<decltype(ServerEnd::said)> - 1);
}

// ---- the helper ----

class Server {
 public:
  Server(const ProgramRun& run, int channel, const DeferredSignals& signals)
      : run_(run),
        channel_(channel),
        asked_(signalfd(-1, &signals.waiting(), SFD_CLOEXEC | SFD_NONBLOCK)) {}

  /// Returns the process.
  pid_t start(const std::filesystem::path& file, const DeferredSignals& signals,
              Addresses addresses);
  Report run_to_end();

 private:
  void look();
  bool reap();
  void note(int status);
  void take_message();
  void ask_to_stop();
  void end_all();
  void kill_all();

  const ProgramRun& run_;
  const int channel_;
  const OpenFile asked_;
  std::optional<Counters> counters_;
  std::optional<Counters> clock_;
  pid_t first_ = 0;  // the process that was started
  pid_t driver_ = 0;
  bool first_runs_ = true;
  bool stops_ = false;  // the server was asked to stop
  std::optional<Clock::time_point> limit_;
  ProcessWatch watch_;
  Report report_;
};

pid_t Server::start(const std::filesystem::path& file, const DeferredSignals& signals,
                    Addresses addresses) {
  static constexpr CountedEvent kTime = {"time", "time", PERF_TYPE_SOFTWARE,
                                         PERF_COUNT_SW_TASK_CLOCK};
  clock_.emplace(std::span(&kTime, 1));
  if (run_.counted) counters_.emplace();
  std::vector<std::string> words = {run_.argv0};
  words.insert(words.end(), run_.arguments.begin(), run_.arguments.end());
  first_ = start_child(file, std::move(words), environment_with(run_.variables), run_, signals,
                       addresses);
  return first_;
}

void Server::note(int status) {
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (report_.end.fault == 0 && is_fault(signal)) report_.end.fault = signal;
}

void Server::look() {
  const pid_t self = getpid();
  for (const auto& end : watch_.look([&](pid_t process) {
         const pid_t parent = parent_of(process);
         return parent == self || watch_.contains(parent);
       }))
    note(end.status);
}

/// Waits for ended processes. False when no process of the server is left.
bool Server::reap() {
  int status = 0;
  rusage usage{};
  pid_t process = 0;
  while ((process = wait4(-1, &status, WNOHANG | __WALL, &usage)) > 0) {
    report_.microseconds += processor_time(usage);
    note(status);
    if (process != first_) continue;
    first_runs_ = false;
    report_.end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    report_.end.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  }
  return process == 0 || errno == EINTR;
}

void Server::take_message() {
  Driving driving{};
  const ssize_t got = recv(channel_, &driving, sizeof driving, 0);
  if (got == ssize_t(sizeof driving))
    driver_ = driving.driver;
  else if (got == ssize_t(sizeof kStop))
    ask_to_stop();
  else
    end_all();
}

/// Ends all processes: this process's parent was killed, or requests it.
void Server::end_all() {
  Driving driving{};
  if (recv(channel_, &driving, sizeof driving, MSG_DONTWAIT) == ssize_t(sizeof driving))
    driver_ = driving.driver;
  if (driver_ > 0) kill(-driver_, SIGKILL);
  driver_ = 0;
  stops_ = true;
  limit_ = Clock::now();
}

void Server::ask_to_stop() {
  driver_ = 0;
  stops_ = true;
  limit_ = Clock::now() + std::chrono::seconds(run_.driver.seconds);
  if (first_runs_) {
    kill(first_, SIGTERM);
    return;
  }
  look();
  for (const auto& [process, handle] : watch_.members())
    if (parent_of(process) == getpid()) send_signal(handle, SIGTERM);
}

void Server::kill_all() {
  look();
  for (const auto& [process, handle] : watch_.members()) send_signal(handle, SIGKILL);
}

Report Server::run_to_end() {
  for (;;) {
    look();
    if (!reap()) break;
    if (limit_ && Clock::now() >= *limit_) {
      report_.end.killed = true;
      kill_all();
    }
    std::array<pollfd, 2> files = {
        {{asked_.number(), POLLIN, 0}, {stops_ ? -1 : channel_, POLLIN, 0}}};
    poll(files.data(), files.size(), kLook);
    signalfd_siginfo info{};
    while (read(asked_.number(), &info, sizeof info) == sizeof info)
      if (info.ssi_signo != SIGCHLD) end_all();
    if (files[1].revents != 0) take_message();
  }
  look();
  report_.end.early = !stops_;
  if (counters_) report_.counts = counters_->read();
  if (const auto nanoseconds = clock_->read().at(0))
    report_.microseconds = std::max(report_.microseconds, *nanoseconds / 1000);
  return report_;
}

[[noreturn]] void be_server_helper(const ProgramRun& run, const std::filesystem::path& file,
                                   const Channel& reports, Channel& control,
                                   const DeferredSignals& signals, Addresses addresses) {
  int status = 1;
  try {
    const pid_t parent = getppid();
    if (run.enter) run.enter();
    prctl(PR_SET_PDEATHSIG, SIGTERM);  // after enter(), which makes the kernel forget it
    if (getppid() != parent) _exit(1);
    signal(SIGCHLD, SIG_DFL);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
      throw Error(fmt::format("daemons cannot be followed here: {}", std::strerror(errno)));
    control.writer.reset();
    Server server(run, control.reader->number(), signals);
    const Started started{server.start(file, signals, addresses)};
    reports.send(&started, sizeof started);
    const Report report = server.run_to_end();
    reports.send(&report, sizeof report);
    status = 0;
  } catch (const std::exception& error) {
    const std::string text = error.what();
    reports.send(text.data(), text.size());
  }
  _exit(status);
}

// ---- this process ----

/// A child of this process; the destructor asks it to end.
class Child {
 public:
  /// `ending`: the signal; `group`: the child leads a process group, which gets it.
  Child(pid_t process, int ending, bool group)
      : process_(process),
        ending_(ending),
        group_(group),
        handle_(int(syscall(SYS_pidfd_open, process, 0))) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (!status_) end();
  }
  /// Becomes readable when the child has ended.
  int handle() const { return status_ ? -1 : handle_.number(); }
  bool runs() const { return !status_; }
  pid_t process() const { return process_; }
  int wait() {
    int status = 0;
    while (!status_ && waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    if (!status_) status_ = status;
    return *status_;
  }
  int end() {
    kill(group_ ? -process_ : process_, ending_);
    return wait();
  }

 private:
  const pid_t process_;
  const int ending_;
  const bool group_;
  const OpenFile handle_;
  std::optional<int> status_;
};

/// Waits until one of the files can be read or the time has come. Throws Error when the run was
/// stopped or interrupted.
class Waiting {
 public:
  Waiting(const ProgramRun& run, const DeferredSignals& signals)
      : stop_(run.stop), asked_(signalfd(-1, &signals.waiting(), SFD_CLOEXEC | SFD_NONBLOCK)) {}

  void wait(int first, int second, std::optional<Clock::time_point> until) const {
    for (;;) {
      int pause = -1;
      if (until) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(*until - Clock::now());
        pause = std::max(0, int(left.count()) + 1);
      }
      std::array<pollfd, 4> files = {{{first, POLLIN, 0},
                                      {second, POLLIN, 0},
                                      {asked_.number(), POLLIN, 0},
                                      {stop_, POLLIN, 0}}};
      const int ready = poll(files.data(), files.size(), pause);
      if (ready < 0 && errno != EINTR)
        throw Error(fmt::format("the program is lost: {}", std::strerror(errno)));
      if (ready <= 0 && !until) continue;
      if (files[3].revents != 0) throw Error("the run was stopped");
      if (files[2].revents != 0) take_signals();
      if (files[0].revents != 0 || files[1].revents != 0 || (until && Clock::now() >= *until))
        return;
    }
  }

 private:
  void take_signals() const {
    signalfd_siginfo info{};
    while (read(asked_.number(), &info, sizeof info) == sizeof info) {
      if (info.ssi_signo == SIGCHLD) continue;
      raise(int(info.ssi_signo));
      throw Error(fmt::format("interrupted by signal {} ({})", info.ssi_signo,
                              strsignal(int(info.ssi_signo))));
    }
  }

  const int stop_;
  const OpenFile asked_;
};

/// Starts a command of the user in a process group of its own, so that all its processes can be
/// ended.
pid_t start_command(const std::string& command, const ProgramRun& run,
                    std::vector<std::string> variables, const DeferredSignals& signals) {
  variables.insert(variables.end(), run.variables.begin(), run.variables.end());
  std::vector<std::string> environment = environment_with(std::move(variables));
  std::vector<char*> pointers;
  for (std::string& each : environment) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  const std::array<const char*, 4> words = {"sh", "-c", command.c_str(), nullptr};
  const pid_t parent = getpid(), process = fork();
  if (process < 0) throw Error(fmt::format("no process can be made: {}", std::strerror(errno)));
  if (process > 0) {
    setpgid(process, process);
    return process;
  }
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  constexpr int kAside = 100;  // one of the numbers may be the source of another
  const std::array<int, 3> sources = {run.input, run.output, run.errors};
  for (int i = 0; i < 3; ++i) dup2(sources[size_t(i)], kAside + i);
  for (int i = 0; i < 3; ++i) {
    dup2(kAside + i, i);
    close(kAside + i);
  }
  if (!run.folder.empty() && chdir(run.folder.c_str()) != 0) _exit(127);
  signal(SIGXFSZ, SIG_DFL);
  signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_SETMASK, &signals.mask_before(), nullptr);
  execve("/bin/sh", const_cast<char* const*>(words.data()), pointers.data());
  _exit(127);
}

std::string text_of_status(int status) {
  return text_of_end(WIFEXITED(status) ? WEXITSTATUS(status) : 0,
                     WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

std::string and_what_it_said(const std::string& line) {
  return line.empty() ? "" : ": " + line;
}

void run_command_before(const ProgramRun& given, const Waiting& waiting,
                        const DeferredSignals& signals) {
  if (given.driver.before.empty()) return;
  const OpenFile nothing = open_nothing(), output = temporary_file();
  ProgramRun run = given;
  run.input = nothing.number();
  run.output = run.errors = output.number();
  Child command(start_command(run.driver.before, run, {}, signals), SIGKILL, true);
  waiting.wait(command.handle(), -1, std::nullopt);
  if (const int status = command.wait(); status != 0)
    throw Error(fmt::format("the command before the run fails by {}{}", text_of_status(status),
                            and_what_it_said(last_line(output.number()))));
}

/// The next message of the helper; its error message is thrown as Error.
template <typename Message>
Message receive(int channel) {
  std::array<char, std::max<size_t>(4096, sizeof(Message))> bytes{};
  const ssize_t got = recv(channel, bytes.data(), bytes.size(), 0);
  if (got != ssize_t(sizeof(Message)))
    throw Error(got > 0 ? std::string(bytes.data(), size_t(got)) : "the server is lost");
  Message message;
  std::memcpy(static_cast<void*>(&message), bytes.data(), sizeof message);
  return message;
}

}  // namespace

ProcessEnd run_server(const Folder& folder, const ProgramRun& run, Addresses addresses) {
  const DeferredSignals& signals = folder.signals();
  const Waiting waiting(run, signals);
  run_command_before(run, waiting, signals);
  const OpenFile nothing = open_nothing(), output = temporary_file();
  ProgramRun of_server = run;
  of_server.input = nothing.number();
  of_server.output = of_server.errors = output.number();
  Channel reports, control;
  const pid_t process = fork();
  if (process < 0) throw Error(fmt::format("no process can be made: {}", std::strerror(errno)));
  if (process == 0)
    be_server_helper(of_server, folder.started_by(run), reports, control, signals, addresses);
  Child helper(process, SIGTERM, false);
  reports.writer.reset();
  waiting.wait(reports.reader->number(), -1, std::nullopt);
  const pid_t server = receive<Started>(reports.reader->number()).server;
  Child driver(start_command(run.driver.command, run,
                             {fmt::format("RESPIKE_SERVER_PID={}", server)}, signals),
               SIGKILL, true);
  const Driving driving{driver.process()};
  control.send(&driving, sizeof driving);
  std::optional<Clock::time_point> until;
  while (driver.runs() || helper.runs()) {
    waiting.wait(driver.handle(), helper.handle(), until);
    pollfd of_driver = {driver.handle(), POLLIN, 0}, of_helper = {helper.handle(), POLLIN, 0};
    if (driver.runs() && poll(&of_driver, 1, 0) > 0) {
      driver.wait();
      control.send(&kStop, 1);
      until.reset();
    }
    if (helper.runs() && poll(&of_helper, 1, 0) > 0) {
      helper.wait();
      if (driver.runs()) until = Clock::now() + std::chrono::seconds(run.driver.seconds);
    }
    if (until && Clock::now() >= *until) driver.end();
  }
  const auto report = receive<Report>(reports.reader->number());
  const int status = driver.wait();
  ProcessEnd end{.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
                 .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                 .microseconds = report.microseconds,
                 .counts = report.counts,
                 .server = report.end};
  const std::string said = last_line(output.number());
  std::ranges::copy(said, end.server.said.begin());
  return end;
}

static std::string what_driver_said(const ProgramRun& run) {
  const std::string line = last_line(run.errors);
  return line.empty() ? last_line(run.output) : line;
}

void require_good_driver(const ProgramRun& run, const ProcessEnd& end) {
  const ServerEnd& server = end.server;
  const bool failed = end.signal != 0 || end.exit_status != 0;
  if (failed && server.early)
    throw Error(fmt::format("the server ends while the driver runs, by {}{}",
                            text_of_end(server.exit_status, server.signal),
                            and_what_it_said(server.said.data())),
                name_of(run));
  if (failed)
    throw Error(fmt::format("the driver fails with the original, by {}{}",
                            text_of_end(end.exit_status, end.signal),
                            and_what_it_said(what_driver_said(run))),
                name_of(run));
  if (server.killed)
    throw Error(fmt::format("the server had not stopped {} seconds after SIGTERM and was killed: "
                            "let the driver stop it, or give it more time (--stop-within)",
                            run.driver.seconds),
                name_of(run));
}

}  // namespace respike::measure

// A program as a child of this process.
//
// Every program is started by the name of one symbolic link, since its name is on its stack. Two
// versions of a program that are started one after the other see the same names.
//
// If the user interrupts a run (SIGINT, SIGTERM and similar signals), no temporary files remain.
// While there are temporary files these signals are blocked, and wait_for_end(), where the command
// spends its time, takes them: it kills the program; then the files are removed; then the signal
// takes effect.
//
// A program that is to run in prepared surroundings (ProgramRun::enter) is the child of a helper, a
// copy of this process that prepares them, starts the program and waits for it in the same way. So
// the preparation is not part of the program's processor time. The helper reports through a pipe.
// SIGTERM asks the helper to end the program; the kernel sends it as well when this process is
// killed.
//
// Temporary files of a command that was killed (SIGKILL) stay until the next command makes a
// folder. A folder is in use while its maker holds a lock on it (flock).
//
// Example: `respike measure -- hello` starts `/tmp/respike-measure-XXXXXX/program`, a link to
// hello.

#include "measure/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string_view>

#include "measure/windows_program.h"
#include "optimizer/base/error.h"
#include "optimizer/base/file_kind.h"
#include "optimizer/image/elf/program_headers.h"
#include "optimizer/image/image.h"

extern char** environ;

namespace respike::measure {
namespace {

namespace fs = std::filesystem;

/// The folder for temporary files that POSIX names.
fs::path temporary_folder() {
  const char* named = std::getenv("TMPDIR");
  return fs::absolute(named != nullptr && *named != '\0' ? named : "/tmp");
}

constexpr std::string_view kTemporaryName = "respike-measure-XXXXXX";

/// A template for mkdtemp and mkostemp, which replace the letters X.
std::string temporary_name() {
  return temporary_folder() / kTemporaryName;
}

OpenFile open_folder(const fs::path& path) {
  return OpenFile(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// Whether the path still leads to the open folder, which another process may have removed.
bool is_at(const OpenFile& folder, const fs::path& path) {
  struct stat here {};
  struct stat there {};
  return fstat(folder.number(), &here) == 0 && lstat(path.c_str(), &there) == 0 &&
         here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

/// Removes the folders of killed commands of this user.
void remove_left_folders() {
  const std::string_view begin = kTemporaryName.substr(0, kTemporaryName.find('X'));
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(temporary_folder(), error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(begin) || name.size() != kTemporaryName.size()) continue;
    const OpenFile folder = open_folder(entry.path());
    struct stat status {};
    if (fstat(folder.number(), &status) == 0 && status.st_uid == geteuid() &&
        flock(folder.number(), LOCK_EX | LOCK_NB) == 0 && is_at(folder, entry.path()))
      fs::remove_all(entry.path(), error);
  }
}

[[noreturn]] void fail_temporary() {
  throw Error(
      fmt::format("nothing temporary can be made in this folder, which TMPDIR may change: {}",
                  std::strerror(errno)),
      temporary_folder());
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// While this object lives, processes start without address randomization.
class FixedAddresses {
 public:
  FixedAddresses() : before_(personality(kQuery)) {
    if (before_ == -1 || personality(static_cast<unsigned long>(before_) | ADDR_NO_RANDOMIZE) == -1)
      throw Error(
          fmt::format("address randomization cannot be switched off: {}", std::strerror(errno)));
  }
  ~FixedAddresses() { personality(static_cast<unsigned long>(before_)); }

 private:
  static constexpr unsigned long kQuery = 0xffffffff;
  int before_;
};

/// Options for a child that gets the file numbers of `run`, and the signal mask from before
/// `signals`.
class SpawnOptions {
 public:
  SpawnOptions(const ProgramRun& run, const DeferredSignals& signals) {
    posix_spawn_file_actions_init(&actions_);
    // In two steps, since one of the numbers may be the source of another.
    const std::array<int, 3> sources = {run.input, run.output, run.errors};
    constexpr int kAside = 100;
    for (int i = 0; i < 3; ++i) posix_spawn_file_actions_adddup2(&actions_, sources[i], kAside + i);
    for (int i = 0; i < 3; ++i) {
      posix_spawn_file_actions_adddup2(&actions_, kAside + i, i);
      posix_spawn_file_actions_addclose(&actions_, kAside + i);
    }
    if (!run.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions_, run.folder.c_str());
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGXFSZ);  // the command ignores it
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigdefault(&attributes_, &ours);
    posix_spawnattr_setsigmask(&attributes_, &signals.mask_before());
    // Servers may end by a signal to their whole process group.
    const int group = run.driver.command.empty() ? 0 : POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setflags(&attributes_,
                             short(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | group));
  }
  SpawnOptions(const SpawnOptions&) = delete;
  SpawnOptions& operator=(const SpawnOptions&) = delete;
  ~SpawnOptions() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

struct Waited {
  int status = 0;  // from wait4()
  rusage usage{};
};

/// Waits for the end of a child. A signal that would end this process, or a readable `stop`, sends
/// `ending` to the child; the signal itself stays blocked until `signals` ends. Waits only for this
/// child: in a process with several threads SIGCHLD may go to another thread.
Waited wait_for_end(pid_t process, int ending, int stop, const DeferredSignals& signals) {
  // The declaration of pidfd_open() in glibc 2.36 lacks extern "C".
  const OpenFile child(int(syscall(SYS_pidfd_open, process, 0)));
  const OpenFile asked(signalfd(-1, &signals.waiting(), SFD_CLOEXEC));
  const auto end = [&] {
    Waited waited;
    if (wait4(process, &waited.status, 0, &waited.usage) != process)
      throw Error(fmt::format("the program is lost: {}", std::strerror(errno)));
    return waited;
  };
  for (;;) {
    std::array<pollfd, 3> files = {
        {{child.number(), POLLIN, 0}, {asked.number(), POLLIN, 0}, {stop, POLLIN, 0}}};
    if (poll(files.data(), files.size(), -1) < 0 && errno != EINTR)
      throw Error(fmt::format("the program is lost: {}", std::strerror(errno)));
    if (files[0].revents != 0) return end();
    if (files[2].revents != 0) {
      kill(process, ending);
      end();
      throw Error("the run was stopped");
    }
    if (files[1].revents == 0) continue;
    signalfd_siginfo info{};
    if (read(asked.number(), &info, sizeof info) != sizeof info || info.ssi_signo == SIGCHLD)
      continue;
    kill(process, ending);
    end();
    raise(int(info.ssi_signo));
    throw Error(fmt::format("interrupted by signal {} ({})", info.ssi_signo,
                            strsignal(int(info.ssi_signo))));
  }
}

/// Starts a program as a child of this process, and waits for its end.
ProcessEnd start_and_wait(const fs::path& file, const std::vector<std::string>& words,
                          const std::vector<std::string>& environment, const ProgramRun& run,
                          int stop, const DeferredSignals& signals, Addresses addresses) {
  std::optional<Counters> counters;
  if (run.counted) counters.emplace();
  const pid_t process = start_child(file, words, environment, run, signals, addresses);
  const auto [status, usage] = wait_for_end(process, SIGKILL, stop, signals);
  ProcessEnd end;
  if (WIFSIGNALED(status))
    end.signal = WTERMSIG(status);
  else
    end.exit_status = WEXITSTATUS(status);
  end.microseconds = processor_time(usage);
  if (counters) end.counts = counters->read();
  return end;
}

// ---- the helper ----

/// In the helper: prepares the surroundings, runs the program, and writes how it ended, or why it
/// did not run.
[[noreturn]] void be_helper(const std::function<void()>& enter,
                            const std::function<ProcessEnd(int stop)>& start, int report) {
  int status = 1;
  try {
    const pid_t parent = getppid();
    enter();
    prctl(PR_SET_PDEATHSIG, SIGTERM);  // after enter(), which makes the kernel forget it
    if (getppid() != parent) _exit(1);
    const ProcessEnd end = start(-1);
    if (write(report, &end, sizeof end) == sizeof end) status = 0;
  } catch (const std::exception& error) {
    const std::string_view text = error.what();
    static_cast<void>(!write(report, text.data(), text.size()));
  }
  _exit(status);
}

ProcessEnd run_in_helper(const ProgramRun& run, const DeferredSignals& signals,
                         const std::function<ProcessEnd(int stop)>& start) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Error(fmt::format("no pipe: {}", std::strerror(errno)));
  const OpenFile result(ends[0]);
  pid_t helper = -1;
  {
    const OpenFile report(ends[1]);
    helper = fork();
    if (helper == 0) be_helper(run.enter, start, report.number());
  }
  if (helper < 0) throw Error(fmt::format("no process can be made: {}", std::strerror(errno)));
  const int status = wait_for_end(helper, SIGTERM, run.stop, signals).status;
  std::array<char, 4096> text{};
  const ssize_t got = read(result.number(), text.data(), text.size());
  ProcessEnd end;
  if (status == 0 && got == ssize_t(sizeof end)) {
    std::memcpy(&end, text.data(), sizeof end);
    return end;
  }
  throw Error(got > 0 ? std::string(text.data(), size_t(got)) : "the program is lost");
}

}  // namespace

OpenFile temporary_file() {
  const DeferredSignals signals;
  std::string name = temporary_name();
  const int number = mkostemp(name.data(), O_CLOEXEC);
  if (number < 0) fail_temporary();
  unlink(name.c_str());
  return OpenFile(number);
}

OpenFile open_nothing() {
  const int number = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (number < 0) throw Error(std::strerror(errno), "/dev/null");
  return OpenFile(number);
}

Folder::Folder() : lock_(-1) {
  remove_left_folders();
  do {  // before it is locked, another command may remove it
    std::string name = temporary_name();
    if (name.find(',') != std::string::npos)
      throw Error("a folder for results must not have a comma in its name", name);
    if (mkdtemp(name.data()) == nullptr) fail_temporary();
    path_ = name;
    lock_ = open_folder(path_);
    flock(lock_.number(), LOCK_EX);
  } while (!is_at(lock_, path_));
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void Folder::prepare(const ProgramRun& run) const {
  fs::remove_all(results());
  fs::create_directory(results());
  fs::remove(link());
  fs::create_symlink(fs::absolute(run.program), link());
}

/// The machine of a program for Windows; nullopt for other programs.
static std::optional<MachineId> require_windows_program(const fs::path& path) {
  const Image image = read_image(path);
  if (image.kind == Image::Kind::shared_library || image.entry == 0)
    throw Error("it is a library: there is no place to start it at", path);
  if (access(path.c_str(), X_OK) != 0) throw Error("it may not be executed", path);
  return image.machine;
}

std::optional<MachineId> require_program(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw Error("there is no such program", path);
  if (!fs::is_regular_file(status)) throw Error("it is not a program", path);
  if (access(path.c_str(), R_OK) != 0) throw Error("it cannot be read", path);
  std::array<uint8_t, elf::kFileStartSize> header{};
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(header.data()), header.size());
  const auto size = static_cast<size_t>(file.gcount());
  const elf::FileStart start = elf::read_file_start(std::span(header).first(size));
  if (is_for_windows(path)) return require_windows_program(path);
  if (kind_of_file(header) == "a script")
    throw Error("it is a script, not an ELF program: measure the program that it starts", path);
  if (!start.is_usable()) throw Error("it is not an ELF program", path);
  if (start.entry == 0) throw Error("it is a library: there is no place to start it at", path);
  if (access(path.c_str(), X_OK) != 0) throw Error("it may not be executed", path);
  return start.machine();
}

void require_program_for(const Platform& platform, const fs::path& path) {
  if (require_program(path) != platform.machine)
    throw Error(fmt::format("it is not a program for {}", platform.name), path);
}

std::vector<std::string> environment_with(std::vector<std::string> variables) {
  const auto name_of = [](std::string_view variable) {
    return variable.substr(0, variable.find('='));
  };
  const size_t given = variables.size();
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (std::none_of(variables.begin(), variables.begin() + ptrdiff_t(given),
                     [&](const auto& other) { return name_of(other) == name_of(*variable); }))
      variables.emplace_back(*variable);
  return variables;
}

fs::path name_of(const ProgramRun& run) {
  return run.name.empty() ? run.program : fs::path(run.name);
}

void require_exit(const ProcessEnd& end, const ProgramRun& run) {
  if (end.signal != 0)
    throw Error(fmt::format("it was killed by signal {} ({})", end.signal, strsignal(end.signal)),
                name_of(run));
}

uint64_t processor_time(const rusage& usage) {
  const auto microseconds = [](const timeval& time) {
    return uint64_t(time.tv_sec) * 1'000'000 + uint64_t(time.tv_usec);
  };
  return microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
}

pid_t start_child(const fs::path& file, std::vector<std::string> words,
                  std::vector<std::string> environment, const ProgramRun& run,
                  const DeferredSignals& signals, Addresses addresses) {
  const SpawnOptions options(run, signals);
  pid_t process = 0;
  std::optional<FixedAddresses> fixed;
  if (addresses == Addresses::fixed) fixed.emplace();
  const int error = posix_spawn(&process, file.c_str(), options.actions(), options.attributes(),
                                pointers_to(words).data(), pointers_to(environment).data());
  if (error != 0) throw Error(std::strerror(error), file);
  return process;
}

ProcessEnd run_child(const fs::path& file, std::vector<std::string> words,
                     std::vector<std::string> environment, const ProgramRun& run,
                     const DeferredSignals& signals, Addresses addresses) {
  const auto start = [&](int stop) {
    return start_and_wait(file, words, environment, run, stop, signals, addresses);
  };
  return run.enter ? run_in_helper(run, signals, start) : start(run.stop);
}

}  // namespace respike::measure

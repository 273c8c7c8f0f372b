// Runs programs under an emulator and reads what the measuring plugin left.
//
// Problem: two runs shall give the same numbers, and two versions of a program shall see the same
// world, so that a difference is the program's. Idea: fix what a run takes from its surroundings.
// Every program is started by the name of one symbolic link, since its name lies on its stack;
// address randomization is off; the emulator's random numbers start from one seed. For QEMU, the
// environment names the plugin and the folder of results, and programs that the program executes
// inherit the environment; an emulator that drives the model itself passes its options on. Not
// fixed: the time, process numbers, getrandom, and how threads interleave.
//
// Example: `respike measure -- hello` runs `/tmp/respike-measure-XXXXXX/program`, a link to hello,
// and adds up the files in `/tmp/respike-measure-XXXXXX/results`.
//
// Results are read from the files of all processes when the first process has ended. A process that
// is still running then counts as far as it got.
//
// A user who interrupts a run (SIGINT, SIGTERM and their like) finds no temporary files. While
// there are temporary files these signals are blocked, and wait_for_end(), where the command spends
// its time, takes them: it kills the program; then the files are removed, and then the signal does
// its work.

#include "simulator/run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/personality.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include "host/platform.h"
#include "optimizer/base/deferred_signals.h"
#include "optimizer/base/error.h"
#include "optimizer/base/file_kind.h"
#include "optimizer/image/elf/program_headers.h"
#include "simulator/measurement_file.h"

extern char** environ;

namespace respike::simulator {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlugin = "respike-measure.so";

/// A file descriptor that is closed in the end.
class OpenFile {
 public:
  explicit OpenFile(int number) : number_(number) {}
  OpenFile(OpenFile&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  ~OpenFile() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

/// The folder for temporary files that POSIX names.
fs::path temporary_folder() {
  const char* named = std::getenv("TMPDIR");
  return fs::absolute(named != nullptr && *named != '\0' ? named : "/tmp");
}

/// A template for mkdtemp and mkostemp, which replace the Xs.
std::string temporary_name() {
  return (temporary_folder() / "respike-measure-XXXXXX").string();
}

[[noreturn]] void fail_temporary() {
  throw Error(
      fmt::format("nothing temporary can be made in this folder, which TMPDIR may change: {}",
                  std::strerror(errno)),
      temporary_folder());
}

/// A fresh folder for the link and the results, removed in the end. Signals are blocked while it
/// exists.
class Folder {
 public:
  Folder() {
    std::string name = temporary_name();
    if (name.find(',') != std::string::npos)
      throw Error("a folder for results must not have a comma in its name", name);
    if (mkdtemp(name.data()) == nullptr) fail_temporary();
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  fs::path link() const { return path_ / "program"; }
  fs::path results() const { return path_ / "results"; }
  const DeferredSignals& signals() const { return signals_; }

  /// Makes the link lead to `program`, and removes older results.
  void prepare(const fs::path& program) const {
    fs::remove_all(results());
    fs::create_directory(results());
    fs::remove(link());
    fs::create_symlink(fs::absolute(program), link());
  }

 private:
  DeferredSignals signals_;  // outlives the files
  fs::path path_;
};

// ---- before the run ----

/// The path of the plugin, which lies beside the command.
fs::path find_plugin() {
  std::error_code error;
  const fs::path command = fs::read_symlink("/proc/self/exe", error);
  if (error)
    throw Error(
        fmt::format("the emulator's plugin cannot be found without it: {}", error.message()),
        "/proc/self/exe");
  const fs::path path = command.parent_path() / kPlugin;
  if (!fs::exists(path)) throw Error("the emulator's plugin is missing", path);
  if (path.string().find(',') != std::string::npos)
    throw Error("the emulator takes no plugin with a comma in its name", path);
  return path;
}

/// The machine of a program; nullopt for a machine that Respike does not know. Throws Error unless
/// `path` is a program that can run.
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

/// The present environment and the variables by which QEMU finds the plugin.
std::vector<std::string> environment_for(const ModelInfo& model, const Folder& folder) {
  const Platform& platform = platform_of(model.machine);
  std::vector<std::string> ours;
  if (platform.model_option.empty())
    ours = {fmt::format("QEMU_LD_PREFIX={}", sysroot_of(platform)), "QEMU_RAND_SEED=1",
            fmt::format("QEMU_PLUGIN={},out={}/r,model={}", find_plugin().string(),
                        folder.results().string(), model.name)};
  const auto is_ours = [&](std::string_view variable) {
    return std::any_of(ours.begin(), ours.end(), [&](const std::string& our) {
      return variable.starts_with(our.substr(0, our.find('=') + 1));
    });
  };
  std::vector<std::string> result = ours;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (!is_ours(*variable)) result.emplace_back(*variable);
  return result;
}

/// The words of the emulator's command line.
std::vector<std::string> words_for(const Platform& platform, const Folder& folder,
                                   const ProgramRun& run) {
  std::vector<std::string> words = {std::string(platform.emulator),
                                    std::string(platform.argv0_option), run.argv0};
  if (!platform.model_option.empty()) {
    words = emulator_words(platform, run.argv0);
    words.insert(words.end(), {std::string(platform.model_option), folder.results() / "r"});
  }
  if (!platform.quiet_option.empty()) words.emplace_back(platform.quiet_option);
  words.push_back(folder.link());
  words.insert(words.end(), run.arguments.begin(), run.arguments.end());
  return words;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// ---- the run ----

/// Address randomization is off for processes that are started while this object lives.
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

/// Options for a child that gets the file numbers of `run`, and the signal mask of before
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
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
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

/// Waits for the end of a child and returns the status of waitpid(). A signal that would end this
/// process, or `stop` when it can be read, kills the child; the signal itself stays blocked until
/// `signals` ends. Waits for this child alone: in a process with several threads SIGCHLD may go to
/// another one.
int wait_for_end(pid_t process, int stop, const DeferredSignals& signals) {
  // The declaration of pidfd_open() in glibc 2.36 lacks extern "C".
  const OpenFile child(int(syscall(SYS_pidfd_open, process, 0)));
  const OpenFile asked(signalfd(-1, &signals.waiting(), SFD_CLOEXEC));
  const auto end = [&] {
    int status = 0;
    if (waitpid(process, &status, 0) != process)
      throw Error(fmt::format("the program is lost: {}", std::strerror(errno)));
    return status;
  };
  for (;;) {
    std::array<pollfd, 3> files = {
        {{child.number(), POLLIN, 0}, {asked.number(), POLLIN, 0}, {stop, POLLIN, 0}}};
    if (poll(files.data(), files.size(), -1) < 0 && errno != EINTR)
      throw Error(fmt::format("the program is lost: {}", std::strerror(errno)));
    if (files[0].revents != 0) return end();
    if (files[2].revents != 0) {
      kill(process, SIGKILL);
      end();
      throw Error("the run was stopped");
    }
    if (files[1].revents == 0) continue;
    signalfd_siginfo info{};
    if (read(asked.number(), &info, sizeof info) != sizeof info || info.ssi_signo == SIGCHLD)
      continue;
    kill(process, SIGKILL);
    end();
    raise(int(info.ssi_signo));
    throw Error(fmt::format("interrupted by signal {} ({})", info.ssi_signo,
                            strsignal(int(info.ssi_signo))));
  }
}

/// Starts the emulator and waits for its end; returns the status of waitpid().
int run_to_end(const fs::path& emulator, std::vector<std::string> arguments,
               std::vector<std::string> environment, const ProgramRun& run,
               const DeferredSignals& signals) {
  const SpawnOptions options(run, signals);
  pid_t process = 0;
  int error = 0;
  {
    const FixedAddresses fixed;
    error = posix_spawn(&process, emulator.c_str(), options.actions(), options.attributes(),
                        pointers_to(arguments).data(), pointers_to(environment).data());
  }
  if (error != 0) throw Error(std::strerror(error), emulator);
  return wait_for_end(process, run.stop, signals);
}

// ---- after the run ----

/// Adds up the files of all processes.
void read_results(const fs::path& folder, Measurement& result) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::array<char, offsetof(MeasurementFile, events)> header;
    uint32_t threads = 0;
    file.read(header.data(), header.size());
    if (!file || std::memcmp(header.data(), MeasurementFile::kMagic, 8) != 0)
      throw Error("the plugin left no complete result", entry.path());
    std::memcpy(&threads, header.data() + offsetof(MeasurementFile, threads), sizeof threads);
    for (uint32_t i = 0; i < threads; ++i) {
      Events events;
      file.read(reinterpret_cast<char*>(&events), sizeof events);
      if (!file) throw Error("the plugin left no complete result", entry.path());
      result.events += events;
    }
    ++result.processes;
  }
}

Measurement measure_in(const Folder& folder, const ModelInfo& info, const ProgramRun& run) {
  const Platform& platform = platform_of(info.machine);
  const fs::path emulator =
      find_emulator(platform, fmt::format("programs for {} are measured under it", platform.name));
  require_program_for(platform, run.program);
  folder.prepare(run.program);
  const int status = run_to_end(emulator, words_for(platform, folder, run),
                                environment_for(info, folder), run, folder.signals());
  if (WIFSIGNALED(status))
    throw Error(fmt::format("it was killed by signal {} ({})", WTERMSIG(status),
                            strsignal(WTERMSIG(status))),
                run.program);
  Measurement result;
  result.model = info.name;
  result.exit_status = WEXITSTATUS(status);
  read_results(folder.results(), result);
  if (result.events.instructions == 0)
    throw Error(fmt::format("{} executed nothing of it, exit status {}", platform.emulator,
                            result.exit_status),
                run.program);
  const std::unique_ptr<MachineModel> model = info.make();
  result.figures = model->figures(result.events);
  result.components = model->components(result.events);
  result.cycles = sum_of(result.components);
  return result;
}

// ---- comparing ----

/// A file without a name.
OpenFile temporary_file() {
  const DeferredSignals signals;
  std::string name = temporary_name();
  const int number = mkostemp(name.data(), O_CLOEXEC);
  if (number < 0) fail_temporary();
  unlink(name.c_str());
  return OpenFile(number);
}

/// Copies an input up to its end. A terminal counts as empty.
OpenFile copy_of_input(int input) {
  OpenFile copy = temporary_file();
  if (isatty(input)) return copy;
  std::array<char, 65536> block;
  for (;;) {
    const ssize_t got = read(input, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EBADF) return copy;  // closed
    if (got < 0) throw Error(fmt::format("standard input: {}", std::strerror(errno)));
    if (got == 0) return copy;
    if (write(copy.number(), block.data(), size_t(got)) != got)
      throw Error(fmt::format("no temporary copy of standard input: {}", std::strerror(errno)));
  }
}

/// The offset of the first byte in which two files differ, if they do.
std::optional<uint64_t> first_difference(int left, int right) {
  std::array<char, 65536> a, b;
  for (uint64_t at = 0;;) {
    const ssize_t in_a = pread(left, a.data(), a.size(), off_t(at));
    const ssize_t in_b = pread(right, b.data(), b.size(), off_t(at));
    if (in_a < 0 || in_b < 0) throw Error(fmt::format("outputs: {}", std::strerror(errno)));
    const size_t common = size_t(std::min(in_a, in_b));
    const auto [end, other] = std::mismatch(a.begin(), a.begin() + common, b.begin());
    if (end != a.begin() + common || in_a != in_b) return at + uint64_t(end - a.begin());
    if (common == 0) return std::nullopt;
    at += common;
  }
}

struct Outputs {
  OpenFile output = temporary_file(), errors = temporary_file();
};

std::string difference_of(const Comparison& c, const Outputs& before, const Outputs& after) {
  if (c.before.exit_status != c.after.exit_status)
    return fmt::format("the exit status is {} instead of {}", c.after.exit_status,
                       c.before.exit_status);
  if (const auto at = first_difference(before.output.number(), after.output.number()))
    return fmt::format("standard output differs from byte {} on", *at);
  if (const auto at = first_difference(before.errors.number(), after.errors.number()))
    return fmt::format("standard error differs from byte {} on", *at);
  return {};
}

}  // namespace

const ModelInfo& model_for(const fs::path& program) {
  const auto machine = require_program(program);
  for (const ModelInfo& info : models())
    if (info.machine == machine) return info;
  throw Error(fmt::format("there is no model of a processor for its machine{}",
                          machine ? fmt::format(", {}", platform_of(*machine).name) : ""),
              program);
}

Measurement measure(const ModelInfo& model, const ProgramRun& run) {
  return measure_in(Folder(), model, run);
}

Comparison compare(const ModelInfo& model, const fs::path& before, const fs::path& after,
                   const Workload& workload) {
  for (const fs::path& program : {before, after})
    require_program_for(platform_of(model.machine), program);
  const OpenFile input = copy_of_input(workload.input);
  const Folder folder;  // signals are blocked from here on
  const auto run = [&](const fs::path& program, const Outputs& outputs) {
    lseek(input.number(), 0, SEEK_SET);
    return measure_in(folder, model,
                      {.program = program,
                       .argv0 = before,
                       .arguments = workload.arguments,
                       .input = input.number(),
                       .output = outputs.output.number(),
                       .errors = outputs.errors.number(),
                       .folder = workload.folder,
                       .stop = workload.stop});
  };
  const Outputs first, second;
  Comparison result;
  result.before = run(before, first);
  result.after = run(after, second);
  result.difference = difference_of(result, first, second);
  return result;
}

}  // namespace respike::simulator

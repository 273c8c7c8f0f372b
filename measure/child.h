#pragma once
// A program as a child of this process: the name by which it is started, its end, its costs.

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include "host/platform.h"
#include "measure/counters.h"
#include "measure/program_run.h"
#include "optimizer/base/deferred_signals.h"

namespace respike::measure {

/// A file descriptor that is closed by the destructor.
class OpenFile {
 public:
  explicit OpenFile(int number) : number_(number) {}
  OpenFile(OpenFile&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  ~OpenFile() {
    if (number_ >= 0) close(number_);
  }
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  int number() const { return number_; }

 private:
  int number_;
};

/// An empty file without a name. Throws Error when it cannot be made.
OpenFile temporary_file();

/// /dev/null. Throws Error when it cannot be opened.
OpenFile open_nothing();

/// A fresh folder for the link and the results, removed by the destructor or, if this process is
/// killed, by the next command that makes such a folder. Signals are blocked while it exists.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path link() const { return path_ / "program"; }
  std::filesystem::path results() const { return path_ / "results"; }
  const DeferredSignals& signals() const { return signals_; }

  /// Makes the link lead to the program, and removes older results.
  void prepare(const ProgramRun& run) const;
  /// The path by which the program is started: the link, or the program's own path.
  std::filesystem::path started_by(const ProgramRun& run) const {
    return run.by_own_path ? std::filesystem::absolute(run.program) : link();
  }

 private:
  DeferredSignals signals_;  // outlives the files
  std::filesystem::path path_;
  OpenFile lock_;  // while it is held, no command takes the folder for that of a killed command
};

/// The machine of a program; nullopt for a machine that Respike does not know. Throws Error unless
/// `path` is a program that can run.
std::optional<MachineId> require_program(const std::filesystem::path& path);
void require_program_for(const Platform& platform, const std::filesystem::path& path);

/// `variables`, NAME=VALUE, and the other variables of this process.
std::vector<std::string> environment_with(std::vector<std::string> variables);

enum class Addresses : uint8_t { fixed, random };

/// How a server ended.
struct ServerEnd {
  int exit_status = 0, signal = 0;  // of the process that was started
  int fault = 0;                    // the first fault signal that killed a process of the server;
                                    // 0: none
  bool early = false;               // the server ended before it was asked to
  bool killed = false;              // the server did not stop in time
  std::array<char, 200> said{};     // the server's last line of output, with a zero at its end
};

struct ProcessEnd {
  int exit_status = 0;
  int signal = 0;             // signal that killed it; 0: none
  uint64_t microseconds = 0;  // processor time, user and system, with the children it waited for
  Counts counts;              // the processor's counts, if ProgramRun::counted
  ServerEnd server;           // with a driver: status and signal above are the driver's, and the
                              // costs are the server's
};

/// User and system, in microseconds.
uint64_t processor_time(const rusage& usage);

/// The name of a run's program in messages.
std::filesystem::path name_of(const ProgramRun& run);

/// Throws Error when a signal killed the program.
void require_exit(const ProcessEnd& end, const ProgramRun& run);

/// Starts `file` with `words` as its arguments as a child of this process, and returns the child.
/// Throws Error when the child cannot be started.
pid_t start_child(const std::filesystem::path& file, std::vector<std::string> words,
                  std::vector<std::string> environment, const ProgramRun& run,
                  const DeferredSignals& signals, Addresses addresses);

/// Starts `file` with `words` as its arguments, in the surroundings that `run.enter` prepares, and
/// waits for its end. Throws Error when it cannot be started, or when it was stopped
/// (ProgramRun::stop).
ProcessEnd run_child(const std::filesystem::path& file, std::vector<std::string> words,
                     std::vector<std::string> environment, const ProgramRun& run,
                     const DeferredSignals& signals, Addresses addresses);

}  // namespace respike::measure

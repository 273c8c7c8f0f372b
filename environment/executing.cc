// Any command, below which the programs of applications run in the modes of their applications.
//
// Example: `respike exec gzip -- make check`. The makefile knows nothing of Respike, but whenever
// some process below it executes gzip, gzip's version of the application's mode runs and is
// counted. This process becomes the command, so nobody is between the command and who started it.
//
// A test-suite may start a program so often that counter files fill the disk. So a helper, which is
// no child of the command, merges them whenever a hundred wait, until the command ends. What is
// left then, the next command of Respike merges.

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "environment/describing.h"
#include "environment/environment.h"
#include "environment/waiting_files.h"
#include "optimizer/base/error.h"
#include "tas/interception.h"
#include "tas/opened.h"
#include "tas/substitutes.h"

namespace respike {

namespace fs = std::filesystem;

namespace {

bool is_foreign(const fs::path& program) {
  return !read_program(program).platform->native();
}

constexpr int kSecond = 1000;  // milliseconds: how often the helper looks for counter files

/// Leaves all that belongs to the command: its session and terminal, its folder and open files,
/// except for `kept`. Returns the number that `kept` has then.
int leave_all_but(int kept) {
  constexpr int kNumber = 3;
  setsid();
  if (chdir("/") != 0) _exit(1);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int file = 0; file < kNumber; ++file) dup2(nothing, file);
  if (kept != kNumber) dup2(kept, kNumber);
  close_range(kNumber + 1, ~0u, 0);
  return kNumber;
}

/// Calls `respike collect`.
void collect(const fs::path& database) {
  const pid_t process = fork();
  if (process == 0) {
    execl("/proc/self/exe", "respike", "--db", database.c_str(), "collect", nullptr);
    _exit(1);
  }
  while (process > 0 && waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
}

/// Has counter files merged until the process of the file `command` ends. Does not touch the
/// database itself: what SQLite knows of it belongs to the process that opened it.
[[noreturn]] void merge_until_end(const fs::path& database, const fs::path& spool, int command) {
  struct pollfd process {
    leave_all_but(command), POLLIN, 0
  };
  while (poll(&process, 1, kSecond) == 0)
    if (many_files_wait(spool)) collect(database);
  _exit(0);
}

}  // namespace

/// Starts the helper. Its parent is gone at once, so that the command finds no child that it has
/// not started, and no SIGCHLD.
void Environment::start_merging() const {
  const fs::path database = fs::absolute(database_.path()), spool = fs::absolute(database_.spool());
  const int own = int(syscall(SYS_pidfd_open, getpid(), 0));
  if (own < 0) return;
  const long parent = syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr);
  if (parent == 0) {
    if (fork() == 0) merge_until_end(database, spool, own);
    _exit(0);
  }
  if (parent > 0) waitpid(pid_t(parent), nullptr, __WCLONE);
  close(own);
}

/// The programs of an application and what is to be seen in the place of their images.
std::vector<InterceptedProgram> Environment::interceptions(const ApplicationRow& application,
                                                           const RunOptions& options) {
  std::vector<InterceptedProgram> programs;
  if (application.mode == Mode::original) return programs;
  require_one_machine(application);
  // The records come first: when a file is replaced while this goes on, they do not fit it.
  std::map<fs::path, std::string> records;
  std::vector<fs::path> mains;
  for (const ApplicationImage& used : database_.images_of(application.id)) {
    std::error_code error;
    const fs::path path = fs::canonical(used.image.path, error);
    if (error) continue;
    if (used.role == Role::main && used.image.program) mains.push_back(path);
    if (used.role == Role::main || used.image.optimizable) records[path] = file_record(path);
  }
  const std::vector<Substitution> all = substitutions(application, options);
  if (application.mode == Mode::optimized)
    if (const auto fault = active_fault(application, all)) {
      if (options.warn) options.warn(guard_text(application.name, *fault));
      return programs;
    }
  for (const fs::path& main : mains) {
    const ProgramImage program = read_program(main);
    InterceptedProgram intercepted{main, records[main], int(application.id), {}, {}};
    for (const Substitution& s : usable_substitutions(program, all, options.warn))
      if (s.original == main || std::ranges::find(mains, s.original) == mains.end())
        intercepted.substitutions.push_back({s, records[s.original]});
    if (intercepted.substitutions.empty()) continue;
    if (application.mode == Mode::instrumented && program.view.dynamic)
      intercepted.notes = prepare_notes(notes_folder(application), *program.platform);
    programs.push_back(std::move(intercepted));
  }
  return programs;
}

void Environment::exec(const std::vector<std::string>& names, const RunOptions& options) {
  std::vector<InterceptedProgram> programs;
  bool counts = false, foreign = false;
  for (const std::string& name : std::set(names.begin(), names.end())) {
    const ApplicationRow application = find(name);
    counts = counts || application.mode == Mode::instrumented;
    foreign = foreign || is_foreign(database_.image(application.main_image).path);
    for (InterceptedProgram& program : interceptions(application, options)) {
      const bool known = std::ranges::any_of(
          programs, [&](const InterceptedProgram& other) { return other.path == program.path; });
      if (known)
        throw Error(fmt::format("it is a program of two of the applications that are named"),
                    program.path);
      programs.push_back(std::move(program));
    }
  }
  if (counts) {
    merge_if_many();
    start_merging();
  }
  // Foreign programs, also originals, need rules to be executed at all.
  if (!programs.empty() || foreign) Interception(std::move(programs), rules_folder()).enter();
  Interception::become(options.arguments);
}

}  // namespace respike

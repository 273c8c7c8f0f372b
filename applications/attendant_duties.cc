// The duties of the attendant of programs (tas/attendant.h): it merges counter files, makes
// versions of libraries that programs open, notes how programs end, and reports how many runs a
// command counted.
//
// A test suite may start a program so often that counter files fill the disk. So the attendant of a
// command merges the files whenever a hundred wait. The next command of Respike merges the files
// that are left at the end.
//
// The attendant does not touch the database itself: SQLite's state of an open database belongs to
// the process that opened it. It calls `respike attend` for each piece of work. Example: a program
// opens /usr/lib/app/plugin.so, which Respike has never seen. `respike --db X.db attend opened 3
// /usr/lib/app/plugin.so TIME` registers and instruments the library, if it is older than TIME, and
// prints the path of the library and the path of its version; the attendant mounts the version.
//
// Messages of such a command for the user wait in the file `messages`, which the next command
// prints.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "applications/environment.h"
#include "applications/file_lock.h"
#include "applications/image_content.h"
#include "applications/waiting_files.h"
#include "host/platform.h"
#include "optimizer/base/error.h"
#include "tas/processes.h"
#include "tas/substitutes.h"

namespace respike {

namespace fs = std::filesystem;

namespace {

constexpr const char* kMessages = "messages";
constexpr const char* kNoting = "noting";  // folder of the files that attendants lock

/// Calls `respike --db DATABASE WORDS...` and returns its output. `waits`: also waits for its end.
std::string call_respike(const fs::path& database, std::vector<std::string> words,
                         bool waits = true) {
  words.insert(words.begin(), {"respike", "--db", database.string()});
  std::array<int, 2> output{};
  if (pipe2(output.data(), O_CLOEXEC) != 0) return "";
  const pid_t process = fork();
  if (process == 0) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    dup2(output[1], STDOUT_FILENO);
    execv("/proc/self/exe", pointers.data());
    _exit(1);
  }
  close(output[1]);
  std::string text;
  std::array<char, 4096> block;
  for (ssize_t got; process > 0 && (got = read(output[0], block.data(), block.size())) != 0;) {
    if (got < 0 && errno != EINTR) break;
    if (got > 0) text.append(block.data(), size_t(got));
  }
  close(output[0]);
  while (waits && process > 0 && waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

/// The name of the file that the attendant of a command locks: the number of the command's process,
/// the time when the process started, and the namespace in which the number is valid.
std::string noting_name(pid_t command) {
  return fmt::format("{}-{}-{}", command, start_ticks(command), inode_of("/proc/self/ns/pid"));
}

/// Whether the command that a file is named for has ended; false for commands of other namespaces.
bool has_ended(const std::string& name) {
  const pid_t command = std::atoi(name.c_str());
  const bool same_space = name.ends_with(fmt::format("-{}", inode_of("/proc/self/ns/pid")));
  return same_space && name != noting_name(command);
}

/// Locks the file of a command's attendant; -1: the lock is not possible.
int lock_noting(const fs::path& folder, pid_t command) {
  std::error_code error;
  fs::create_directory(folder, error);
  const std::string path = folder / noting_name(command);
  constexpr int kAttempts = 100;
  for (int i = 0; i < kAttempts; ++i) {
    const int file = open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
    struct stat status {};
    if (file < 0) return -1;
    // A process that saw the file unlocked for a moment may have removed it: then try again.
    if (flock(file, LOCK_SH) == 0 && fstat(file, &status) == 0 && status.st_nlink > 0) return file;
    close(file);
  }
  return -1;
}

/// The name that the audit module and the Itanium emulator give the note about a path: a hash.
std::string note_name(const fs::path& path) {
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const char byte : path.native()) hash = (hash ^ uint8_t(byte)) * 0x100000001b3u;
  return fmt::format("{:016x}", hash);
}

/// Notes in the folder that a library is left alone as long as it has this size and time, so that
/// programs do not ask for it.
void note_left(const fs::path& folder, const fs::path& asked, const fs::path& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) return;
  const uint64_t time =
      uint64_t(status.st_mtim.tv_sec) * 1000000000u + uint64_t(status.st_mtim.tv_nsec);
  std::error_code error;
  const fs::path note = folder / (note_name(asked) + ".left");
  fs::remove(note, error);
  fs::create_symlink(fmt::format("{:016x}-{:016x}", uint64_t(status.st_size), time), note, error);
}

/// The counters that an instrumented image was made with, as its options say.
Counters counters_of(const std::string& options) {
  constexpr std::string_view kOption = "--counters ";
  const size_t at = options.find(kOption);
  if (at == options.npos) return Counters::shared;
  const std::string rest = options.substr(at + kOption.size());
  return counters_named(rest.substr(0, rest.find(' '))).value_or(Counters::shared);
}

}  // namespace

/// Starts an attendant for this process. `merges`: the attendant also merges counter files.
/// `report`: ends the command's output (Duties::report).
Attendant Environment::start_attendant(bool merges, std::function<void()> report,
                                       std::map<FileKey, AnnouncedEnd> guarded) const {
  const fs::path database = fs::absolute(database_.path()), spool = fs::absolute(database_.spool()),
                 files = fs::absolute(database_.files());
  Duties duties;
  if (merges) duties.is_due = [=] { return many_files_wait(spool); };
  duties.work = [=] { call_respike(database, {"attend", "merge"}); };
  duties.open = [=](int application, const fs::path& library,
                    uint64_t before) -> std::optional<Substitution> {
    const std::string paths = call_respike(
        database,
        {"attend", "opened", std::to_string(application), library, std::to_string(before)}, false);
    const size_t end = paths.find('\0');
    if (end == paths.npos) return std::nullopt;
    return Substitution{paths.substr(0, end), paths.c_str() + end + 1};
  };
  duties.counted = [=](const ProgramEnd& end) { note_end(files, end); };
  duties.noting = [=](pid_t command) { return lock_noting(files / kNoting, command); };
  duties.report = std::move(report);
  duties.guarded = std::move(guarded);
  duties.fault = [=](const AnnouncedEnd& end) {
    call_respike(database, {"attend", "fault", std::to_string(end.application), end.images,
                            std::to_string(WTERMSIG(end.end.status)),
                            end.original ? "original" : "optimized", end.program});
  };
  return Attendant(duties);
}

/// Lets `respike attend counted` print what was counted from now on.
std::function<void()> Environment::report_of_counted(const std::vector<Id>& applications) const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  std::vector<std::string> words = {"attend", "counted", std::to_string(nanoseconds)};
  for (const Id application : applications) words.push_back(std::to_string(application));
  return [database = fs::absolute(database_.path()), words] { call_respike(database, words); };
}

std::optional<ApplicationRow> Environment::application_of(Id number) const {
  for (const ApplicationRow& application : database_.applications())
    if (application.id == number) return application;
  return std::nullopt;
}

std::optional<Substitution> Environment::version_of_opened(Id number, const fs::path& library,
                                                           uint64_t before) {
  const auto application = application_of(number);
  if (!application || application->mode != Mode::instrumented || why_distrusted())
    return std::nullopt;
  const ProgramImage program = read_program(database_.image(application->main_image).path);
  const fs::path file = host_path(library, sysroot_of(*program.platform));
  std::error_code error;
  const fs::path path = fs::canonical(file, error);
  struct stat status {};
  const auto nanoseconds = [](const struct timespec& time) {
    return uint64_t(time.tv_sec) * 1000000000u + uint64_t(time.tv_nsec);
  };
  if (error || stat(path.c_str(), &status) != 0 || nanoseconds(status.st_mtim) >= before ||
      nanoseconds(status.st_ctim) >= before)
    return std::nullopt;
  try {
    // Under another name the dynamic linker would find another inode, and load the library twice.
    if (status.st_nlink > 1) {
      note_left(notes_folder(*application), library, path);
      return std::nullopt;
    }
    if (const auto version = version_or_reason(*application, *program.platform, path)) {
      const auto usable = usable_substitutions(program, {*version}, {});
      return usable.empty() ? std::nullopt : std::optional(usable.front());
    }
    note_left(notes_folder(*application), library, path);
  } catch (const std::exception& failure) {  // may be temporary: the next program asks again
    leave_message(
        fmt::format("{} opened {} as it is: {}", application->name, path.string(), failure.what()));
  }
  return std::nullopt;
}

/// The instrumented version of a file that a program is about to open; nullopt: the file has no
/// such version and cannot get one.
std::optional<Substitution> Environment::version_or_reason(const ApplicationRow& application,
                                                           const Platform& platform,
                                                           const fs::path& path) {
  if (auto ready = instrumented_version(application, path)) return ready;
  // Files that the dynamic linker only inspects: libraries of other machines, linker scripts.
  try {
    if (!is_for(read_loader_view(path).machine, platform)) return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
  // One process at a time: many may open the library at once, but it is made once.
  const FileLock alone(database_.files() / "opening", FileLock::Wait::yes);
  if (auto ready = instrumented_version(application, path)) return ready;
  std::optional<ImageRow> known;
  Counters counters = Counters::shared;
  for (const ApplicationImage& used : database_.images_of(application.id)) {
    if (used.image.path == path) {
      // A library that is loaded already must stay the same file for the dynamic linker.
      if (used.role != Role::opened) return std::nullopt;
      known = used.image;
    }
    if (used.role != Role::main) continue;
    const auto build = known_build(used.image);
    const auto made =
        build ? database_.newest_derived(build->id, DerivedKind::instrumented) : std::nullopt;
    if (made) counters = counters_of(made->options);
  }
  ImageRow image = known ? *known : database_.image(add_opened(application, path));
  const auto build = refresh(image);
  if (!build) {
    // For a library of the system no message: the user expects no version of it and cannot change
    // it.
    if (!is_system_library(image))
      leave_message(fmt::format("{} loaded {}: it belongs to the application now, but {}",
                                application.name, path.string(), image.reason));
    return std::nullopt;
  }
  ImageOutcome outcome;
  instrument_image(image, *build, counters, outcome);
  if (!known)
    leave_message(
        fmt::format("{} loaded {}: it belongs to the application now, and counts from "
                    "this run on",
                    application.name, path.string()));
  opened_ = true;
  return instrumented_version(application, path);
}

/// The existing version of an opened library, if it fits the file.
std::optional<Substitution> Environment::instrumented_version(const ApplicationRow& application,
                                                              const fs::path& path) {
  for (const ApplicationImage& used : database_.images_of(application.id)) {
    if (used.image.path != path || used.role != Role::opened) continue;
    const auto build = known_build(used.image);
    const auto made =
        build ? database_.newest_derived(build->id, DerivedKind::instrumented) : std::nullopt;
    if (made && database_.store().contains(made->content) && database_.is_whole(*made))
      return Substitution{path, database_.store().path(made->content)};
  }
  return std::nullopt;
}

void Environment::tell_of_opened() {
  if (opened_) tell_sessions();
}

/// Waits until the attendants of ended commands have written their last notes.
void Environment::wait_for_notes() const {
  std::error_code error;
  for (const auto& file : fs::directory_iterator(database_.files() / kNoting, error)) {
    const FileLock free(file.path(), FileLock::Wait::no);
    if (free.held())
      fs::remove(file.path(), error);
    else if (has_ended(file.path().filename()))
      static_cast<void>(FileLock(file.path(), FileLock::Wait::yes));
  }
}

/// Keeps a sentence for the user until the next command.
void Environment::leave_message(const std::string& text) const {
  std::string line;
  for (const char byte : text) line += byte == '\n' ? std::string("\\n") : std::string(1, byte);
  line += '\n';
  const fs::path path = database_.files() / kMessages;
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = write(file, line.data(), line.size());
  close(file);
}

/// Passes the messages of the attendant's commands to the user.
void Environment::take_messages() {
  const fs::path path = database_.files() / kMessages;
  const fs::path taken = fmt::format("{}.{}", path.string(), getpid());
  if (rename(path.c_str(), taken.c_str()) != 0) return;
  std::ifstream file(taken);
  for (std::string line; std::getline(file, line);) notes_.push_back(line);
  unlink(taken.c_str());
}

}  // namespace respike

// Running an application in its mode, and collecting the results of its runs.
//
// A start must be fast. So `run` reads a file, also a file of the image store, only when its size,
// times or inode changed, and leaves new contents to other commands: an image that changed, or
// whose version is damaged, runs unchanged. `run` reads the first bytes of every image to check its
// machine. It also leaves merging to other commands until 100 counter files wait, since runs alone
// must not fill the disk; if many runs start at the same time, only one of them merges.
//
// In the modes original and optimized this process becomes the program, unless the guard watches
// (guarding.cc). In mode instrumented the program is a child of this process, which records how the
// program ended in a symbolic link, made in one step. Example: `ended/4711.1700000000123456789 ->
// exited 0` (process number and nanoseconds). The next command that collects takes the note into
// the database.

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>

#include "applications/descriptions.h"
#include "applications/environment.h"
#include "applications/fault_guard.h"
#include "applications/file_lock.h"
#include "applications/image_content.h"
#include "applications/waiting_files.h"
#include "optimizer/base/error.h"
#include "optimizer/base/files.h"
#include "tas/opened.h"
#include "tas/windows_versions.h"

namespace respike {

namespace fs = std::filesystem;

namespace {

constexpr const char* kEnds = "ended";           // folder of the notes
constexpr const char* kAttendant = "attendant";  // folder of its socket
constexpr int kManyFiles = 100;                  // counter files that are merged before more come

/// Whether this process is in a user namespace that does not know all users: the owners of their
/// files appear as user `nobody`.
bool users_are_hidden() {
  std::ifstream map("/proc/self/uid_map");
  uint64_t known = 0;
  for (uint64_t inside, outside, count; map >> inside >> outside >> count;) known += count;
  constexpr uint64_t kAll = ~uint32_t{0};
  return known < kAll;
}

std::string describe(int status) {
  return WIFSIGNALED(status) ? fmt::format("killed by {}", WTERMSIG(status))
                             : fmt::format("exited {}", WEXITSTATUS(status));
}

}  // namespace

/// Files that were set aside are not counted.
bool many_files_wait(const fs::path& spool) {
  int files = 0;
  std::error_code error;
  for (const auto& folder : fs::directory_iterator(spool, error)) {
    if (!parse_content_hash(folder.path().filename().native())) continue;
    for (const auto& file : fs::directory_iterator(folder.path(), error))
      if (file.path().extension() == ".counts" && ++files >= kManyFiles) return true;
  }
  return false;
}

/// The registered build of an image's file. A file that was only touched or copied again is found
/// by its contents, and its new identity is recorded.
std::optional<BuildRow> Environment::known_build(const ImageRow& image) {
  const FileIdentity identity = file_identity(image.path);
  if (auto build = database_.find_build(image.id, identity)) return build;
  const auto build = database_.find_build(image.id, content_hash(read_file(image.path)));
  if (build) try {
      database_.set_file_identity(build->id, identity);
    } catch (const Error&) {  // the record only saves time: the program runs without it
    }
  return build;
}

/// The file of the store to run in place of an image; nullopt when there is none, or, with a
/// warning, when the file cannot be used.
std::optional<fs::path> Environment::version_of(const ImageRow& image, DerivedKind kind,
                                                const std::function<void(std::string)>& warn) {
  const auto build = known_build(image);
  if (!build) {
    warn(fmt::format("{} has changed: it runs as it is until it is {} again", image.path,
                     name_of(kind)));
    return std::nullopt;
  }
  const auto derived = database_.newest_derived(build->id, kind);
  if (!derived) {
    if (has_derived(image.id, kind))
      warn(fmt::format("{} has changed since it was {}: it runs as it is until it is {} again",
                       image.path, name_of(kind), name_of(kind)));
    return std::nullopt;
  }
  const fs::path file = database_.store().path(derived->content);
  if (!database_.store().contains(derived->content)) {
    warn(fmt::format("{} runs as it is: the {} image is not in {} any more", image.path,
                     name_of(kind), database_.files().string()));
    return std::nullopt;
  }
  if (!database_.is_whole(*derived)) {
    warn(fmt::format("{} runs as it is until it is {} again: the stored file is damaged: {}",
                     image.path, name_of(kind), file.string()));
    return std::nullopt;
  }
  const fs::path spool = database_.spool() / build->content.hex();
  if (kind == DerivedKind::instrumented && access(spool.c_str(), W_OK | X_OK) != 0)
    warn(
        fmt::format("{} is not counted: {}: {}", image.path, spool.string(), std::strerror(errno)));
  return file;
}

/// Why versions are not run, a sentence: another user may write to the database or to its folders,
/// and could so decide what runs in place of programs. nullopt: only this user can. The folders of
/// the store decide, not each version: all versions are made with the same owner and mode, and
/// known by inode and times.
std::optional<std::string> Environment::why_distrusted() const {
  const uid_t own = geteuid();
  const fs::path database = fs::absolute(database_.path());
  for (const fs::path& path :
       {database.parent_path(), database, database_.files(), database_.files() / "images"}) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) continue;
    const bool around = path == database.parent_path();
    // The surrounding folder may be open to all if it is sticky, like /tmp: there only owners can
    // remove names.
    if ((status.st_mode & S_IWOTH) != 0 && !(around && (status.st_mode & S_ISVTX) != 0))
      return fmt::format("everybody may write to {} (chmod o-w)", path.string());
    // The owner of the surrounding folder can put other files there, but only files of his own.
    constexpr uid_t kNobody = 65534;
    if (!around && status.st_uid != own && status.st_uid != 0 &&
        !(status.st_uid == kNobody && users_are_hidden()))
      return fmt::format("{} belongs to another user", path.string());
  }
  return std::nullopt;
}

/// The substitutions of the application's mode. Images that cannot be substituted run unchanged.
std::vector<Substitution> Environment::substitutions(const ApplicationRow& application,
                                                     const RunOptions& options) {
  std::vector<Substitution> result;
  const Mode mode = application.mode;
  const DerivedKind kind =
      mode == Mode::instrumented ? DerivedKind::instrumented : DerivedKind::optimized;
  bool explained = false;  // why the program itself runs unchanged
  Role role = Role::main;
  const auto warn = [&](const std::string& text) {
    // An opened library gets its version at the time it is opened.
    if (options.warn && !(role == Role::opened && mode == Mode::instrumented)) options.warn(text);
    if (role == Role::main) explained = true;
  };
  const auto distrusted = mode == Mode::original ? std::nullopt : why_distrusted();
  if (distrusted) {
    warn(fmt::format("{} runs as it is: {}", application.name, *distrusted));
    return result;
  }
  std::set<fs::path> files;
  for (const ApplicationImage& used : database_.images_of(application.id)) {
    const ImageRow image = present_image(used);
    role = used.role;
    std::error_code error;
    if (is_substituted(image.path)) {
      warn(fmt::format("{} is not substituted: {}", image.path, kHiddenByRun));
    } else if (mode != Mode::original && image.optimizable && fs::exists(image.path, error)) {
      // A link may lead to the file of another image by now; each file has only one substitute.
      if (!files.insert(fs::canonical(image.path, error)).second) continue;
      if (const auto file = version_of(image, kind, warn)) result.push_back({image.path, *file});
    }
  }
  if (result.empty() && !explained && mode != Mode::original)
    warn(fmt::format("no image of {} is {}: it runs as it is", application.name, name_of(kind)));
  return result;
}

/// The application's images that run unchanged beside these substitutes.
std::vector<fs::path> Environment::unchanged_images(
    const ApplicationRow& application, const std::vector<Substitution>& substitutions) const {
  std::vector<fs::path> unchanged;
  for (const ApplicationImage& used : database_.images_of(application.id)) {
    std::error_code error;
    const fs::path path = fs::canonical(used.loaded_as, error);
    const bool has_version = std::ranges::any_of(substitutions, [&](const Substitution& s) {
      std::error_code ignored;
      return fs::equivalent(s.original, path, ignored);
    });
    if (!error && !has_version) unchanged.push_back(path);
  }
  return unchanged;
}

ProgramEnd Environment::run(const std::string& name, const RunOptions& options) {
  wait_for_notes();
  const ApplicationRow application = find(name);
  if (application.mode == Mode::instrumented) {
    merge_if_many(options.warn);
    if (const std::string reason = database_.why_not_written(); !reason.empty() && options.warn)
      options.warn("what runs count is not collected: " + reason);
  }
  for (const std::string& warning : warnings_.warnings())
    if (options.warn) options.warn(warning);
  Launch launch;
  launch.program = chosen_program(application, options.program).loaded_as;
  const ProgramImage program = read_program(launch.program);
  launch.arguments = options.arguments;
  launch.environment = options.environment;
  launch.warn = options.warn;
  if (application.mode != Mode::original) require_one_machine(application);
  launch.substitutions = substitutions(application, options);
  if (application.mode == Mode::optimized && options.warn)
    warn_of_others(application, launch, options.warn);
  launch.versions = database_.files() / kWindowsVersions;
  if (program.platform->windows)
    launch.unchanged = unchanged_images(application, launch.substitutions);
  std::optional<FaultRow> fault;
  if (application.mode == Mode::optimized) fault = active_fault(application, launch.substitutions);
  if (fault) {
    if (options.warn) options.warn(guard_text(name, *fault));
    launch.substitutions.clear();
  }
  const bool counts = application.mode == Mode::instrumented && !launch.substitutions.empty();
  const bool guarded =
      application.mode == Mode::optimized && !launch.substitutions.empty() && options.guard;
  if (!counts && !guarded && !fault) start(launch);
  if (counts && program.view.dynamic) try {
      launch.notes = prepare_notes(notes_folder(application), *program.platform);
      const fs::path folder = fs::absolute(database_.files() / kAttendant);
      std::error_code error;
      fs::create_directory(folder, error);
      launch.notes.attendant = folder / "socket";
      launch.start_attendant = [this] { return start_attendant(false); };
    } catch (const Error& error) {
      if (options.warn)
        options.warn(fmt::format("what {} opens is not noted: {}", name, error.what()));
    }
  if (guarded && program.platform->native()) {
    const AnnouncedEnd blamed{.application = int(application.id),
                              .program = launch.program,
                              .images = images_word(images_text(launch.substitutions)),
                              .original = false,
                              .end = {}};
    std::map<FileKey, AnnouncedEnd> versions;
    for (const Substitution& s : launch.substitutions)
      versions.emplace(file_key(s.substitute), blamed);
    launch.start_attendant = [this, versions] { return start_attendant(false, {}, versions); };
  }
  const ProgramEnd end = run_to_end(launch);
  if (counts) {
    note_end(database_.files(), end);
    if (WIFEXITED(end.status) && options.program.empty()) note_run(application, options.arguments);
  } else {
    note_fault(application, {launch.program, images_text(launch.substitutions), fault},
               WIFSIGNALED(end.status) ? WTERMSIG(end.status) : 0, options.warn);
  }
  return end;
}

/// Records how the program was run, so that the manager can offer the same run. The program has
/// ended by then, and does not wait for this. Ignores errors.
void Environment::note_run(const ApplicationRow& application,
                           const std::vector<std::string>& arguments) try {
  LastRun run;
  for (const std::string& argument : arguments)
    run.arguments += (run.arguments.empty() ? "" : " ") + shell_word(argument);
  run.folder = fs::current_path();
  struct stat input {};
  struct stat file {};
  if (fstat(STDIN_FILENO, &input) == 0 && S_ISREG(input.st_mode)) {
    run.input = fs::read_symlink("/proc/self/fd/0");
    // Shells hand over files that they have deleted.
    if (stat(run.input.c_str(), &file) != 0 || file.st_dev != input.st_dev ||
        file.st_ino != input.st_ino)
      run.input.clear();
  }
  const auto last = database_.last_run(application.id);
  if (!last || !same_work(*last, run)) database_.put_last(application.id, run);
} catch (const std::exception&) {  // including errors of the file system
}

/// Warns of optimized libraries that a program does not load because LD_LIBRARY_PATH leads to
/// others.
void Environment::warn_of_others(const ApplicationRow& application, const Launch& launch,
                                 const std::function<void(std::string)>& warn) const {
  constexpr std::string_view kVariable = "LD_LIBRARY_PATH=";
  const char* present = std::getenv("LD_LIBRARY_PATH");
  std::string path = present == nullptr ? "" : present;
  for (const std::string& each : launch.environment)
    if (each.starts_with(kVariable)) path = each.substr(kVariable.size());
  if (path.empty()) return;  // unchanged since `register`
  for (const auto& [registered, loaded] : loaded_instead(application, launch.program, path))
    if (std::ranges::any_of(launch.substitutions,
                            [&](const Substitution& s) { return s.original == registered; }))
      warn(fmt::format("{} loads {}, as it is, and not {}, which is optimized",
                       launch.program.string(), loaded.string(), registered.string()));
}

/// Merges when so many counter files wait that they might fill the disk one day. A disk that is
/// already full does not keep programs from starting.
void Environment::merge_if_many(const std::function<void(std::string)>& warn) {
  if (access_ == Access::read || !many_files_wait(database_.spool())) return;
  try {
    const FileLock merging(database_.files() / "merging", FileLock::Wait::no);
    if (merging.held()) collect(false);
  } catch (const Error& error) {
    if (warn) warn(fmt::format("what runs counted is not collected: {}", error.what()));
  }
}

/// Ignores errors: the run counts nevertheless, only its end is unknown.
void Environment::note_end(const fs::path& files, const ProgramEnd& end) {
  const fs::path folder = files / kEnds;
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  fs::create_symlink(describe(end.status),
                     folder / fmt::format("{}.{}", end.process, end.started_after), ignored);
}

std::vector<std::pair<fs::path, ProcessEnd>> Environment::noted_ends() const {
  std::vector<std::pair<fs::path, ProcessEnd>> ends;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(database_.files() / kEnds, error)) {
    const std::string name = entry.path().filename();
    ProcessEnd end;
    const char* last = name.data() + name.size();
    const auto [dot, problem] = std::from_chars(name.data(), last, end.process_id);
    if (problem != std::errc() || dot == last || *dot != '.') continue;
    if (std::from_chars(dot + 1, last, end.started_after).ptr != last) continue;
    std::error_code unreadable;
    end.ended = fs::read_symlink(entry.path(), unreadable);
    if (!unreadable) ends.emplace_back(entry.path(), end);
  }
  return ends;
}

MergeResult Environment::collect() {
  return collect(true);
}

/// `snapshots`: also merges counts of processes that still run, which takes the full time on every
/// call.
MergeResult Environment::collect(bool snapshots) {
  if (access_ == Access::read) return {};
  make_paths_canonical();
  if (snapshots) {
    wait_for_notes();
    take_messages();
  }
  MergeOptions options;
  options.snapshots = snapshots;
  const auto ends = noted_ends();
  for (const auto& [path, end] : ends) options.ended.push_back(end);
  MergeResult result;
  if (!ends.empty() || anything_to_merge(database_))
    result = merge_spool(database_, options, warnings_);
  if (snapshots || result.left == 0)  // otherwise a file that was left alone may need its note
                                      // later
    for (const auto& [path, end] : ends) unlink(path.c_str());
  for (const ApplicationRow& application : database_.applications()) {
    try {
      register_opened(application);
    } catch (const Error&) {
      if (is_registered(application)) throw;
    }
  }
  if (snapshots) warn_of_faults();
  return result;
}

/// False when another process has forgotten the application in the meantime, and perhaps pruned its
/// images and registered the program again.
bool Environment::is_registered(const ApplicationRow& application) const {
  const auto now = database_.find_application(application.name);
  return now && now->id == application.id && now->main_image == application.main_image;
}

}  // namespace respike

// Running an application in its mode, and collecting what its runs left.
//
// To start must be fast, so a file, also of the image store, is read only when its size, times or
// inode are new, and new contents are left to other commands: an image that changed, or whose
// version is damaged, runs as it is. Of every image the first bytes are read: for which machine it
// is. Merging is left to them, too, until many counter files wait: runs alone shall not fill the
// disk. Of many runs at once one merges then.
//
// In the modes original and optimized this process becomes the program. In mode instrumented the
// program is a child, so that it can be noted how it ended: as a symbolic link, written in one
// step, named by process and time, that the next command takes into the database.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <set>

#include "environment/environment.h"
#include "environment/image_content.h"
#include "optimizer/base/error.h"
#include "optimizer/base/files.h"
#include "tas/opened.h"

namespace respike {

namespace fs = std::filesystem;

namespace {

constexpr const char* kEnds = "ended";  // folder of the notes
constexpr int kManyFiles = 100;         // are merged before a run

/// Whether so many counter files wait that a run had better merge them. What was set aside does
/// not.
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

/// Held by one process at a time, for as long as it lives.
class TryLock {
 public:
  explicit TryLock(const fs::path& path)
      : file_(open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600)),
        held_(file_ >= 0 && flock(file_, LOCK_EX | LOCK_NB) == 0) {}
  ~TryLock() {
    if (file_ >= 0) close(file_);
  }
  TryLock(const TryLock&) = delete;
  TryLock& operator=(const TryLock&) = delete;
  bool held() const { return held_; }

 private:
  int file_;
  bool held_;
};

std::string describe(int status) {
  return WIFSIGNALED(status) ? fmt::format("killed by {}", WTERMSIG(status))
                             : fmt::format("exited {}", WEXITSTATUS(status));
}

}  // namespace

/// The build that the file of an image is, if one was registered. A file that was only touched, or
/// copied anew, is known by its contents, and from then on by its new state.
std::optional<BuildRow> Environment::known_build(const ImageRow& image) {
  const FileIdentity identity = file_identity(image.path);
  if (auto build = database_.find_build(image.id, identity)) return build;
  const auto build = database_.find_build(image.id, content_hash(read_file(image.path)));
  if (build) try {
      database_.set_file_identity(build->id, identity);
    } catch (const Error&) {  // to note it saves time; the program runs all the same
    }
  return build;
}

/// The file that stands for an image; nullopt when there is none, or it cannot be used, which is
/// warned of.
std::optional<fs::path> Environment::version_of(const ImageRow& image, DerivedKind kind,
                                                const std::function<void(std::string)>& warn) {
  const auto build = known_build(image);
  if (!build) {
    warn(fmt::format("{} has changed: it runs as it is until it is {} again", image.path,
                     name_of(kind)));
    return std::nullopt;
  }
  const auto derived = database_.newest_derived(build->id, kind);
  if (!derived) return std::nullopt;
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

/// What stands for what in the present mode. Whatever cannot be substituted runs as it is.
std::vector<Substitution> Environment::substitutions(const ApplicationRow& application,
                                                     const RunOptions& options) {
  std::vector<Substitution> result;
  const Mode mode = application.mode;
  const DerivedKind kind =
      mode == Mode::instrumented ? DerivedKind::instrumented : DerivedKind::optimized;
  const auto warn = [&](const std::string& text) {
    if (options.warn) options.warn(text);
  };
  std::set<fs::path> files;
  bool nested = false;
  for (const ApplicationImage& used : database_.images_of(application.id)) {
    const ImageRow& image = used.image;
    std::error_code error;
    if (is_substituted(image.path)) {
      nested = true;
      warn(fmt::format("{} is not substituted: {}", image.path, kHiddenByRun));
    } else if (mode != Mode::original && image.optimizable && fs::exists(image.path, error)) {
      // A link may lead to another image's file since both were registered.
      if (!files.insert(fs::canonical(image.path, error)).second) continue;
      if (const auto file = version_of(image, kind, warn)) result.push_back({image.path, *file});
    }
  }
  if (result.empty() && !nested && mode != Mode::original)
    warn(fmt::format("no image of {} is {}: it runs as it is", application.name, name_of(kind)));
  return result;
}

ProgramEnd Environment::run(const std::string& name, const RunOptions& options) {
  const ApplicationRow application = find(name);
  if (application.mode == Mode::instrumented && many_files_wait(database_.spool())) {
    const TryLock merging(database_.files() / "merging");
    if (merging.held()) collect(false);
    for (const std::string& warning : warnings_.warnings())
      if (options.warn) options.warn(warning);
  }
  Launch launch;
  launch.program = database_.image(application.main_image).path;
  const ProgramImage program = read_program(launch.program);
  launch.arguments = options.arguments;
  launch.environment = options.environment;
  launch.warn = options.warn;
  if (application.mode != Mode::original) require_one_machine(application);
  launch.substitutions = substitutions(application, options);
  if (application.mode != Mode::instrumented || launch.substitutions.empty()) start(launch);
  if (program.view.dynamic)
    launch.notes = prepare_notes(notes_folder(application), *program.platform);
  const ProgramEnd end = run_to_end(launch);
  note_end(end);
  return end;
}

/// Nobody hears when this fails: the run counts all the same, its end is unknown.
void Environment::note_end(const ProgramEnd& end) const {
  const fs::path folder = database_.files() / kEnds;
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

/// `snapshots`: also of processes that still run. To read them takes as long each time.
MergeResult Environment::collect(bool snapshots) {
  MergeOptions options;
  options.snapshots = snapshots;
  const auto ends = noted_ends();
  for (const auto& [path, end] : ends) options.ended.push_back(end);
  MergeResult result;
  if (!ends.empty() || anything_to_merge(database_))
    result = merge_spool(database_, options, warnings_);
  if (snapshots || result.left == 0)  // else an end may be that of a file that was left alone
    for (const auto& [path, end] : ends) unlink(path.c_str());
  for (const ApplicationRow& application : database_.applications()) register_opened(application);
  return result;
}

}  // namespace respike

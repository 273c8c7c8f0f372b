// Opening the database, finding applications, and operations that amount to one call of the
// database: mode, unregister, prune.
//
// The other operations: registering.cc, making.cc, exporting.cc, running.cc, viewing.cc.

#include "applications/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "applications/file_lock.h"
#include "applications/links.h"
#include "optimizer/base/error.h"
#include "tas/windows_versions.h"

namespace respike {

namespace fs = std::filesystem;

namespace {

/// The file that prune() locks. Creates its folder if need be.
fs::path pruning_lock(const Database& database) {
  std::error_code ignored;
  fs::create_directories(database.files(), ignored);
  return database.files() / "pruning";
}

/// The paths of images; only the first ones if there are many.
std::string some_paths(const std::vector<ApplicationImage>& images) {
  constexpr size_t kMost = 6;
  std::vector<std::string> paths;
  for (const ApplicationImage& used : images)
    if (paths.size() < kMost) paths.push_back(used.loaded_as);
  const std::string text = fmt::format("{}", fmt::join(paths, ", "));
  if (images.size() <= kMost) return text;
  return fmt::format("{} and {} more", text, images.size() - kMost);
}

}  // namespace

Environment::Environment(const fs::path& database, Access access)
    : database_(database, access), access_(database_.access()) {}

ApplicationRow Environment::find(const std::string& name) const {
  const auto application = database_.find_application(name);
  if (!application)
    throw Error(
        fmt::format("no application \"{}\" is registered in {}", name, database_.path().string()));
  return *application;
}

/// All images of an application, or those that `names` name: a path names one image, a file name or
/// SONAME all images that have it.
std::vector<ApplicationImage> Environment::chosen_images(
    const ApplicationRow& application, const std::vector<std::string>& names) const {
  const std::vector<ApplicationImage> all = database_.images_of(application.id);
  if (names.empty()) return all;
  std::set<Id> chosen;
  for (const std::string& name : names) {
    std::error_code error;
    const fs::path absolute = fs::absolute(name, error);
    bool found = false;
    const auto choose = [&](const auto& is_named) {
      for (const ApplicationImage& used : all) {
        if (!is_named(used)) continue;
        chosen.insert(used.image.id);
        found = true;
      }
    };
    choose([&](const ApplicationImage& used) {
      return used.image.path == absolute || real_path(used.image.path) == real_path(absolute);
    });
    if (!found)
      choose([&](const ApplicationImage& used) {
        return fs::path(used.image.path).filename() == name || used.image.soname == name ||
               fs::path(used.loaded_as).filename() == name;
      });
    if (!found) throw Error(fmt::format("it is not an image of {}", application.name), name);
  }
  std::vector<ApplicationImage> images;
  for (const ApplicationImage& used : all)
    if (chosen.contains(used.image.id)) images.push_back(used);
  return images;
}

/// The program of an application that `file` names, by a path or by the file's name; empty: the
/// only program. `loaded_as` is the path to start: a program may behave differently under different
/// names. Throws Error when there is no such program, or more than one.
ApplicationImage Environment::chosen_program(const ApplicationRow& application,
                                             const std::string& file) const {
  std::vector<ApplicationImage> programs, named;
  for (const ApplicationImage& used : database_.images_of(application.id))
    if (used.role == Role::main && used.image.program) programs.push_back(used);
  const std::string& name = application.name;
  if (programs.empty())
    throw Error(
        fmt::format("{} is a library, which is not run by itself: respike exec {} -- "
                    "COMMAND runs a command that loads it",
                    name, name));
  if (file.empty() && programs.size() == 1) return programs.front();
  for (const ApplicationImage& used : programs) {
    std::error_code error;
    if (file == fs::path(used.loaded_as).filename() || file == fs::path(used.image.path).filename())
      named.push_back(used);
    const fs::path path = fs::absolute(file, error);
    if (file.empty() || real_path(path) != real_path(used.loaded_as)) continue;
    ApplicationImage found = used;
    found.loaded_as = path;
    return found;
  }
  if (named.size() == 1) return named.front();
  const std::string paths = some_paths(programs);
  if (!file.empty())
    throw Error(fmt::format("{} of {}, which has {}",
                            named.empty() ? "it is no program" : "it is the name of two programs",
                            name, paths),
                file);
  throw Error(
      fmt::format("{} has {} programs, {}: respike run --program FILE {} runs one of them, and "
                  "respike exec {} -- COMMAND runs a command that starts them",
                  name, programs.size(), paths, name, name));
}

void Environment::set_mode(const std::string& name, Mode mode, bool again) {
  wait_for_notes();
  const ApplicationRow application = find(name);
  if (again) database_.forget_fault(application.id);
  collect();
  set_mode_now(name, mode);
  tell_sessions();
  if (mode == Mode::original) return;
  const auto kind = mode == Mode::instrumented ? DerivedKind::instrumented : DerivedKind::optimized;
  const auto images = database_.images_of(application.id);
  if (std::ranges::none_of(images,
                           [&](const auto& used) { return has_derived(used.image.id, kind); }))
    warnings_.warn(fmt::format("no image of {} is {}: it runs as it is until respike {} {}", name,
                               name_of(kind),
                               kind == DerivedKind::optimized ? "optimize" : "instrument", name));
}

void Environment::unregister(const std::string& name) {
  collect();
  {
    Database::Transaction transaction(database_);
    const ApplicationRow application = find(name);
    // The notes on opened libraries are removed first: the next application may get the same key.
    std::error_code ignored;
    fs::remove_all(notes_folder(application), ignored);
    database_.remove_application(application.id);
    transaction.commit();
  }
  tell_sessions();
}

/// Sets the mode of the application that has the name now: the key of an application found earlier
/// may belong to another application by now. Throws Error when no application has the name.
void Environment::set_mode_now(const std::string& name, Mode mode) {
  Database::Transaction transaction(database_);
  database_.set_mode(find(name).id, mode);
  transaction.commit();
}

/// While a process holds this lock, prune() waits, so images that no application uses and their
/// keys stay. For operations that look an image up, or add it, and let an application use it
/// afterwards.
FileLock Environment::keep_rows() const {
  return {pruning_lock(database_), FileLock::Wait::yes, FileLock::Holders::many};
}

PruneResult Environment::prune(unsigned keep, bool dry_run) {
  collect();
  const FileLock alone(pruning_lock(database_), FileLock::Wait::yes);
  if (!dry_run) prune_windows_versions(database_.files() / kWindowsVersions);
  return database_.prune(keep, std::chrono::hours(1), dry_run);
}

}  // namespace respike

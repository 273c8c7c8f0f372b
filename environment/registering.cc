// Finds the images of an application, and the builds of these images.
//
// An image is known by the path under which the loader opens it, without "..". A file that an
// application opens by several names, symbolic links, is one image, under the first name seen.
// refresh() looks at an image's file: first at size, times and inode; if they changed, at the
// contents; if the contents are new, too, there is a new build. Respike lifts a new build once,
// stores its procedures, and carries the profile of the newest older build with counts over to it.
// An image that cannot be rewritten has no builds, only the reason why.
//
// Example: `touch app` changes a time; refresh() hashes the file, finds build 1 by the hash, and
// notes the new time. `make app` changes the contents: build 2, with the profile of build 1.
//
// A file may be replaced while it is read. So size, times and inode are read before the contents.
// If the file changes in between, they do not fit the file any more, and the next refresh() looks
// again.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "environment/environment.h"
#include "environment/fingerprint.h"
#include "environment/image_content.h"
#include "host/platform.h"
#include "optimizer/base/error.h"
#include "optimizer/profile/profile.h"
#include "profiledb/matching/match.h"
#include "tas/libraries.h"
#include "tas/opened.h"

namespace respike {

namespace fs = std::filesystem;

namespace {

/// The path without "..", where that leads to the same file, so that $ORIGIN/../lib gives the same
/// path from every folder.
fs::path without_detours(const fs::path& path) {
  std::error_code error;
  const fs::path direct = path.lexically_normal();
  return fs::equivalent(path, direct, error) ? direct : path;
}

/// The file that a path leads to, symbolic links followed; the path itself when there is no file.
/// Hard links are different files here: a mount over one of them does not hide the other.
fs::path real_path(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? path : real;
}

std::string describe(const MatchResult& match, bool fits, uint32_t number) {
  if (!fits) return fmt::format("nothing of the profile of build {} fits", number);
  return fmt::format(
      "of the {} procedures that ran in build {}, {} are found again, with {:.2f}% of what they "
      "executed; confidence {:.2f}",
      match.entered_before, number, match.entered_matched, 100 * match.matched_share(),
      match.confidence);
}

/// Throws Error, with the reason of the first file, the program, when no file can be optimized:
/// whoever forgot to keep relocations when linking should notice here. Leaves it to register_file()
/// to report files that cannot be read.
void require_something_to_optimize(const std::vector<fs::path>& files, const std::string& name) {
  std::string reason;
  for (const fs::path& file : files) {
    if (is_substituted(file)) return;
    try {
      const std::string problem = ImageContent(file, {}).why_not_optimizable();
      if (problem.empty()) return;
      if (reason.empty()) reason = problem;
    } catch (const Error&) {
      if (file == files.front()) return;
    }
  }
  throw Error(
      fmt::format("{}; nothing of {} could be optimized, so it is not registered", reason, name),
      files.front());
}

/// What `f` returns. Another process may prune images that no application uses yet, those that `f`
/// has just added among them: then `f` is called again.
template <typename F>
auto again_while_rows_go(F f) {
  constexpr int kMostTries = 5;
  for (int tries = 1; tries < kMostTries; ++tries) try {
      return f();
    } catch (const RowGone&) {
    }
  return f();
}

}  // namespace

RegisterResult Environment::register_application(const fs::path& main_image, std::string name) {
  collect();
  ProgramImage program = read_program(main_image);
  program.path = without_detours(program.path);
  if (name.empty()) name = program.path.filename();
  const auto known = find_registered(name, program.path);  // before anything is added
  if (known) require_one_machine(*known);
  const Libraries libraries = find_libraries(program, present_search(*program.platform));

  std::vector<fs::path> files = {program.path};
  for (const LoadedLibrary& library : libraries.loaded) files.push_back(library.path);
  if (known)
    for (const ApplicationImage& used : database_.images_of(known->id))
      files.push_back(used.image.path);
  require_something_to_optimize(files, name);

  RegisterResult result;
  result.name = name;
  for (const MissingLibrary& library : libraries.missing) result.missing.push_back(library.name);
  const auto register_files = [&] {
    const Id main = register_file(program.path, program.view.soname);
    std::vector<Id> linked;
    for (const LoadedLibrary& library : libraries.loaded)
      linked.push_back(register_file(library.path, library.view.soname));
    return put_application(name, program.path, main, linked, result);
  };
  const Id application = again_while_rows_go([&, notes = notes_, warnings = warnings_] {
    notes_ = notes;
    warnings_ = warnings;
    return register_files();
  });
  for (const ApplicationImage& used : database_.images_of(application))
    result.images.push_back({used.image, used.role});
  for (const MissingLibrary& library : libraries.missing)
    warnings_.warn(fmt::format("{}: {}, which it needs, is not found", library.needed_by.string(),
                               library.name));
  return result;
}

/// The application of this name. Throws Error when another program is registered under the name.
std::optional<ApplicationRow> Environment::find_registered(const std::string& name,
                                                           const fs::path& program) const {
  const auto known = database_.find_application(name);
  if (known && database_.image(known->main_image).path != program)
    throw Error(
        fmt::format("\"{}\" is registered already, for {}: choose another name (--name) "
                    "or unregister that one",
                    name, database_.image(known->main_image).path));
  return known;
}

/// Throws Error when the application's files are for two machines, since one was replaced. Only the
/// present files count: when the old file comes back, all is well again.
void Environment::require_one_machine(const ApplicationRow& application) const {
  const std::string main = database_.image(application.main_image).path;
  for (const ApplicationImage& used : database_.images_of(application.id))
    if (const auto why = foreign_machine(used.image.path, application.name, main); !why.empty())
      throw Error(why, used.image.path);
}

/// Adds an application unless it is there (another process may just have added it), and updates its
/// linked libraries: `linked`, and those libraries it had that carry the name of a missing library,
/// since the file may come back. Other linked libraries that it had are removed with a note. An
/// opened library whose file is now linked under another name is removed without a note.
Id Environment::put_application(const std::string& name, const fs::path& program, Id main,
                                const std::vector<Id>& linked, RegisterResult& result) {
  Database::Transaction transaction(database_);
  const auto known = find_registered(name, program);
  result.added = !known;
  const Id application = known ? known->id : database_.add_application(name, main);
  database_.add_application_image(application, main, Role::main);
  for (const Id image : linked) database_.add_application_image(application, image, Role::linked);
  const auto is_missing = [&](const ImageRow& image) {
    return std::any_of(result.missing.begin(), result.missing.end(), [&](const std::string& m) {
      return m == image.soname || fs::path(m).filename() == fs::path(image.path).filename();
    });
  };
  std::set<fs::path> files;
  for (const Id image : linked) files.insert(real_path(database_.image(image).path));
  for (const auto& [image, role] : database_.images_of(application)) {
    const bool found = std::find(linked.begin(), linked.end(), image.id) != linked.end();
    if (role == Role::main || found) continue;
    const bool renamed = files.contains(real_path(image.path));
    if (!renamed && (role == Role::opened || is_missing(image))) continue;
    database_.remove_application_image(application, image.id);
    if (!renamed) notes_.push_back(fmt::format("{} does not load {} any more", name, image.path));
  }
  transaction.commit();
  return application;
}

/// Registers an image, or updates the image of this path.
Id Environment::register_file(const fs::path& file, const std::string& soname) {
  const fs::path path = without_detours(file);
  ImageRow row;
  if (const auto known = database_.find_image(path)) {
    row = *known;
  } else {
    row.path = path;
    row.soname = soname;
  }
  refresh(row);
  return row.id;
}

/// Looks at the file of an image, and registers the image or build when new. Returns the present
/// build; nullopt when the image cannot be optimized. Throws Error when the file cannot be read, or
/// when a run that this process belongs to has mounted another file over it.
std::optional<BuildRow> Environment::refresh(ImageRow& image) {
  if (is_substituted(image.path)) throw Error(kHiddenByRun, image.path);
  const FileIdentity identity = file_identity(image.path);
  // stat() also works for files that may not be read, which nobody can run, copy or rewrite.
  if (access(image.path.c_str(), R_OK) != 0)
    throw Error(fmt::format("the file cannot be read: {}", std::strerror(errno)), image.path);
  if (access_ == Access::read) {
    const auto build = image.optimizable ? known_build(image) : std::nullopt;
    if (image.optimizable && !build)
      throw Error("it has changed, which cannot be noted in the database", image.path);
    return build;
  }
  if (image.id == 0 || !image.optimizable) return add_build(image, {image.path, identity});
  auto build = database_.find_build(image.id, identity);
  if (!build) {
    const ImageContent content(image.path, identity);
    build = database_.find_build(image.id, content.hash);
    if (!build) return add_build(image, content);
    database_.set_file_identity(build->id, identity);
  }
  if (const std::string machine = machine_of(image.path);
      !machine.empty() && image.machine != machine) {
    image.machine = machine;  // the file was for another machine for a while
    database_.put_image(image);
  }
  return build;
}

std::optional<BuildRow> Environment::add_build(ImageRow& image, const ImageContent& content) {
  Profile procedures;
  std::string reason = content.why_not_optimizable();
  if (reason.empty()) try {
      if (progress) progress(image.path, "read", 0.0);
      procedures = content.procedures(warnings_);
    } catch (const Error& error) {
      reason = message_without(image.path, error);
    }
  const ImageFacts known = image;
  image.machine = content.machine();
  image.optimizable = reason.empty();
  image.reason = reason;
  // Whoever cancels leaves no build without what older builds' counts tell of it.
  Database::Transaction transaction(database_);
  if (image.id == 0 || image != known) image.id = database_.put_image(image);
  if (!image.optimizable) {
    transaction.commit();
    return std::nullopt;
  }
  const Id id = database_.put_build(image.id, content.facts(), procedures);
  const BuildRow build = database_.build(id);
  if (build.number > 1)
    notes_.push_back(
        fmt::format("{} has changed: this is build {} of it", image.path, build.number));
  carry_over(image, build);
  transaction.commit();
  return build;
}

/// Carries the profile of the newest older build with counts, for the same machine, over to a
/// build. Does nothing when that profile has been matched before and has not changed since.
void Environment::carry_over(const ImageRow& image, const BuildRow& build) {
  const auto before = database_.profiled_build_before(build.id);
  if (!before) return;
  const Profile older = database_.profile(before->id);
  const std::string matched =
      fmt::format("{} {}", content_hash(encode_profile(older)).hex(), kFingerprint);
  if (database_.matched(build.id) == matched) return;
  if (progress) progress(image.path, "match", 0.5);
  const MatchResult match = match_profile(older, database_.procedures(build.id));
  const bool fits = !match.of_another_program() && match.confidence > 0;
  Database::Transaction transaction(database_);
  if (fits)
    database_.set_carried(build.id, before->id, match.profile, std::min(match.confidence, 1.0));
  database_.set_matched(build.id, matched);
  transaction.commit();
  notes_.push_back(fmt::format("{}: {}", image.path, describe(match, fits, before->number)));
}

/// Registers the libraries that runs of the application opened.
void Environment::register_opened(const ApplicationRow& application) {
  const fs::path folder = notes_folder(application);
  std::error_code error;
  const Platform* platform =
      find_platform(machine_of(database_.image(application.main_image).path));
  if (platform == nullptr || !fs::exists(folder, error)) return;
  std::set<fs::path> known;
  for (const ApplicationImage& used : database_.images_of(application.id)) {
    known.insert(used.image.path);
    known.insert(real_path(used.image.path));
  }
  for (const fs::path& library : read_notes(folder, *platform)) {
    const fs::path path = without_detours(library);
    if (known.contains(path) || !known.insert(real_path(path)).second) continue;
    try {
      const LoaderView view = read_loader_view(library);
      if (view.machine != platform->machine)
        throw Error(fmt::format("{} opened it, but it is no image for {}", application.name,
                                platform->name),
                    path);
      const Id id = register_file(library, view.soname);
      database_.add_application_image(application.id, id, Role::opened);
      notes_.push_back(fmt::format("{} opened {}: it belongs to the application now",
                                   application.name, path.string()));
    } catch (const Error& failure) {
      warnings_.warn(failure.what());
    }
  }
}

fs::path Environment::notes_folder(const ApplicationRow& application) const {
  return database_.files() / "opened" / std::to_string(application.id);
}

}  // namespace respike

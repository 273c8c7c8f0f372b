// Finds the images of an application, and the builds of these images.
//
// What identifies an image? Its path without symbolic links: /lib/libfoo.so, /usr/lib/libfoo.so and
// bin/../lib/libfoo.so.1 mean one file, which has one profile, and mounts put substitutes over that
// file. Hard links are different images. But an upgrade often puts a new file beside the old one
// and changes a link, libfoo.so.1 or a folder's; for people this is the same library, and its
// profile should live on. So an application also keeps the path by which the user named an image or
// the loader opens it (ApplicationImage::loaded_as). When that path leads to another file, the
// application uses that file, and the new image follows the old one: it gets the old image's
// profile, as far as the profile fits (links.cc). The path with its last link kept (libfoo.so.1)
// would be a simpler identity, but then two names of one file would be two images.
//
// An application has one or more images in role main: programs, or a single library. Its linked
// libraries are the libraries that the loader opens with any of these images. Registering a known
// name with another set of programs replaces the known set, if the two sets have a program in
// common; otherwise the name is taken, most likely by an application that the user does not have in
// mind.
//
// refresh() looks at an image's file: first at size, times and inode; if these changed, at the
// contents; if the contents are new as well, there is a new build. Respike lifts a new build once,
// stores its procedures, and carries over to it the profile of the newest older build that has
// counts. An image that cannot be rewritten has no builds, only the reason why.
//
// Example: `touch app` changes a time; refresh() hashes the file, finds build 1 by the hash, and
// notes the new time. `make app` changes the contents: build 2, with the profile of build 1.
//
// A file may be replaced while it is read. So size, times and inode are read before the contents.
// If the file changes in between, the recorded values do not fit the file, and the next refresh()
// looks again.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include "applications/environment.h"
#include "applications/file_lock.h"
#include "applications/image_content.h"
#include "applications/links.h"
#include "host/platform.h"
#include "optimizer/base/error.h"
#include "optimizer/fingerprint.h"
#include "optimizer/profile/matching/match.h"
#include "optimizer/profile/profile.h"
#include "tas/libraries.h"
#include "tas/opened.h"
#include "tas/staged_path.h"

namespace respike {

namespace fs = std::filesystem;

namespace {

/// `before`: the name of the older build.
std::string describe(const MatchResult& match, bool fits, const std::string& before) {
  if (!fits) return fmt::format("nothing of the profile of {} fits", before);
  return fmt::format(
      "of the {} procedures that ran in {}, {} are found again, with {:.2f}% of what they "
      "executed; confidence {:.2f}",
      match.entered_before, before, match.entered_matched, 100 * match.matched_share(),
      match.confidence);
}

/// The programs, or the library, of an application. Throws Error when a file cannot be used, when
/// the files are for two machines, or when there is a library beside other files.
std::vector<ProgramImage> read_mains(const std::vector<fs::path>& files) {
  std::vector<ProgramImage> mains;
  std::set<fs::path> real;
  for (const fs::path& file : files) {
    ProgramImage image = read_program_or_library(file);
    image.path = without_detours(image.path);
    if (real.insert(real_path(image.path)).second) mains.push_back(std::move(image));
  }
  for (const ProgramImage& image : mains) {
    if (image.view.machine != mains.front().view.machine)
      throw Error(fmt::format("it is a program for {}, but {} is one for {}: an application has "
                              "images of one machine",
                              image.platform->name, mains.front().path.string(),
                              mains.front().platform->name),
                  image.path);
    if (!image.view.is_program() && mains.size() > 1)
      throw Error("it is a library, not a program: register it by itself", image.path);
  }
  return mains;
}

/// The library search of a program that starts once the files of a staged tree are installed: files
/// of the tree come first. Below an emulator, the tree's usual folders of libraries do, too.
LibrarySearch search_below(const fs::path& root, const Platform& platform) {
  LibrarySearch search = present_search(platform);
  search.staged_tree = root;
  if (root.empty() || search.sysroot.empty()) return search;
  for (const char* folder : {"usr/local/lib", "lib", "usr/lib"})
    search.library_path =
        (root / folder).string() + (search.library_path.empty() ? "" : ":" + search.library_path);
  return search;
}

/// The present places of files that will have these paths once a staged tree is installed.
std::vector<fs::path> staged(const std::vector<fs::path>& files, const fs::path& root) {
  std::vector<fs::path> places;
  for (const fs::path& file : files)
    places.push_back(root.empty() ? file : staged_path(root, file).value_or(file));
  return places;
}

/// The libraries that the loader opens with any of the programs, each once.
Libraries libraries_of(const std::vector<ProgramImage>& mains, const fs::path& root) {
  Libraries all;
  std::set<fs::path> real;
  std::set<std::string> missing;
  for (const ProgramImage& image : mains) real.insert(real_path(image.path));
  for (const ProgramImage& image : mains) {
    Libraries found = find_libraries(image, search_below(root, *image.platform));
    for (LoadedLibrary& library : found.loaded)
      if (real.insert(real_path(library.path)).second) all.loaded.push_back(std::move(library));
    for (MissingLibrary& library : found.missing)
      if (missing.insert(library.name).second) all.missing.push_back(std::move(library));
  }
  return all;
}

/// Throws Error, with the reason of the first file, the program, when no file can be optimized: a
/// user who linked without relocations should notice here. register_file() reports files that
/// cannot be read.
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

/// Returns what `f` returns. Another process may remove rows that `f` has found, for example the
/// rows of an application: then `f` is called again, and finds other rows.
template <typename F>
auto again_while_rows_go(F f) {
  constexpr int kMostTries = 100;
  for (int tries = 1; tries < kMostTries; ++tries) try {
      return f();
    } catch (const RowGone&) {
    }
  return f();
}

}  // namespace

RegisterResult Environment::register_application(const std::vector<fs::path>& main_images,
                                                 std::string name, const fs::path& root) {
  if (main_images.empty()) throw Error("an application has a program or a library");
  if (name.empty() && main_images.size() > 1)
    throw Error("an application of several programs needs a name: --name NAME");
  collect();
  const fs::path absolute_root = root.empty() ? root : fs::absolute(root).lexically_normal();
  if (!root.empty() && !fs::is_directory(root)) throw Error("there is no such folder", root);
  const std::vector<ProgramImage> mains = read_mains(staged(main_images, absolute_root));
  if (name.empty()) name = mains.front().path.filename();
  if (name.find(',') != name.npos)
    throw Error("an application's name has no comma in it: --name gives another", name);
  const FileLock rows_stay = keep_rows();
  const RegisterResult result = again_while_rows_go([&, notes = notes_, warnings = warnings_] {
    notes_ = notes;
    warnings_ = warnings;
    return register_now(mains, name, absolute_root);
  });
  tell_sessions();
  return result;
}

/// Throws RowGone when another process forgets the application in the meantime.
RegisterResult Environment::register_now(const std::vector<ProgramImage>& mains,
                                         const std::string& name, const fs::path& root) {
  const auto known = find_registered(name, mains);  // before anything is added
  if (known) {
    require_one_machine(*known);
    follow_links(*known);
  }
  const Libraries libraries = libraries_of(mains, root);

  std::vector<fs::path> files;
  std::map<std::string, Id> before;  // by SONAME: the image of which a library in another folder is
                                     // an upgrade
  for (const ProgramImage& image : mains) files.push_back(image.path);
  for (const LoadedLibrary& library : libraries.loaded) files.push_back(library.path);
  if (known)
    for (const ApplicationImage& used : database_.images_of(known->id)) {
      files.push_back(used.image.path);
      if (!used.image.soname.empty()) before.emplace(used.image.soname, used.image.id);
    }
  require_something_to_optimize(files, name);

  RegisterResult result;
  result.name = name;
  for (const MissingLibrary& library : libraries.missing) {
    result.missing.push_back(library.name);
    warnings_.warn(fmt::format("{}: {}, which it needs, is not found", library.needed_by.string(),
                               library.name));
  }
  std::vector<ApplicationImage> images;
  const auto add = [&](const fs::path& path, const LoaderView& view, Role role) {
    const auto same = before.find(view.soname);
    const Id id = register_file(path, view, same == before.end() ? 0 : same->second);
    images.push_back({{{}, id}, role, without_detours(path)});
  };
  for (const ProgramImage& image : mains) add(image.path, image.view, Role::main);
  for (const LoadedLibrary& library : libraries.loaded)
    add(library.path, library.view, Role::linked);
  put_application(name, mains, images, result);
  return result;
}

/// The application of this name. Throws Error when it has none of these programs.
std::optional<ApplicationRow> Environment::find_registered(
    const std::string& name, const std::vector<ProgramImage>& mains) const {
  const auto known = database_.find_application(name);
  if (!known) return known;
  for (const ApplicationImage& used : database_.images_of(known->id))
    for (const ProgramImage& image : mains)
      if (used.role == Role::main &&
          (used.loaded_as == image.path || real_path(used.image.path) == real_path(image.path)))
        return known;
  throw Error(
      fmt::format("\"{}\" is registered already, for {}: choose another name (--name) "
                  "or unregister that one",
                  name, database_.image(known->main_image).path));
}

/// Throws Error when the application's files are for two machines, because one was replaced. Only
/// the present files count: the error goes away when the old file comes back.
void Environment::require_one_machine(const ApplicationRow& application) const {
  const auto all = database_.images_of(application.id);
  for (const ApplicationImage& used : all)
    if (const auto why = foreign_machine(used.loaded_as, application.name, all.front().loaded_as);
        !why.empty())
      throw Error(why, used.loaded_as);
}

/// Adds an application unless it is there (another process may just have added it), and updates its
/// programs and linked libraries: `images`, and each library it had that has the name of a missing
/// library, since the file may come back. The application's other programs and linked libraries are
/// removed with a note. Fills `result`.
void Environment::put_application(const std::string& name, const std::vector<ProgramImage>& mains,
                                  const std::vector<ApplicationImage>& images,
                                  RegisterResult& result) {
  Database::Transaction transaction(database_);
  const auto known = find_registered(name, mains);
  result.added = !known;
  const Id main = images.front().image.id;
  const Id application = known ? known->id : database_.add_application(name, main);
  std::set<Id> found;
  for (const ApplicationImage& used : images) {
    database_.put_application_image(application, used.image.id, used.role, used.loaded_as);
    found.insert(used.image.id);
  }
  database_.set_main_image(application, main);
  const auto is_missing = [&](const ApplicationImage& used) {
    return std::any_of(result.missing.begin(), result.missing.end(), [&](const std::string& m) {
      return m == used.image.soname ||
             fs::path(m).filename() == fs::path(used.loaded_as).filename();
    });
  };
  for (const ApplicationImage& used : database_.images_of(application)) {
    std::error_code error;
    const bool opened = used.role == Role::opened && fs::exists(used.image.path, error);
    const bool stays = opened || (used.role == Role::linked && is_missing(used));
    if (found.contains(used.image.id) || stays) continue;
    database_.remove_application_image(application, used.image.id);
    notes_.push_back(used.role == Role::main
                         ? fmt::format("{} is no program of {} any more", used.image.path, name)
                         : fmt::format("{} does not load {} any more", name, used.image.path));
  }
  for (const ApplicationImage& used : database_.images_of(application))
    result.images.push_back({used.image, used.role});
  transaction.commit();
}

/// Registers the image of a file, or looks at it again. A new image follows the image `before`; 0:
/// none.
Id Environment::register_file(const fs::path& file, const LoaderView& view, Id before) {
  const fs::path path = real_path(file);
  ImageRow row;
  if (const auto known = database_.find_image(path)) {
    row = *known;
  } else {
    row.path = path;
    row.soname = view.soname;
    row.follows = before;
  }
  refresh(row);
  if (row.program != view.is_program()) {  // an old database lacks this for most images
    row.program = view.is_program();
    database_.put_image(row);
  }
  return row.id;
}

/// Looks at the file of an image, and registers the image or the build if it is new. Returns the
/// present build; nullopt when the image cannot be optimized. Throws Error when the file cannot be
/// read, or when a run that this process belongs to has mounted another file over it.
std::optional<BuildRow> Environment::refresh(ImageRow& image) {
  if (is_substituted(image.path)) throw Error(kHiddenByRun, image.path);
  const FileIdentity identity = file_identity(image.path);
  // stat() also succeeds for files without read permission, which cannot be run, copied or
  // rewritten.
  if (access(image.path.c_str(), R_OK) != 0)
    throw Error(fmt::format("the file cannot be read: {}", std::strerror(errno)), image.path);
  if (access_ == Access::read) {
    const auto build = image.optimizable ? known_build(image) : std::nullopt;
    if (image.optimizable && !build)
      throw BuildNotNoted("it has changed, which cannot be noted in the database", image.path);
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
  image.program = content.is_program();
  // One transaction: cancelling leaves no build that lacks the profile carried over from older
  // builds.
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

/// Carries a profile over to a build: that of the newest older build with counts for the same
/// machine, of this image or of the image that it follows. Does nothing when that profile has been
/// matched before and has not changed since.
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
  std::string name = fmt::format("build {}", before->number);
  if (before->image != image.id) name += " of " + database_.image(before->image).path;
  notes_.push_back(fmt::format("{}: {}", image.path, describe(match, fits, name)));
}

/// Registers the libraries that runs of the application opened.
void Environment::register_opened(const ApplicationRow& application) {
  const fs::path folder = notes_folder(application);
  std::error_code error;
  const Platform* platform =
      find_platform(machine_of(database_.image(application.main_image).path));
  if (platform == nullptr || !fs::exists(folder, error)) return;
  std::set<fs::path> known;  // follow_links() handles a path that leads to another file now
  for (const ApplicationImage& used : database_.images_of(application.id)) {
    known.insert(used.image.path);
    known.insert(used.loaded_as);
  }
  for (const fs::path& library : read_notes(folder, *platform)) {
    const fs::path path = without_detours(library);
    if (known.contains(path) || !known.insert(real_path(path)).second) continue;
    try {
      const ImageRow added = database_.image(add_opened(application, library));
      if (!is_system_library(added))
        notes_.push_back(fmt::format("{} loaded {}: it belongs to the application now",
                                     application.name, path.string()));
    } catch (const Error& failure) {
      warnings_.warn(failure.what());
    }
  }
}

/// Makes a library that a program of the application opened one of the application's images.
Id Environment::add_opened(const ApplicationRow& application, const fs::path& library) {
  const FileLock rows_stay = keep_rows();
  const fs::path path = without_detours(library);
  const LoaderView view = read_loader_view(library);
  const Platform* platform =
      find_platform(machine_of(database_.image(application.main_image).path));
  if (platform == nullptr || !is_for(view.machine, *platform))
    throw Error(fmt::format("{} opened it, but it is no image for {}", application.name,
                            platform == nullptr ? "a known machine" : platform->name),
                path);
  const Id id = register_file(library, view, 0);
  database_.add_application_image(application.id, id, Role::opened, path);
  return id;
}

fs::path Environment::notes_folder(const ApplicationRow& application) const {
  return database_.files() / "opened" / std::to_string(application.id);
}

}  // namespace respike

// Symbolic links on the way to images: which file a path leads to, and what to do when a link has
// changed.
//
// An image is known by its path without symbolic links, so a file is one image however its path is
// spelt (registering.cc says why). Two changes can make a known path wrong:
//
//   - The image's path leads through a link, because an older Respike kept paths as they were
//     spelt, or because a folder was moved and a link is in its place. The image gets the path of
//     the file, or is merged with the image of that path. An image whose file is missing keeps its
//     path until the file is back.
//   - An application's path (loaded_as) leads to another file, because a link was changed. The
//     application uses the image of that file from now on. A new image follows the image before:
//     its profile is carried over, as between two builds of one image.
//
// Example: prog loads /lib/libz.so.1, a link to libz.so.1.2.13, which ran often. An upgrade puts
// libz.so.1.2.14 there and changes the link. The next command on prog registers libz.so.1.2.14,
// carries the profile over, and replaces libz.so.1.2.13 by it in the application.

#include "applications/links.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "applications/environment.h"
#include "applications/file_lock.h"
#include "applications/image_content.h"
#include "optimizer/base/error.h"
#include "optimizer/image/loader_view.h"
#include "tas/libraries.h"

namespace respike {

namespace fs = std::filesystem;

fs::path without_detours(const fs::path& path) {
  std::error_code error;
  const fs::path direct = path.lexically_normal();
  return fs::equivalent(path, direct, error) ? direct : path;
}

fs::path real_path(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? path : real;
}

/// Gives an image whose path leads through links the path of its file.
void Environment::make_paths_canonical() {
  for (const ImageRow& image : database_.images()) {
    const fs::path real = real_path(image.path);
    if (real == image.path) continue;
    const bool joins = database_.find_image(real).has_value();
    database_.move_image(image.path, real);
    if (joins && image.optimizable)
      notes_.push_back(fmt::format("{} is {}: both are one image now, with the counts of both",
                                   image.path, real.string()));
  }
}

/// Replaces an image of the application when the application's path to it leads to another file
/// now. A file that cannot be an image of the application is reported elsewhere.
void Environment::follow_links(const ApplicationRow& application) {
  if (access_ == Access::read) return;
  const auto all = database_.images_of(application.id);
  for (const ApplicationImage& used : all) {
    const fs::path real = real_path(used.loaded_as);
    std::error_code error;
    if (real == used.image.path || !fs::is_regular_file(real, error) || is_substituted(real) ||
        !foreign_machine(real, application.name, all.front().loaded_as).empty())
      continue;
    try {
      const FileLock rows_stay = keep_rows();
      const Id now = register_file(real, read_loader_view(real), used.image.id);
      if (database_.replace_application_image(application.id, used.image.id, now))
        notes_.push_back(fmt::format("{}: {} leads to {} now, and no longer to {}",
                                     application.name, used.loaded_as, real.string(),
                                     used.image.path));
    } catch (const RowGone&) {  // pruned before it was used: the next command follows the link
    } catch (const Error& problem) {
      warnings_.warn(problem.what());
    }
  }
}

/// The image that the application's path leads to now. A file that is not registered yet (`run`
/// registers no images) counts as new contents of the image that the application uses.
ImageRow Environment::present_image(const ApplicationImage& used) const {
  const fs::path real = real_path(used.loaded_as);
  std::error_code error;
  if (real == used.image.path || real == real_path(used.image.path) || !fs::exists(real, error))
    return used.image;
  if (auto other = database_.find_image(real)) return std::move(*other);
  ImageRow image = used.image;
  image.path = real;
  return image;
}

/// The linked images of an application that a program does not load with this LD_LIBRARY_PATH
/// (`library_path`), each with the file of the same SONAME that the program loads instead. Example:
/// libtool's wrappers of programs set LD_LIBRARY_PATH to the folder `.libs` of the build, while
/// `register` found the libraries that were installed before.
std::map<fs::path, fs::path> Environment::loaded_instead(const ApplicationRow& application,
                                                         const fs::path& program,
                                                         const std::string& library_path) const {
  std::map<fs::path, fs::path> result;
  const ProgramImage image = read_program(program);
  LibrarySearch search = present_search(*image.platform);
  search.library_path = library_path;
  std::map<std::string, fs::path> loaded;  // by SONAME
  for (const LoadedLibrary& library : find_libraries(image, search).loaded)
    loaded[library.view.soname] = real_path(library.path);
  std::set<fs::path> known;
  const auto all = database_.images_of(application.id);
  for (const ApplicationImage& used : all) known.insert(used.image.path);
  for (const ApplicationImage& used : all) {
    const auto found = loaded.find(used.image.soname);
    if (used.role == Role::linked && found != loaded.end() && found->second != used.image.path &&
        !known.contains(found->second))
      result.emplace(used.image.path, found->second);
  }
  return result;
}

}  // namespace respike

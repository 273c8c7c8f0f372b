// Opening the database, finding applications, and the operations that are one call of it.
//
// The other operations: registering.cc, making.cc, running.cc, viewing.cc.

#include "environment/environment.h"

#include <fmt/format.h>

#include <algorithm>

#include "optimizer/base/error.h"

namespace respike {

namespace fs = std::filesystem;

Environment::Environment(const fs::path& database) : database_(database) {}

ApplicationRow Environment::find(const std::string& name) const {
  const auto application = database_.find_application(name);
  if (!application)
    throw Error(
        fmt::format("no application \"{}\" is registered in {}", name, database_.path().string()));
  return *application;
}

/// All images of an application, or those that names stand for.
std::vector<ApplicationImage> Environment::chosen_images(
    const ApplicationRow& application, const std::vector<std::string>& names) const {
  const std::vector<ApplicationImage> all = database_.images_of(application.id);
  if (names.empty()) return all;
  std::vector<ApplicationImage> chosen;
  for (const std::string& name : names) {
    std::error_code error;
    const fs::path absolute = fs::absolute(name, error);
    const auto is_named = [&](const ApplicationImage& used) {
      const fs::path path = used.image.path;
      return path == absolute || path.filename() == name || used.image.soname == name ||
             fs::equivalent(path, absolute, error);
    };
    const auto found = std::find_if(all.begin(), all.end(), is_named);
    if (found == all.end())
      throw Error(fmt::format("it is not an image of {}", application.name), name);
    const auto same = [&](const ApplicationImage& used) {
      return used.image.id == found->image.id;
    };
    if (std::none_of(chosen.begin(), chosen.end(), same)) chosen.push_back(*found);
  }
  return chosen;
}

void Environment::set_mode(const std::string& name, Mode mode) {
  collect();
  database_.set_mode(find(name).id, mode);
}

void Environment::unregister(const std::string& name) {
  collect();
  const ApplicationRow application = find(name);
  // First: the next application may get the same key, and what this one opened is none of its.
  std::error_code ignored;
  fs::remove_all(notes_folder(application), ignored);
  database_.remove_application(application.id);
}

PruneResult Environment::prune(unsigned keep) {
  collect();
  return database_.prune(keep);
}

}  // namespace respike

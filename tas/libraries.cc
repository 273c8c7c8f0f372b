// Finds libraries as the dynamic linker of glibc does.
//
// Problem: to register an application, all images that it consists of must be known. Running the
// dynamic linker itself (ldd) would need the machine or its emulator, and would run any interpreter
// that a foreign file names. So this file follows the dynamic linker's rules; tests compare the
// results with those of the dynamic linker.
//
// Objects are loaded breadth first. A library that object O needs is searched for in this order:
//   1. among the objects loaded already, by a name under which they were requested, or by their
//      SONAME;
//   2. when the name has a slash, that file;
//   3. unless O has a RUNPATH: in the RPATH of O, of the object that loaded O, and so on, and of
//      the program; the RPATH of an object with a RUNPATH does not count;
//   4. in LD_LIBRARY_PATH;
//   5. in O's RUNPATH;
//   6. in the cache that ldconfig wrote;
//   7. in the folders built into the dynamic linker. With DF_1_NODEFLIB in O, neither these folders
//      nor their files in the cache count.
// In every folder, subfolders for the processor come first. A file of another machine is skipped. A
// file that is already loaded, under any name, is not loaded twice. $ORIGIN is the folder of O: for
// the program after following all symbolic links, as the kernel does; for a library the folder in
// which it was found.
//
// Example: /app/bin/prog has the RUNPATH $ORIGIN/../lib and needs libfoo.so.1. Steps 1 to 4 find
// nothing; step 5 opens /app/bin/../lib/libfoo.so.1.
//
// QEMU opens an absolute path below the sysroot if the file is there, else the path itself.
//
// Source: glibc 2.36, elf/dl-load.c (_dl_map_object, open_path, fillin_rpath), elf/dl-deps.c; QEMU
// 7.2, util/path.c. Limits: LD_PRELOAD, LD_AUDIT and set-uid programs are not considered, and other
// C libraries have other rules.

#include "tas/libraries.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

#include "optimizer/base/error.h"
#include "optimizer/base/files.h"
#include "tas/library_cache.h"
#include "tas/staged_path.h"
#include "tas/windows_libraries.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

struct Object {
  std::vector<std::string> names;  // names under which it was requested
  std::string path;                // as its machine sees it
  fs::path file;                   // on this host
  LoaderView view;
  size_t loader = 0;  // index of the object that needed it first
  std::string origin;
  struct stat status {};
};

std::vector<std::string> split(std::string_view list, std::string_view separators) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t end = list.find_first_of(separators);
    parts.emplace_back(list.substr(0, end));
    if (end == list.npos) return parts;
    list.remove_prefix(end + 1);
  }
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Absolute, without "." and empty parts; ".." stays, since it may follow a symbolic link.
std::string absolute_path(const std::string& path) {
  std::error_code error;
  const fs::path whole = path.starts_with('/') ? fs::path(path) : fs::current_path(error) / path;
  if (error)
    throw Error(fmt::format("the present folder cannot be found: {}", error.message()), path);
  fs::path result = "/";
  for (const fs::path& part : whole.relative_path())
    if (!part.empty() && part != ".") result /= part;
  return result;
}

/// The length of the token `name` at the start of `text`, which follows a "$"; 0: another token.
size_t token_length(std::string_view text, std::string_view name) {
  const bool braces = text.starts_with('{');
  if (!text.substr(braces).starts_with(name)) return 0;
  const std::string_view rest = text.substr(braces + name.size());
  const unsigned char next = rest.empty() ? 0 : static_cast<unsigned char>(rest.front());
  if (braces) return next == '}' ? name.size() + 2 : 0;
  return std::isalnum(next) || next == '_' ? 0 : name.size();
}

/// Replaces $ORIGIN and the other tokens; nullopt when a token has no meaning on the platform.
std::optional<std::string> expand(std::string_view text, const std::string& origin,
                                  const Platform& platform) {
  std::string result;
  for (size_t dollar; (dollar = text.find('$')) != text.npos;) {
    result += text.substr(0, dollar);
    text.remove_prefix(dollar + 1);
    const std::pair<std::string_view, std::string_view> tokens[] = {
        {"ORIGIN", origin}, {"PLATFORM", platform.platform_token}, {"LIB", platform.lib_token}};
    const auto* token = std::find_if(std::begin(tokens), std::end(tokens), [&](const auto& t) {
      return token_length(text, t.first) != 0;
    });
    if (token == std::end(tokens)) {
      result += '$';
      continue;
    }
    if (token->second.empty()) return std::nullopt;
    result += token->second;
    text.remove_prefix(token_length(text, token->first));
  }
  return result.append(text);
}

class Search {
 public:
  Search(const ProgramImage& program, const LibrarySearch& options)
      : platform_(*program.platform), options_(options) {
    try {
      cache_ = LibraryCache(read_file(host_file(options.cache)));
    } catch (const Error&) {
    }
    Object main;
    main.path = main.file = program.path;
    main.view = program.view;
    main.origin = folder_of(fs::canonical(program.path));
    stat(program.path.c_str(), &main.status);
    objects_.push_back(std::move(main));
  }

  Libraries run();

 private:
  fs::path host_file(const fs::path& path) const;
  std::vector<std::string> folders(const std::string& list, std::string_view separators,
                                   const Object& object) const;
  std::optional<size_t> loaded_as(const std::string& name);
  std::optional<Object> open(const std::string& path) const;
  std::optional<Object> open_in(const std::vector<std::string>& folders,
                                const std::string& name) const;
  std::optional<Object> open_by_rpath(const std::string& name, size_t needed_by) const;
  std::optional<Object> open_cached(const std::string& name, bool no_default_folders) const;
  std::optional<Object> open_needed(const std::string& name, size_t needed_by) const;
  void add(Object object, const std::string& name, size_t loader);
  bool load(const std::string& name, size_t needed_by);

  const Platform& platform_;
  const LibrarySearch& options_;
  LibraryCache cache_;
  std::vector<Object> objects_;  // [0] is the program
};

fs::path Search::host_file(const fs::path& path) const {
  if (!options_.staged_tree.empty())
    if (auto file = staged_path(options_.staged_tree, path)) return *file;
  return host_path(path, options_.sysroot);
}

/// The folders of a list, absolute. An empty element is the present folder; an empty list has no
/// folders.
std::vector<std::string> Search::folders(const std::string& list, std::string_view separators,
                                         const Object& object) const {
  std::vector<std::string> result;
  if (list.empty()) return result;
  for (const std::string& part : split(list, separators))
    if (const auto folder = expand(part, object.origin, platform_)) {
      const std::string absolute = absolute_path(*folder);
      if (std::find(result.begin(), result.end(), absolute) == result.end())
        result.push_back(absolute);
    }
  return result;
}

std::optional<size_t> Search::loaded_as(const std::string& name) {
  for (size_t i = 0; i < objects_.size(); ++i) {
    std::vector<std::string>& names = objects_[i].names;
    if (std::find(names.begin(), names.end(), name) != names.end()) return i;
    if (objects_[i].view.soname != name) continue;
    names.push_back(name);
    return i;
  }
  return std::nullopt;
}

/// The library at `path`; nullopt when there is no library for this machine.
std::optional<Object> Search::open(const std::string& path) const {
  Object object;
  object.path = path;
  object.file = host_file(path);
  if (stat(object.file.c_str(), &object.status) != 0 || !S_ISREG(object.status.st_mode))
    return std::nullopt;
  try {
    object.view = read_loader_view(object.file);
  } catch (const Error&) {
    return std::nullopt;
  }
  if (!is_for(object.view.machine, platform_) || !object.view.shared) return std::nullopt;
  object.origin = folder_of(path);
  return object;
}

std::optional<Object> Search::open_in(const std::vector<std::string>& folders,
                                      const std::string& name) const {
  for (const std::string& folder : folders) {
    const std::string base = folder.ends_with('/') ? folder : folder + "/";
    for (const std::string_view subfolder : platform_.library_subfolders)
      if (auto found = open(base + std::string(subfolder) + "/" + name)) return found;
    if (auto found = open(base + name)) return found;
  }
  return std::nullopt;
}

std::optional<Object> Search::open_by_rpath(const std::string& name, size_t needed_by) const {
  if (objects_[needed_by].view.runpath) return std::nullopt;
  for (size_t at = needed_by;; at = objects_[at].loader) {
    const Object& object = objects_[at];
    if (object.view.rpath)
      if (auto found = open_in(folders(*object.view.rpath, ":", object), name)) return found;
    if (at == 0) return std::nullopt;
  }
}

std::optional<Object> Search::open_cached(const std::string& name, bool no_default_folders) const {
  const auto path = cache_.find(name, platform_.cache_flags, platform_.library_subfolders);
  if (!path) return std::nullopt;
  const bool in_default_folder = std::any_of(
      platform_.library_folders.begin(), platform_.library_folders.end(),
      [&](std::string_view folder) { return path->starts_with(std::string(folder) + "/"); });
  return no_default_folders && in_default_folder ? std::nullopt : open(*path);
}

/// Finds a file for a name that no loaded object has (steps 2 to 7).
std::optional<Object> Search::open_needed(const std::string& name, size_t needed_by) const {
  const Object& object = objects_[needed_by];
  if (name.find('/') != name.npos) return open(absolute_path(name));
  if (auto found = open_by_rpath(name, needed_by)) return found;
  if (auto found = open_in(folders(options_.library_path, ":;", objects_.front()), name))
    return found;
  if (object.view.runpath)
    if (auto found = open_in(folders(*object.view.runpath, ":", object), name)) return found;
  if (auto found = open_cached(name, object.view.no_default_folders)) return found;
  if (object.view.no_default_folders) return std::nullopt;
  return open_in({platform_.library_folders.begin(), platform_.library_folders.end()}, name);
}

/// Adds an object; when its file is loaded already, only adds the name to that object.
void Search::add(Object object, const std::string& name, size_t loader) {
  for (Object& other : objects_)
    if (other.status.st_dev == object.status.st_dev &&
        other.status.st_ino == object.status.st_ino) {
      other.names.push_back(name);
      return;
    }
  object.names = {name};
  if (object.path != name) object.names.push_back(object.path);
  object.loader = loader;
  objects_.push_back(std::move(object));
}

/// Loads a library; false when it is not found. Tokens in `name` are expanded already.
bool Search::load(const std::string& name, size_t needed_by) {
  if (loaded_as(name)) return true;
  auto found = open_needed(name, needed_by);
  if (!found) return false;
  add(std::move(*found), name, needed_by);
  return true;
}

Libraries Search::run() {
  Libraries result;
  std::optional<Object> interpreter;
  if (const std::string& name = objects_.front().view.interpreter; !name.empty()) {
    interpreter = open(name);
    if (interpreter)
      add(*interpreter, name, 0);
    else
      result.missing.push_back({name, objects_.front().file});
  }
  for (size_t i = 0; i < objects_.size(); ++i) {
    const std::vector<LoaderView::Dependency> needed = objects_[i].view.needed;  // objects_ grows
    for (const LoaderView::Dependency& dependency : needed) {
      const auto name = expand(dependency.name, objects_[i].origin, platform_);
      if ((name && load(*name, i)) || dependency.optional) continue;
      result.missing.push_back({name.value_or(dependency.name), objects_[i].file});
    }
  }
  for (size_t i = 1; i < objects_.size(); ++i)
    result.loaded.push_back(
        {objects_[i].names.front(), objects_[i].file, std::move(objects_[i].view)});
  return result;
}

}  // namespace

const Platform& platform_of(const FileMachine& machine) {
  return platform_of(*machine.known, machine.windows);
}

bool is_for(const FileMachine& machine, const Platform& platform) {
  return machine.known == platform.machine && machine.windows == platform.windows;
}

ProgramImage read_program(const fs::path& path) {
  ProgramImage program = read_program_or_library(path);
  if (!program.view.is_program()) throw Error("it is a library, not a program", path);
  return program;
}

ProgramImage read_program_or_library(const fs::path& path) {
  ProgramImage program;
  program.path = absolute_path(path);
  std::error_code error;
  const fs::file_status status = fs::status(program.path, error);
  if (!fs::exists(status)) throw Error("there is no such program", path);
  if (!fs::is_regular_file(status)) throw Error("it is not a program", path);
  program.view = read_loader_view(program.path);
  if (!program.view.machine.known)
    throw Error("it is a program for a machine that Respike does not know", path);
  program.platform = &platform_of(program.view.machine);
  // Windows has no permission to execute, so files from Windows lack it.
  if (program.view.is_program() && !program.platform->windows &&
      access(program.path.c_str(), X_OK) != 0)
    throw Error("it may not be executed", path);
  return program;
}

fs::path host_path(const fs::path& path, const std::string& sysroot) {
  if (!sysroot.empty() && path.is_absolute()) {
    fs::path below = sysroot + path.string();
    if (access(below.c_str(), F_OK) == 0) return below;
  }
  return path;
}

LibrarySearch present_search(const Platform& platform) {
  const char* list = std::getenv("LD_LIBRARY_PATH");
  return {.library_path = list ? list : "", .sysroot = sysroot_of(platform)};
}

std::vector<fs::path> folders_by_origin(const LoaderView& view, const fs::path& origin,
                                        const Platform& platform) {
  std::vector<fs::path> folders;
  const auto add = [&](const std::string& text, bool is_file) {
    if (text.find("ORIGIN") == text.npos) return;
    const auto expanded = expand(text, origin.string(), platform);
    if (!expanded) return;
    const fs::path path = fs::path(*expanded).lexically_normal();
    const fs::path folder = is_file || path.filename().empty() ? path.parent_path() : path;
    folders.push_back(folder);
    if (is_file) return;
    for (const std::string_view subfolder : platform.library_subfolders)
      folders.push_back(folder / subfolder);
  };
  for (const auto* list : {&view.rpath, &view.runpath})
    if (*list)
      for (const std::string& part : split(**list, ":")) add(part, false);
  for (const LoaderView::Dependency& dependency : view.needed) add(dependency.name, true);
  return folders;
}

std::vector<std::string> variables_to_find_libraries(const fs::path& program,
                                                     const fs::path& original) {
  const ProgramImage moved = read_program(program);
  if (moved.platform->windows) return {};
  const LibrarySearch search = present_search(*moved.platform);
  if (find_libraries(moved, search).missing.empty()) return {};
  const ProgramImage there = read_program(original);
  const auto folders =
      folders_by_origin(there.view, fs::canonical(there.path).parent_path(), *there.platform);
  if (folders.empty()) return {};
  std::string list = search.library_path;
  for (const fs::path& folder : folders) list += (list.empty() ? "" : ":") + folder.string();
  return {"LD_LIBRARY_PATH=" + list};
}

Libraries find_libraries(const ProgramImage& program, const LibrarySearch& search) {
  if (!program.view.dynamic) return {};
  if (program.platform->windows) return find_windows_libraries(program);
  return Search(program, search).run();
}

}  // namespace respike

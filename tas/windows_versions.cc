// Connects the versions of a program and its libraries by their import tables.
//
// Windows has no mounts that could put another file in place of a library. As in DEC's Spike,
// import tables do this: if an image names a library that has a version, a copy of the image names
// the path of that version. An image without a version also gets such a copy if it imports from an
// image with a version; else both the original and the version of one library would be in the
// process.
//
//   user.exe      optimized     folder/0-user.exe       imports from folder/1-... and folder/2-...
//   middle.dll    left alone    folder/1-middle.dll     imports from folder/2-counting.dll
//   counting.dll  optimized     folder/2-counting.dll
//
// The loader gets a table of versions and originals (emulators/nt/substitutes.c): it runs the
// version of the program, gives programs the paths of originals, and opens a version when
// LoadLibrary() is called with its original.
//
// The folder's name is a hash of the files from which it was made. So folders do not change, and a
// running program keeps its folder when the next start gets another one.
//
// Limit: a program that reads its own table of imports sees the paths of versions.

#include "tas/windows_versions.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <string>

#include "optimizer/base/bytes.h"
#include "optimizer/base/error.h"
#include "optimizer/base/files.h"
#include "optimizer/base/hash.h"
#include "optimizer/image/image.h"
#include "optimizer/image/pe/linkage.h"
#include "tas/windows_libraries.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTable = "table";

struct Version {
  fs::path original;   // without symbolic links
  fs::path made_from;  // the substitute, or the original
  bool changed = false;
  std::string name;                  // of the copy, in the folder
  std::vector<std::string> imports;  // names of libraries, as spelt
  struct stat status {};             // of the original
};

std::vector<Version> collect(const std::vector<Substitution>& substitutions,
                             const std::vector<fs::path>& unchanged) {
  std::vector<Version> versions;
  const auto add = [&](const fs::path& original, const fs::path& made_from, bool changed) {
    Version version;
    version.original = original;
    version.made_from = made_from;
    version.changed = changed;
    version.name = fmt::format("{}-{}", versions.size(), original.filename().string());
    if (stat(original.c_str(), &version.status) != 0) throw Error(std::strerror(errno), original);
    if (original.string().find_first_of("\t\n") != std::string::npos)
      throw Error("versions of files with tabs and line ends in their paths cannot be run",
                  original);
    versions.push_back(std::move(version));
  };
  for (const Substitution& s : substitutions) add(s.original, s.substitute, true);
  for (const fs::path& path : unchanged) {
    std::error_code error;
    const fs::path original = fs::canonical(path, error);
    if (!error) add(original, original, false);
  }
  return versions;
}

uint64_t time_of(const struct stat& status) {
  return uint64_t(status.st_mtim.tv_sec) * 1000000000u + uint64_t(status.st_mtim.tv_nsec);
}

/// The files from which a set of versions is made. Files of the store never change.
std::string description_of(const std::vector<Version>& versions) {
  std::string text = "1\n";
  for (const Version& version : versions)
    text += fmt::format("{}\t{}\t{}\t{}\n", version.original.string(), version.status.st_size,
                        time_of(version.status), version.made_from.string());
  return text;
}

std::string name_of(const std::string& description) {
  std::string name;
  for (const uint8_t byte :
       hash128({reinterpret_cast<const uint8_t*>(description.data()), description.size()}))
    name += fmt::format("{:02x}", byte);
  return name;
}

/// Removes unchanged images that import from no image with a version.
void keep_needed(std::vector<Version>& versions) {
  std::map<std::string, size_t> by_name;
  for (size_t i = 0; i < versions.size(); ++i)
    by_name.emplace(windows_library_name(versions[i].original), i);
  std::vector<bool> kept(versions.size());
  for (size_t i = 0; i < versions.size(); ++i) kept[i] = versions[i].changed;
  for (bool grown = true; grown;) {
    grown = false;
    for (size_t i = 0; i < versions.size(); ++i) {
      if (kept[i]) continue;
      for (const std::string& import : versions[i].imports) {
        const auto library = by_name.find(windows_library_name(import));
        if (library != by_name.end() && kept[library->second]) kept[i] = grown = true;
      }
    }
  }
  size_t number = 0;
  std::erase_if(versions, [&](const Version&) { return !kept[number++]; });
}

void make_copies(std::vector<Version>& versions, const fs::path& folder, const fs::path& made_in) {
  std::vector<std::vector<uint8_t>> contents;
  std::string table;
  std::erase_if(versions, [](const Version& version) {  // imports of an unreadable image cannot be
                                                        // renamed
    return !version.changed && access(version.made_from.c_str(), R_OK) != 0;
  });
  for (Version& version : versions) {
    const std::vector<uint8_t> bytes = read_file(version.made_from);
    for (const pe::ImportedLibrary& library : pe::read_linkage(bytes, version.made_from).libraries)
      version.imports.push_back(library.name);
  }
  keep_needed(versions);
  std::map<std::string, fs::path> by_name;
  for (const Version& version : versions)
    by_name.emplace(windows_library_name(version.original), folder / version.name);
  for (const Version& version : versions) {
    std::map<std::string, std::string> names;
    for (const std::string& import : version.imports)
      if (const auto other = by_name.find(windows_library_name(import)); other != by_name.end())
        names.emplace(import, other->second);
    std::vector<uint8_t> bytes = read_file(version.made_from);
    if (!names.empty()) bytes = pe::with_renamed_libraries(bytes, version.made_from, names);
    write_file(made_in / version.name, bytes, version.original);
    table += fmt::format("{}\t{}\t{}\t{}\n", version.original.string(), version.status.st_size,
                         time_of(version.status), (folder / version.name).string());
  }
  write_file(made_in / kTable, {reinterpret_cast<const uint8_t*>(table.data()), table.size()}, {});
}

}  // namespace

fs::path make_windows_versions(const std::vector<Substitution>& substitutions,
                               const std::vector<fs::path>& unchanged, const fs::path& folder) {
  std::vector<Version> versions = collect(substitutions, unchanged);
  const fs::path all = fs::absolute(folder);
  const fs::path place = all / name_of(description_of(versions));
  std::error_code error;
  if (!fs::exists(place / kTable, error)) {
    fs::create_directories(all, error);
    // Another process may make the same folder: the first one wins.
    const fs::path made_in = all / fmt::format(".{}", getpid());
    fs::remove_all(made_in, error);
    fs::create_directory(made_in, error);
    if (error) throw Error(fmt::format("it cannot be made: {}", error.message()), made_in);
    // A user who can write there decides what runs.
    constexpr fs::perms kOthersRead = static_cast<fs::perms>(0755);
    fs::permissions(all, kOthersRead, error);
    fs::permissions(made_in, kOthersRead, error);
    make_copies(versions, place, made_in);
    fs::rename(made_in, place, error);
    if (error) fs::remove_all(made_in, error);
    if (!fs::exists(place / kTable, error)) throw Error("it cannot be made", place);
  }
  fs::last_write_time(place / kTable, fs::file_time_type::clock::now(), error);
  return place / kTable;
}

void prune_windows_versions(const fs::path& folder) {
  std::error_code error;
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::error_code missing;
    auto time = fs::last_write_time(entry.path() / kTable, missing);
    if (missing) time = fs::last_write_time(entry.path(), missing);
    if (!missing && time < old) fs::remove_all(entry.path(), missing);
  }
}

}  // namespace respike

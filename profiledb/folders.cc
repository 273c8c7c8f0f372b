// Folders that other processes change at the same time. The standard library's iterators throw when
// an entry disappears while they look at it; names_in() does not, since it reads only names.

#include "profiledb/folders.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "optimizer/base/error.h"

namespace respike {
namespace {

[[noreturn]] void fail(const char* what, const std::filesystem::path& path, int error) {
  throw Error(fmt::format("the folder cannot be {}: {}", what, std::strerror(error)), path);
}

}  // namespace

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  std::vector<std::string> names;
  if (entries == nullptr) {
    if (errno != ENOENT) fail("read", folder, errno);
    return names;
  }
  while (const dirent* entry = readdir(entries.get()))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  std::sort(names.begin(), names.end());
  return names;
}

void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) fail("made", path, error.value());
}

void make_private_folder(const std::filesystem::path& path) {
  make_folder(path.parent_path());
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) fail("made", path, errno);
}

void sync_folder(const std::filesystem::path& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) fail("read", folder, errno);
  const int result = fsync(file), error = errno;
  close(file);
  if (result != 0 && error != EINVAL) fail("written", folder, error);
}

}  // namespace respike

// Replaces the files of a package's staged tree (DESTDIR) by their optimized versions.
//
// A package's build installs an image under any name and mode, so copies are found by contents:
// every regular file of the tree whose size and content hash fit an original, or that equals the
// replacement already. A replacement has a new inode, so owner, group, mode and file capabilities
// of the old file are set again; if the owner cannot be set, the set-user-ID and set-group-ID bits
// are dropped. Of a file with several names the first is written, and the others become hard links
// to it.
//
// Example: usr/bin/app and usr/bin/app-2 are one file. replace() of the first writes a new inode;
// replace() of the second finds the old inode in `replaced_`, and links usr/bin/app-2 to
// usr/bin/app.

#include "applications/staged_tree.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "optimizer/base/error.h"
#include "optimizer/base/files.h"
#include "optimizer/image/image.h"

namespace respike {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& file, const char* what) {
  throw Error(fmt::format("{}: {}", what, std::strerror(errno)), file);
}

struct stat status_of(const fs::path& file) {
  struct stat status = {};
  if (lstat(file.c_str(), &status) != 0) fail(file, "the file cannot be looked at");
  return status;
}

/// Gives a file another name in one step, replacing the file of that name.
void replace_by_link(const fs::path& file, const fs::path& name) {
  const fs::path fresh = name.string() + ".respike-link";
  std::error_code error;
  fs::remove(fresh, error);
  fs::create_hard_link(file, fresh, error);
  if (!error) fs::rename(fresh, name, error);
  if (error) throw Error(fmt::format("the link cannot be made: {}", error.message()), name);
}

}  // namespace

StagedTree::StagedTree(fs::path root, fs::path left_out)
    : root_(std::move(root)), left_out_(std::move(left_out)) {
  std::error_code error;
  if (!fs::is_directory(root_, error)) throw Error("there is no such folder", root_);
}

std::vector<std::vector<fs::path>> StagedTree::find_copies(
    std::span<const Version> versions) const {
  std::vector<std::vector<fs::path>> copies(versions.size());
  std::error_code error, ignored;
  auto at = fs::recursive_directory_iterator(root_, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const fs::path& file = at->path();
    if (at->is_symlink(ignored)) continue;  // is_directory() would follow the link
    if (at->is_directory(ignored) && fs::equivalent(file, left_out_, ignored))
      at.disable_recursion_pending();
    if (!at->is_regular_file(ignored)) continue;
    const uint64_t size = at->file_size(ignored);
    std::optional<std::vector<uint8_t>> contents;
    for (size_t i = 0; i < versions.size(); ++i) {
      const Version& version = versions[i];
      const bool may_be_original = size == version.original_size;
      if (version.replacement.empty() || (!may_be_original && size != version.replacement.size()))
        continue;
      if (!contents) contents = read_file(file);
      if ((may_be_original && content_hash(*contents) == version.original) ||
          std::ranges::equal(*contents, version.replacement))
        copies[i].push_back(file);
    }
  }
  if (error) throw Error(fmt::format("the folder cannot be read: {}", error.message()), root_);
  for (auto& files : copies) std::ranges::sort(files);
  return copies;
}

void StagedTree::replace(const fs::path& file, std::span<const uint8_t> bytes) {
  constexpr mode_t kAccess = 0777, kAll = 07777;
  constexpr const char* kCapabilities = "security.capability";
  const struct stat before = status_of(file);
  const auto [first, is_new] = replaced_.emplace(std::pair(before.st_dev, before.st_ino), file);
  if (!is_new) return replace_by_link(first->second, file);
  char capabilities[256];
  const ssize_t size = getxattr(file.c_str(), kCapabilities, capabilities, sizeof capabilities);
  write_file(file, bytes, {});
  const struct stat now = status_of(file);
  const bool same_owner = (now.st_uid == before.st_uid && now.st_gid == before.st_gid) ||
                          lchown(file.c_str(), before.st_uid, before.st_gid) == 0;
  if (chmod(file.c_str(), before.st_mode & (same_owner ? kAll : kAccess)) != 0)
    fail(file, "its mode cannot be set");
  if (size > 0 && setxattr(file.c_str(), kCapabilities, capabilities, size_t(size), 0) != 0)
    fail(file, "its capabilities cannot be set");
}

}  // namespace respike

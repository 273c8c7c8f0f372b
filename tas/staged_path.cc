// Follows links as they will lead when a staged tree is installed.
//
// Problem: the kernel takes an absolute link in a staged tree for one to a file of this system,
// which is another version of the file or none. So the path is followed here, part by part: each
// part is taken from the tree when the tree has it, else from this system, which is what the part
// will be when the tree has been copied over this system. Example: the tree has usr/lib/libx.so, a
// link to /lib/libx.so.1, and lib/libx.so.1; this system has /usr, and /lib as a link to usr/lib.
// Of /usr/lib/libx.so, `usr` and `usr/lib` are folders of both, and libx.so is the tree's link.
// It leads to /lib, which is the tree's folder, and to libx.so.1 in it.

#include "tas/staged_path.h"

#include <algorithm>
#include <vector>

namespace respike {

namespace fs = std::filesystem;

std::optional<fs::path> staged_path(const fs::path& root, const fs::path& path) {
  constexpr int kMostLinks = 40;  // as in Linux
  std::vector<fs::path> ahead;    // parts that are still to follow, the next one last
  const auto put_ahead = [&](const fs::path& more) {
    const std::vector<fs::path> parts(more.begin(), more.end());
    ahead.insert(ahead.end(), parts.rbegin(), parts.rend());
  };
  std::error_code error;
  const auto is_there = [&](const fs::path& file) {
    return fs::exists(fs::symlink_status(file, error));
  };
  fs::path at;  // as it will be called, without the first slash
  bool in_tree = false, through_tree = false;
  int links = 0;
  put_ahead(path.relative_path());
  while (!ahead.empty()) {
    const fs::path part = std::move(ahead.back());
    ahead.pop_back();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      at = at.parent_path();
      in_tree = is_there(root / at);
      continue;
    }
    in_tree = is_there(root / at / part);
    const fs::path file = (in_tree ? root : fs::path("/")) / at / part;
    if (!is_there(file)) return std::nullopt;
    if (!fs::is_symlink(file, error)) {
      at /= part;
      continue;
    }
    if (++links > kMostLinks) return std::nullopt;
    through_tree = through_tree || in_tree;
    const fs::path target = fs::read_symlink(file, error);
    if (target.is_absolute()) at.clear();
    put_ahead(target.relative_path());
  }
  if (!in_tree && !through_tree) return std::nullopt;
  fs::path found = (in_tree ? root : fs::path("/")) / at;
  // The name that was asked for, if the kernel finds the same file by it.
  fs::path named = root / path.relative_path();
  if (in_tree && fs::equivalent(named, found, error)) return named;
  return found;
}

}  // namespace respike

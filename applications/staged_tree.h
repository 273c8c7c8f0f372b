#pragma once
// A folder with the files of a package, each at the place where it will be installed (DESTDIR). Its
// files are found by their contents, and replaced.

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "profiledb/image_store.h"

namespace respike {

class StagedTree {
 public:
  /// `left_out`: a folder whose files do not belong to the tree, if it is below `root`. Throws
  /// Error when there is no folder `root`.
  StagedTree(std::filesystem::path root, std::filesystem::path left_out);

  struct Version {
    uint64_t original_size = 0;
    ContentHash original;
    std::span<const uint8_t> replacement;  // empty: nothing is to be replaced
  };
  /// For each version: the files that have the contents of the original, or already of the
  /// replacement, sorted. Symbolic links are not followed. Throws Error when a folder cannot be
  /// read.
  std::vector<std::vector<std::filesystem::path>> find_copies(
      std::span<const Version> versions) const;

  /// Replaces the contents of a file in one step. The file keeps its owner, group, mode and
  /// capabilities; if the owner cannot be kept, the set-user-ID, set-group-ID and sticky bits are
  /// cleared. If all names of one file are replaced, one after the other, they remain names of one
  /// file.
  void replace(const std::filesystem::path& file, std::span<const uint8_t> bytes);

 private:
  std::filesystem::path root_, left_out_;
  std::map<std::pair<dev_t, ino_t>, std::filesystem::path> replaced_;  // by device and inode of the
                                                                       // old files
};

}  // namespace respike

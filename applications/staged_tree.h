#pragma once
// A folder with the files of a package, each where it will be installed (DESTDIR): its files are
// found by their contents, and replaced.

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
  /// By version: the files that have the contents of the original, or of the replacement already,
  /// sorted. Symbolic links are not followed. Throws Error when a folder cannot be read.
  std::vector<std::vector<std::filesystem::path>> find_copies(
      std::span<const Version> versions) const;

  /// Replaces the contents of a file in one step. The file keeps its owner, group, mode and
  /// capabilities; where the owner cannot be kept, the bits go that lend the owner's identity. Of a
  /// file with several names, all of which are replaced one after the other, the names stay those
  /// of one file.
  void replace(const std::filesystem::path& file, std::span<const uint8_t> bytes);

 private:
  std::filesystem::path root_, left_out_;
  std::map<std::pair<dev_t, ino_t>, std::filesystem::path> replaced_;  // by what the files were
};

}  // namespace respike

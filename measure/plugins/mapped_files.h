#pragma once
// Which file a plugin's program has mapped where, as the host sees it.

#include <cstdint>
#include <string>
#include <vector>

namespace respike::measure {

struct MappedFile {
  uint64_t start = 0, end = 0;  // host addresses
  uint64_t offset = 0;          // in the file, of the first byte
  std::string path;
};

class MappedFiles {
 public:
  /// Reads /proc/self/maps again. Ends the process by fail() when that is not possible. `program`:
  /// the plugin's name.
  void read(const char* program);

  /// The mapping that holds a host address; null if no file is mapped there.
  const MappedFile* find(uint64_t address) const;
  const std::vector<MappedFile>& all() const { return files_; }

 private:
  std::vector<MappedFile> files_;  // by address
};

/// Whether a system call of the emulated program may change what is mapped.
bool may_change_mappings(bool is_alpha, int64_t number);

}  // namespace respike::measure

#pragma once
// The files that a plugin's program has mapped, and their host addresses.

#include <cstdint>
#include <string>
#include <vector>

namespace respike::measure {

struct MappedFile {
  uint64_t start = 0, end = 0;  // host addresses
  uint64_t offset = 0;          // offset of the first byte in the file
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

/// Whether a system call of the emulated program may change mappings.
bool may_change_mappings(bool is_alpha, int64_t number);

}  // namespace respike::measure

#pragma once
// Names in a file that end in a zero.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "optimizer/base/error.h"

namespace respike {

/// Reads names of symbols. Names may overlap, so a small file can have many long names: their total
/// length is limited.
class BoundedNames {
 public:
  BoundedNames(std::span<const uint8_t> file, const std::string& name)
      : name_(name), budget_(4 * file.size() + kLongest) {}

  /// The name at the start of `bytes`, which are at `offset` of the file. Throws Error when the
  /// name has no end.
  std::string_view read(std::span<const uint8_t> bytes, uint64_t offset) {
    const auto part = bytes.first(std::min(bytes.size(), kLongest));
    const auto end = std::ranges::find(part, 0);
    if (end == part.end()) throw Error("a name is too long, or is cut off", name_, offset);
    const auto size = static_cast<size_t>(end - part.begin());
    if (size > budget_) throw Error("its names are too long", name_, offset);
    budget_ -= size;
    return {reinterpret_cast<const char*>(part.data()), size};
  }

 private:
  static constexpr size_t kLongest = 4096;

  const std::string& name_;  // of the file
  uint64_t budget_;          // bytes
};

}  // namespace respike

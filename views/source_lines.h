#pragma once
// The line tables of an image: which source line each instruction comes from.

#include <cstdint>
#include <string>
#include <vector>

#include "optimizer/image/image.h"

namespace respike {

/// Code of one line: the range from one row of a table to the next.
struct LineRange {
  uint64_t start = 0, end = 0;  // addresses in the image
  uint32_t file = 0;            // index of SourceLines::files()
  uint32_t line = 0;            // 0: code of no line
};

class SourceLines {
 public:
  SourceLines() = default;
  /// Reads the tables. Tables that LLVM cannot read are left out.
  explicit SourceLines(const Image& image);

  bool empty() const { return ranges_.empty(); }
  const std::vector<LineRange>& ranges() const { return ranges_; }  // by start
  /// Paths as the compiler wrote them, made absolute by the compiler's folder.
  const std::vector<std::string>& files() const { return files_; }
  /// The row of an address; nullptr: no row covers it. Binary search.
  const LineRange* find(uint64_t address) const;

 private:
  std::vector<LineRange> ranges_;
  std::vector<std::string> files_;
};

}  // namespace respike

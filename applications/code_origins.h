#pragma once
// The procedures of an image, and the origin of the code of its optimized version: code of a
// procedure has the same name before and after, so that the cycles of both can be compared.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "measure/symbol_names.h"
#include "optimizer/base/diagnostics.h"

namespace respike {

class CodeOrigins {
 public:
  /// `optimized`: the file of the version. When the version cannot be followed, warns and uses the
  /// symbols of both files. Throws Error when a file cannot be read.
  CodeOrigins(const std::filesystem::path& original, const std::filesystem::path& optimized,
              Diagnostics& diagnostics);

  /// The procedure of the original whose code stands at an offset of the original file.
  std::string in_original(uint64_t offset) const { return name(before_, pieces_before_, offset); }
  /// The procedure of the original that the code at an offset of the version comes from.
  std::string in_optimized(uint64_t offset) const { return name(after_, pieces_after_, offset); }

 private:
  struct Piece {
    uint64_t start = 0, end = 0;  // addresses
    std::string name;
  };
  using Pieces = std::vector<Piece>;  // by address

  static std::string name(const measure::SymbolNames& symbols, const Pieces& pieces,
                          uint64_t offset);

  measure::SymbolNames before_, after_;
  Pieces pieces_before_, pieces_after_;
};

}  // namespace respike

#pragma once
// Turns rows of states back into call frame instructions.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/base/bytes.h"
#include "optimizer/ir/unwind.h"

namespace respike {

struct CfiRow {
  uint64_t address = 0;  // from here on ...
  uint32_t state = 0;    // ... this index of UnwindTables::states
};

class CfiWriter {
 public:
  explicit CfiWriter(const UnwindTables& tables)
      : tables_(tables), last_row_(tables.states.size(), 0) {}

  /// Appends the program of an FDE. Neighbouring rows differ in state, and all states belong to one
  /// CIE. Throws Error when a state cannot be expressed with this CIE.
  void write(std::span<const CfiRow> rows, ByteWriter& out);

 private:
  void choose_remembered(std::span<const CfiRow> rows);
  size_t cost(std::span<const CfiRow> rows, size_t row);

  const UnwindTables& tables_;
  std::vector<uint32_t> last_row_;  // of a state, + 1; 0 outside of choose_remembered
  std::vector<uint32_t> recurs_;    // row -> the row that restores it, or 0
  std::vector<uint32_t> open_;      // rows that a remembered state may still start or end at
  ByteWriter scratch_;
};

}  // namespace respike

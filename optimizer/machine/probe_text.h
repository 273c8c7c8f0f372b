#pragma once
// Code of an output from a place on, as far as control falls through: readers of probes read it.

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "optimizer/ir/code_cursor.h"
#include "optimizer/ir/program.h"

namespace respike {

/// The instructions are the lines of the text, numbered from 0. No-ops and changes of the unwind
/// state are left out, and control runs from line to line only by fall-through edges. Reads further
/// lines on demand.
class ProbeText {
 public:
  static constexpr size_t kLongest = 48;  // lines

  ProbeText(const Program& program, const CodeCursor& start);

  /// A line; nullptr after the end of the text.
  const Instruction* operator[](size_t line) {
    return reach(line) ? lines_[line].instruction : nullptr;
  }
  /// Place, address and bytes of an existing line.
  CodeCursor place(size_t line) const { return lines_[line].place; }
  uint64_t address(size_t line) const;
  std::span<const uint8_t> bytes(size_t line) const;
  /// The target of the line's reference or, for a direct branch, of the branch; nullopt for other
  /// lines.
  std::optional<CodeLocation> target(size_t line) const;
  /// Whether a direct branch leads back to an earlier line.
  bool leads_to(size_t branch, size_t line) const;
  /// The flags of the previous line, and of the no-ops between both.
  uint8_t flags_before(size_t line) const { return lines_[line].flags_before; }
  /// The place after an existing line, still in its block.
  CodeCursor behind(size_t line) const;

 private:
  struct Line {
    const Instruction* instruction;
    CodeCursor place;
    bool first;  // of its block
    uint8_t flags_before;
  };

  bool reach(size_t line);

  const Program& program_;
  CodeCursor next_;
  bool at_start_;      // of the block of next_
  uint8_t flags_ = 0;  // since the last line
  bool ended_ = false;
  size_t size_ = 0;
  std::array<Line, kLongest> lines_;
};

}  // namespace respike

#pragma once
// The code of an image in the order of memory, with how often each piece runs: for maps.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/ir/program.h"
#include "optimizer/replay/rewritten.h"

namespace respike {

/// A stretch of code that belongs to one block.
struct LayoutPiece {
  uint64_t address = 0, size = 0;  // in the image
  uint64_t count = 0;              // how often it runs
  uint32_t procedure = kNone;      // index of LayoutView::procedures
  BlockId block = kNone;           // block of the original; kNone: code that the original does not
                                   // have
  std::optional<SplitProcedure::Part> part;  // part of a procedure that hot-cold optimization
                                             // changed
};

/// Code that runs, at the granularity of caches.
struct TouchedCode {
  uint64_t pages = 0, lines = 0;  // pages and lines in which code runs
  uint64_t bytes = 0;             // of the pieces that run
  uint64_t text = 0;              // bytes of all pieces
};

struct LayoutView {
  std::vector<std::string> procedures;  // names
  std::vector<uint64_t> addresses;      // of the same procedures in the original; 0: the original
                                        // has no such procedure
  std::vector<LayoutPiece> pieces;      // by address; they do not overlap
  uint64_t line = 0;                    // bytes of a line of the instruction cache
  uint64_t cache = 0;                   // distance in bytes at which addresses map to the same
                                        // lines again
  uint64_t page = 0;                    // bytes
  TouchedCode touched;
};

/// The layout of a lifted program, with the counts of its blocks.
LayoutView view_layout(const Program& program);

/// The layout of an output.
LayoutView view_layout(const RewrittenProgram& rewritten);

/// "hot part", "cold part", "clone", "stub".
std::string_view name_of(SplitProcedure::Part part);

}  // namespace respike

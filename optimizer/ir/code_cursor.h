#pragma once
// A place in a program's code.

#include "optimizer/ir/program.h"

namespace respike {

/// An instruction of a block.
struct CodeCursor {
  ProcedureId procedure = kNone;
  BlockId block = kNone;
  uint32_t index = 0;  // of the instruction; may be one past the last

  bool operator==(const CodeCursor&) const = default;
};

}  // namespace respike

#pragma once
// What a lifted program holds, in figures, and what of it stays where it is.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

struct ProcedureNote {
  std::string name;
  std::string reason;
};

/// Figures of a lifted program.
struct ProgramSummary {
  uint64_t procedures = 0, blocks = 0, instructions = 0;
  uint64_t text_bytes = 0, opaque_bytes = 0, relocations = 0;
  std::vector<ProcedureNote> opaque, pinned;
};
ProgramSummary summarize(const Program& program);

/// One sentence when much of the code is opaque (left_out.h).
std::optional<std::string> describe_opaque(const Program& program);

}  // namespace respike

#pragma once
// What users should know about code that a step leaves as it is.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

struct LeftOut {
  std::string name;
  uint64_t bytes = 0;
  bool operator==(const LeftOut&) const = default;
};

/// One sentence with the share of the code and the biggest procedures of `left_out`, when they are
/// much: 1% of the code, or one of the ten biggest procedures. `others`: sizes of all other
/// procedures, in bytes. `fate`: a phrase such as "are not counted".
std::optional<std::string> describe_left_out(std::vector<LeftOut> left_out,
                                             std::span<const uint64_t> others,
                                             std::string_view fate);

/// Whether a procedure certainly runs only once: the program starts in it, and nothing in it jumps
/// back. The start-up code of some C libraries is opaque by nature, in every program.
bool runs_once(const Program& program, const Procedure& procedure);

/// Whether a report should mention that a procedure was left out: it is opaque, may run more than
/// once and does something. Pinned procedures are few, and come from the linker or the kernel.
bool is_worth_telling(const Program& program, const Procedure& procedure);

}  // namespace respike

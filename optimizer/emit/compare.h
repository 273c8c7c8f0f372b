#pragma once
// Proof that two images run the same code: used after every rewriting and by `respike image verify`.

#include <optional>
#include <string>

#include "optimizer/ir/program.h"

namespace respike {

/// Walks both programs in lockstep from all their entries (bisimulation over pairs of code places) and compares
/// instructions, references, data, symbols and unwind information. Returns the first difference in
/// one sentence, or nullopt when `after` behaves as `before`.
std::optional<std::string> find_difference(const Program& before, const Program& after);

}  // namespace respike

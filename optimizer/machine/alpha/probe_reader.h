#pragma once
// Private to this folder.

#include <optional>

#include "optimizer/machine/probe_text.h"
#include "optimizer/machine/probes.h"

namespace respike::alpha {

/// See Probes.
bool may_start_probe(const Instruction& instruction);
std::optional<FoundProbe> read_probe(ProbeText& text, const ProbeSurroundings& surroundings);
std::optional<FoundRoutine> read_routine(ProbeText& text, const ProbeSurroundings& surroundings);

}  // namespace respike::alpha

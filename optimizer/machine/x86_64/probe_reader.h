#pragma once
// Private to this folder.

#include <optional>

#include "optimizer/machine/probe_text.h"
#include "optimizer/machine/probes.h"

namespace respike::x86_64 {

/// See Probes.
bool may_start_probe(const Instruction& instruction);
std::optional<FoundProbe> read_probe(ProbeText& text);

}  // namespace respike::x86_64

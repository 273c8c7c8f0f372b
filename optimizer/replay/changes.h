#pragma once
// What is changed in the instructions of a program before its blocks are placed, told so that a
// comparison can follow it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/image/provenance.h"
#include "optimizer/ir/program.h"
#include "optimizer/transform/gp_loads.h"
#include "optimizer/transform/hotcold/hot_cold.h"

namespace respike {

/// Leaves procedures where they are, and those that control runs into or out of with them.
void pin(Program& program, const std::vector<ProcedureId>& left_out,
         std::string_view reason = "left out on request");

/// Loads of gp cannot be put back where blocks have changed: there the comparison goes without.
void forget_changed(DroppedGpLoads& loads, const HotParts& changed);

/// What follow_changes() needs to know; `left_out` ascending.
Provenance describe_changes(const Program& program, const std::vector<ProcedureId>& left_out,
                            const HotParts& parts);

/// Changes the instructions of a lifted input as optimize() did before it made the output with this
/// note. Nothing of the note is believed: what cannot be proven is refused. Returns why, in one
/// sentence, or nullopt. `splits`: see split_alike().
std::optional<std::string> follow_changes(Program& program, const Provenance& note,
                                          std::vector<SplitProcedure>* splits = nullptr);

}  // namespace respike

#pragma once
// The changes to the instructions of a program before its blocks are placed, recorded in a way that
// a comparison can repeat.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/image/provenance.h"
#include "optimizer/ir/program.h"
#include "optimizer/transform/gp_loads.h"
#include "optimizer/transform/hotcold/hot_cold.h"

namespace respike {

/// Leaves procedures where they are, together with the procedures that control runs into or out of.
void pin(Program& program, const std::vector<ProcedureId>& left_out,
         std::string_view reason = "left out on request");

/// Loads of gp cannot be put back where blocks have changed; the comparison does without them
/// there.
void forget_changed(DroppedGpLoads& loads, const HotParts& changed);

/// What follow_changes() needs to know; `left_out` ascending.
Provenance describe_changes(const Program& program, const std::vector<ProcedureId>& left_out,
                            const HotParts& parts);

/// Changes the instructions of a lifted input as optimize() did before it made the output with this
/// note. The note is not trusted: a change that cannot be proven is refused. Returns the reason in
/// one sentence, or nullopt. `splits`: see split_alike().
std::optional<std::string> follow_changes(Program& program, const Provenance& note,
                                          std::vector<SplitProcedure>* splits = nullptr);

}  // namespace respike

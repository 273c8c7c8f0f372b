#pragma once
// Counts of a profile on the blocks and edges of a program, and back.

#include <cstdint>
#include <vector>

#include "optimizer/ir/program.h"
#include "optimizer/profile/profile.h"

namespace respike {

/// How much of a profile found its place.
struct AnnotateResult {
  size_t procedures = 0;  // of the profile
  size_t matched = 0;
  size_t entered = 0;  // of the profile: executed at all
  size_t entered_matched = 0;
  uint64_t instructions = 0;  // executed, of the profile
  uint64_t instructions_matched = 0;
  std::vector<bool> known;  // by ProcedureId: its counts are those of the profile
};

/// Sets the counts of all blocks and edges of `program` from a profile of the same image, those of
/// procedures that it does not know to 0. A procedure matches when address, name, signature and the
/// addresses of its blocks are the same.
AnnotateResult annotate(Program& program, const Profile& profile);

/// The profile that annotates a program as it is: all procedures, all exact, one run.
Profile profile_of(const Program& program);

}  // namespace respike

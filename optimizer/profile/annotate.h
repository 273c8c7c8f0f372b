#pragma once
// Sets the counts of a program from a profile, and makes a profile of a program's counts.

#include <cstdint>
#include <vector>

#include "optimizer/base/diagnostics.h"
#include "optimizer/ir/program.h"
#include "optimizer/profile/profile.h"

namespace respike {

/// How much of a profile fits a program.
struct AnnotateResult {
  size_t procedures = 0;  // of the profile
  size_t matched = 0;
  size_t entered = 0;  // of the profile: executed
  size_t entered_matched = 0;
  uint64_t instructions = 0;  // executed, of the profile
  uint64_t instructions_matched = 0;
  std::vector<bool> known;  // by ProcedureId: its counts are those of the profile
};

/// Sets the counts of all blocks and edges of `program` from a profile of the same image; counts of
/// procedures that do not match become 0. A procedure matches when address, name, signature and the
/// addresses of its blocks are the same.
AnnotateResult annotate(Program& program, const Profile& profile);

/// The same for the image that a user gave with the profile. Throws Error when the profile is of
/// another program; warns when it is of another build.
AnnotateResult apply_profile(Program& program, const Profile& profile, Diagnostics& diagnostics);

/// A profile with the counts of a program: all procedures, all exact, one run.
Profile profile_of(const Program& program);

}  // namespace respike

#pragma once
// What a profile lost when it was carried over to another build.

#include <string>
#include <vector>

#include "optimizer/profile/matching/match.h"

namespace respike {

/// A procedure of the older profile: its executed instructions, and how many of them found no
/// certain place.
struct ProfileLoss {
  const ProcedureProfile* before = nullptr;
  const ProcedureProfile* now = nullptr;  // its partner; nullptr: none
  double confidence = 0;                  // 0 to 1, of the instructions
  double executed = 0;                    // instructions
  double lost() const { return executed * (1 - confidence); }
};

/// All procedures that ran, sorted by lost(), the largest first. The losses refer to both profiles.
std::vector<ProfileLoss> losses(const Profile& before, const MatchResult& match);

/// Why a procedure lost counts: "not there", "flow graph changed", "instructions changed"; empty:
/// nothing was lost.
std::string loss_reason(const ProfileLoss& loss);

}  // namespace respike

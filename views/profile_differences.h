#pragma once
// Two profiles side by side, of one build or of two.

#include <cstdint>
#include <string>
#include <vector>

#include "optimizer/profile/profile.h"

namespace respike {

/// A procedure in both profiles, or in one of them.
struct ProcedureDifference {
  uint32_t a = kNone, b = kNone;  // indices of Profile::procedures; kNone: no partner
  std::string name, other_name;   // name in A, else in B; name in B if it differs
  uint64_t instructions_a = 0, instructions_b = 0;  // executed instructions
  uint64_t entries_a = 0, entries_b = 0;
  double share_a = 0, share_b = 0;  // relative to all executed instructions of the profile

  /// In executed instructions.
  double change() const { return double(instructions_b) - double(instructions_a); }
};

/// Procedures that ran in A or in B, paired by pair_procedures(); the largest changes come first.
std::vector<ProcedureDifference> compare_profiles(const Profile& a, const Profile& b);

}  // namespace respike

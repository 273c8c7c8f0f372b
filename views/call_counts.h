#pragma once
// Who called whom how often, according to a profile.

#include <cstdint>
#include <vector>

#include "optimizer/profile/profile.h"

namespace respike {

/// Calls, and jumps that leave a procedure, from one procedure to another, summed over the call
/// sites. Procedures are indices of Profile::procedures.
struct CallCount {
  uint32_t caller = kNone;  // kNone: another image, a pointer, or the system
  uint32_t callee = kNone;  // kNone: another image, or a pointer whose targets are not known
  uint64_t count = 0;
  uint32_t places = 0;  // that call; 0: not known
  /// The callee is a known target of the pointer, but the pointer had other targets as well:
  /// `count` counts calls of any target.
  bool at_most = false;

  bool operator==(const CallCount&) const = default;
};

/// All calls that ran, sorted by caller, then by callee; calls without a known caller come last.
std::vector<CallCount> count_calls(const Profile& profile);

}  // namespace respike

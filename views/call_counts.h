#pragma once
// Who called whom how often, by a profile.

#include <cstdint>
#include <vector>

#include "optimizer/profile/profile.h"

namespace respike {

/// Calls, and jumps that leave a procedure, from one procedure to another, added up over the places
/// that call. Procedures are indices of Profile::procedures.
struct CallCount {
  uint32_t caller = kNone;  // kNone: another image, a pointer, or the system
  uint32_t callee = kNone;  // kNone: another image, or a pointer whose targets are not known
  uint64_t count = 0;
  uint32_t places = 0;  // that call; 0: not known
  /// The callee is known as a target of the pointer, but the pointer had other targets, too:
  /// `count` says how often the places called anything.
  bool at_most = false;

  bool operator==(const CallCount&) const = default;
};

/// By caller, then callee, those without a known caller last; all that ran.
std::vector<CallCount> count_calls(const Profile& profile);

}  // namespace respike

#pragma once
// Pairs the procedures of two builds.

#include <cstdint>
#include <vector>

#include "optimizer/profile/profile.h"

namespace respike {

/// For each procedure of `now`, its partner in `before`, or kNone. No procedure has two partners.
std::vector<uint32_t> pair_procedures(const Profile& before, const Profile& now);

}  // namespace respike

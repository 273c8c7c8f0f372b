#pragma once
// Which procedures of two builds are the same.

#include <cstdint>
#include <vector>

#include "optimizer/profile/profile.h"

namespace respike {

/// By procedure of `now`: the one of `before` that it is, or kNone. No procedure is used twice.
std::vector<uint32_t> pair_procedures(const Profile& before, const Profile& now);

}  // namespace respike

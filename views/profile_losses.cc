// Example: `parse` executed 40% of the older build's instructions. The newer build has a `parse`
// with another flow graph, in which blocks with three quarters of these instructions were found
// with certainty: a quarter is lost, because "flow graph changed".

#include "views/profile_losses.h"

#include <algorithm>

namespace respike {

std::vector<ProfileLoss> losses(const Profile& before, const MatchResult& match) {
  std::vector<ProfileLoss> result(before.procedures.size());
  for (size_t p = 0; p < result.size(); ++p) {
    result[p].before = &before.procedures[p];
    result[p].executed = static_cast<double>(before.procedures[p].instructions());
  }
  for (size_t p = 0; p < match.procedures.size(); ++p) {
    if (match.procedures[p].before == kNone) continue;
    ProfileLoss& loss = result[match.procedures[p].before];
    loss.now = &match.profile.procedures[p];
    loss.confidence = match.procedures[p].confidence;
  }
  std::erase_if(result, [](const ProfileLoss& loss) { return !loss.before->entered(); });
  std::ranges::stable_sort(result, std::greater(), &ProfileLoss::lost);
  return result;
}

std::string loss_reason(const ProfileLoss& loss) {
  if (loss.lost() == 0) return {};
  if (loss.now == nullptr) return "not there";
  // Blocks of equal graphs are paired one by one, so only their code can differ.
  return loss.now->signature != loss.before->signature ? "flow graph changed"
                                                       : "instructions changed";
}

}  // namespace respike

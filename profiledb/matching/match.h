#pragma once
// A profile of one build carried over to another build of the same image.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optimizer/ir/program.h"
#include "optimizer/profile/profile.h"

namespace respike {

struct MatchResult {
  /// What is known of a procedure of the new build.
  struct Procedure {
    uint32_t before = kNone;  // index in the older profile; kNone: it was not there
    double confidence = 0;    // 0 to 1: the share of its executed instructions that found a place,
                              // each as sure as its place is
  };

  Profile profile;                    // of the new build: all its procedures
  std::vector<Procedure> procedures;  // as in `profile`

  // Of the older profile, and what of it found its place.
  size_t procedures_before = 0, procedures_matched = 0;
  size_t entered_before = 0, entered_matched = 0;
  double instructions_before = 0, instructions_matched = 0;  // executed; in matched procedures
  double confidence = 0;  // of all, each weighing as much as it executed

  double matched_share() const {
    return instructions_before == 0 ? 0 : instructions_matched / instructions_before;
  }
  double evidence = 0;  // the same of what tells programs apart: all but start-up code, and a main
                        // that is another
  /// Next to nothing was found that tells programs apart.
  bool of_another_program() const { return instructions_before != 0 && evidence < kLeastEvidence; }
  static constexpr double kLeastEvidence = 0.02;
};

/// Carries the counts of `before` over to the build that `now` describes; counts in `now` do not
/// matter. Both may be of any images, and may hold anything that a profile can. Close to linear.
MatchResult match_profile(const Profile& before, const Profile& now);

/// The same for a program.
MatchResult match_profile(const Profile& before, const Program& now);

/// Adds profiles of one or several builds of an image, counts times weights: those of others are
/// carried over to the build of the last one first. `matches` gets the results of that, in order,
/// nullopt where nothing had to be carried. Throws Error for a profile of another program; `names`
/// stand for the profiles then. Ageing is a matter of weights: 0.5 to the power of age by
/// half-life.
Profile merge_builds(std::span<const Profile> profiles, std::span<const double> weights,
                     std::span<const std::string> names,
                     std::vector<std::optional<MatchResult>>* matches = nullptr);

}  // namespace respike

#pragma once
// Carrying a profile of one build over to another build of the same image.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optimizer/ir/program.h"
#include "optimizer/profile/profile.h"

namespace respike {

struct MatchResult {
  /// How a procedure of the new build got its counts.
  struct Procedure {
    uint32_t before = kNone;  // index of its partner in the older profile; kNone: none
    double confidence = 0;    // 0 to 1: the share of the partner's executed instructions that found
                              // a place, each weighted with the confidence in that place
  };

  Profile profile;                    // of the new build: all its procedures
  std::vector<Procedure> procedures;  // as in `profile`

  // Sums over the older profile, and over its matched procedures.
  size_t procedures_before = 0, procedures_matched = 0;
  size_t entered_before = 0, entered_matched = 0;
  double instructions_before = 0, instructions_matched = 0;  // executed
  double confidence = 0;  // mean of all procedures, weighted with their executed instructions

  double matched_share() const {
    return instructions_before == 0 ? 0 : instructions_matched / instructions_before;
  }
  double evidence = 0;  // like `confidence`, but without start-up code, which every program has,
                        // and without a `main` that looks different
  /// Whether hardly any distinguishing procedure was matched.
  bool of_another_program() const { return instructions_before != 0 && evidence < kLeastEvidence; }
  static constexpr double kLeastEvidence = 0.02;
};

/// Carries the counts of `before` over to the build that `now` describes; counts in `now` are
/// ignored. The profiles may be of any images and have any valid contents. Takes close to linear
/// time.
MatchResult match_profile(const Profile& before, const Profile& now);

/// The same for a program.
MatchResult match_profile(const Profile& before, const Program& now);

/// Adds up profiles of one or several builds of an image, counts times weights. Profiles of builds
/// other than the last profile's are first carried over to that build; `matches` gets the results,
/// in order, with nullopt where nothing had to be carried over. Throws Error, with the name of the
/// profile from `names`, for a profile of another program. For ageing pass weights of 0.5 to the
/// power of age / half-life.
Profile merge_builds(std::span<const Profile> profiles, std::span<const double> weights,
                     std::span<const std::string> names,
                     std::vector<std::optional<MatchResult>>* matches = nullptr);

}  // namespace respike

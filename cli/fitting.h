#pragma once
// Profiles made to fit an image.

#include <optional>
#include <string>

#include "cli/messages.h"
#include "optimizer/base/diagnostics.h"
#include "optimizer/image/image.h"
#include "optimizer/profile/profile.h"
#include "profiledb/matching/match.h"

namespace respike::cli {

/// A profile as it is used for an image.
struct FittedProfile {
  Profile profile;                   // of the image
  std::optional<MatchResult> match;  // if it was carried over; its profile was moved away
};

/// Reads a profile and carries it over if it is of another build than the image, with a warning
/// that says how much of it fits. Throws Error for a profile of another program.
FittedProfile read_fitting_profile(const std::string& path, const Image& image,
                                   Diagnostics& diagnostics);

/// The same for where counters go: no weight makes them wrong, so a profile of another program is
/// none, with a warning.
std::optional<Profile> read_weights(const std::string& path, const Image& image,
                                    Diagnostics& diagnostics);

/// Carries a profile over to an image, be it the same or not. `path` names it in the Error that a
/// profile of another program is.
MatchResult match_image(const Profile& profile, const std::string& path, const Image& image,
                        Diagnostics& diagnostics);

/// How much of a profile of another build fits, as a warning and as fields of a report.
std::string match_text(const MatchResult& match);
Json match_to_json(const MatchResult& match);

}  // namespace respike::cli

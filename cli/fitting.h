#pragma once
// Reads a profile for an image; carries the profile over when it is of another build.

#include <optional>
#include <string>

#include "cli/messages.h"
#include "optimizer/base/diagnostics.h"
#include "optimizer/image/image.h"
#include "optimizer/profile/profile.h"
#include "profiledb/matching/match.h"

namespace respike::cli {

/// A profile in terms of an image.
struct FittedProfile {
  Profile profile;                   // of the image
  std::optional<MatchResult> match;  // if carried over; match->profile was moved to `profile`
};

/// Reads a profile. When the profile is of another build than the image, carries it over, with a
/// warning that says how much of the profile fits. Throws Error for a profile of another program.
FittedProfile read_fitting_profile(const std::string& path, const Image& image,
                                   Diagnostics& diagnostics);

/// Reads a profile that says where counters cost least. Counts are right whatever it says, so a
/// profile of another program gives nullopt and a warning.
std::optional<Profile> read_weights(const std::string& path, const Image& image,
                                    Diagnostics& diagnostics);

/// Carries a profile over to an image, of the same build or of another. Throws Error, which names
/// the profile by `path`, for a profile of another program.
MatchResult match_image(const Profile& profile, const std::string& path, const Image& image,
                        Diagnostics& diagnostics);

/// Say how much of a profile of another build fits: text for a warning, fields for a report.
std::string match_text(const MatchResult& match);
Json match_to_json(const MatchResult& match);

}  // namespace respike::cli

#pragma once
// Reads a profile for an image, and carries it over when it is of another build. Adds up profiles
// of several builds.

#include <optional>
#include <string>
#include <vector>

#include "optimizer/base/diagnostics.h"
#include "optimizer/image/image.h"
#include "optimizer/profile/matching/match.h"
#include "optimizer/profile/profile_set.h"

namespace respike {

/// A profile in terms of an image.
struct FittedProfile {
  Profile profile;                   // of the image
  std::optional<MatchResult> match;  // set if carried over; match->profile was moved to `profile`
};

/// Reads a profile, or the image's profile from a set of profiles. If the profile is of another
/// build, carries it over to the image, and warns with how much of the profile fits. Throws Error
/// for a profile of another program.
FittedProfile read_fitting_profile(const std::string& path, const Image& image,
                                   Diagnostics& diagnostics);

/// The same for a profile that was read from `path`.
FittedProfile fit(Profile profile, const std::string& path, const Image& image,
                  Diagnostics& diagnostics);

/// The file names of the images of a set, for a message: "lighttpd, mod_fastcgi.so".
std::string images_of(const ProfileSet& set);

/// Reads a profile that says where counters cost least. Counts are right with any weights, so a
/// profile of another program gives nullopt and a warning.
std::optional<Profile> read_weights(const std::string& path, const Image& image,
                                    Diagnostics& diagnostics);

/// Carries a profile over to an image, of the same build or of another. For a profile of another
/// program throws Error, which names the profile by `path`.
MatchResult match_image(const Profile& profile, const std::string& path, const Image& image,
                        Diagnostics& diagnostics);

/// How much of a profile of another build fits, for a warning.
std::string match_text(const MatchResult& match);

/// A profile to be added to others.
struct MergeInput {
  std::string name;  // name of the file
  Profile profile;
  double weight = 1;  // factor for the counts: finite, at least 0
};

/// Adds up profiles of one image or of several builds, carried over to the build of the last one; a
/// warning for each says how much of the profile fits. Throws Error for a profile of another
/// program.
Profile merge_inputs(std::vector<MergeInput> inputs, Diagnostics& diagnostics);

}  // namespace respike

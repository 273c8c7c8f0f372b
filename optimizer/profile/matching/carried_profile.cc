// Example: a profile of yesterday's build, given with the image of today, is carried over, with the
// warning "the profile is of another build: 71 of its 73 procedures that ran are here, ...".

#include "optimizer/profile/matching/carried_profile.h"

#include <fmt/format.h>

#include "optimizer/base/error.h"
#include "optimizer/base/hash.h"
#include "optimizer/base/number_text.h"
#include "optimizer/lift/lift.h"

namespace respike {

namespace {

std::string of_another_program(const Image& image) {
  return fmt::format(
      "the profile is of another program: {} knows next to nothing of what it counted", image.path);
}

MatchResult match_any(const Profile& profile, const Image& image, Diagnostics& diagnostics) {
  require_rewritable(image);
  return match_profile(profile, lift(image, diagnostics));
}

}  // namespace

MatchResult match_image(const Profile& profile, const std::string& path, const Image& image,
                        Diagnostics& diagnostics) {
  MatchResult match = match_any(profile, image, diagnostics);
  if (match.of_another_program()) throw Error(of_another_program(image), path);
  return match;
}

FittedProfile read_fitting_profile(const std::string& path, const Image& image,
                                   Diagnostics& diagnostics) {
  ProfileSet set = read_profile_set(path);
  if (set.size() == 1) return fit(std::move(set.front().profile), path, image, diagnostics);
  const ImageProfile* found =
      find_profile(set, {.hash = hash64(image.file),
                         .build_id = image.build_id,
                         .file_name = std::filesystem::path(image.path).filename(),
                         .soname = {},
                         .machine = {}});
  if (found == nullptr)
    throw Error(fmt::format("it has no profile of {}, but those of {}", image.path, images_of(set)),
                path);
  return fit(found->profile, path, image, diagnostics);
}

FittedProfile fit(Profile profile, const std::string& path, const Image& image,
                  Diagnostics& diagnostics) {
  FittedProfile fitted{std::move(profile), {}};
  if (fitted.profile.image_hash == hash64(image.file)) return fitted;
  Diagnostics ignored;  // the caller lifts the image again and gets the same warnings
  fitted.match = match_image(fitted.profile, path, image, ignored);
  diagnostics.warn(match_text(*fitted.match));
  fitted.profile = std::move(fitted.match->profile);
  return fitted;
}

std::string images_of(const ProfileSet& set) {
  constexpr size_t kMost = 5;
  std::vector<std::string> names;
  for (const ImageProfile& entry : set) {
    if (names.size() == kMost) {
      names.push_back(fmt::format("{} more", set.size() - kMost));
      break;
    }
    names.push_back(std::filesystem::path(entry.profile.image_path).filename());
  }
  return names.empty() ? "no image" : fmt::format("{}", fmt::join(names, ", "));
}

std::optional<Profile> read_weights(const std::string& path, const Image& image,
                                    Diagnostics& diagnostics) {
  Profile profile = read_profile(path);
  if (profile.image_hash == hash64(image.file)) return profile;
  Diagnostics ignored;
  MatchResult match = match_any(profile, image, ignored);
  if (match.of_another_program()) {
    diagnostics.warn(
        fmt::format("{}: {}; counters go by estimates", path, of_another_program(image)));
    return std::nullopt;
  }
  diagnostics.warn(match_text(match));
  return std::move(match.profile);
}

std::string match_text(const MatchResult& match) {
  return fmt::format(
      "the profile is of another build: {} of its {} procedures that ran are here, with {} of what "
      "they executed; confidence {}",
      grouped(match.entered_matched), grouped(match.entered_before),
      percent(match.instructions_matched, match.instructions_before), percent(match.confidence, 1));
}

Profile merge_inputs(std::vector<MergeInput> inputs, Diagnostics& diagnostics) {
  std::vector<Profile> profiles;
  std::vector<double> weights;
  std::vector<std::string> names;
  for (MergeInput& input : inputs) {
    profiles.push_back(std::move(input.profile));
    weights.push_back(input.weight);
    names.push_back(std::move(input.name));
  }
  std::vector<std::optional<MatchResult>> matches;
  Profile merged = merge_builds(profiles, weights, names, &matches);
  for (size_t i = 0; i < matches.size(); ++i)
    if (matches[i]) diagnostics.warn(fmt::format("{}: {}", names[i], match_text(*matches[i])));
  return merged;
}

}  // namespace respike

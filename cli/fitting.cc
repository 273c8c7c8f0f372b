#include "cli/fitting.h"

#include <fmt/format.h>

#include "optimizer/base/hash.h"
#include "optimizer/lift/lift.h"

namespace respike::cli {

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
  FittedProfile fitted{read_profile(path), {}};
  if (fitted.profile.image_hash == hash64(image.file)) return fitted;
  Diagnostics ignored;  // the caller lifts the image again and gets the same warnings
  fitted.match = match_image(fitted.profile, path, image, ignored);
  diagnostics.warn(match_text(*fitted.match));
  fitted.profile = std::move(fitted.match->profile);
  return fitted;
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

Json match_to_json(const MatchResult& match) {
  return {{"procedures", match.procedures_before},
          {"matched_procedures", match.procedures_matched},
          {"executed_procedures", match.entered_before},
          {"matched_executed_procedures", match.entered_matched},
          {"matched_share", match.matched_share()},
          {"confidence", match.confidence}};
}

}  // namespace respike::cli

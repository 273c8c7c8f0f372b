// Example: for an image with two runs and an optimized image from before these runs the texts are
// "2 runs, which entered 41% of the procedures" and "optimized before the latest runs".

#include "applications/descriptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "applications/image_content.h"
#include "optimizer/base/number_text.h"

namespace respike {
namespace {

/// Whether outcome_lines() leaves an image to left_alone_line().
bool is_left_to_sum(const ImageOutcome& outcome, bool named) {
  return outcome.state == ImageOutcome::State::not_optimizable && outcome.role != Role::main &&
         !named;
}

}  // namespace

std::string runs_text(double runs) {
  const double rounded = std::round(10 * runs) / 10;
  return fmt::format("{} run{}", rounded, rounded == 1 ? "" : "s");
}

std::string carried_text(double runs, double confidence) {
  return fmt::format("{} of older builds, confidence {:.2f}", runs_text(runs), confidence);
}

std::string profile_text(const ProfileView& profile) {
  if (profile.confidence == 0) return "no profile";
  const std::string carried = carried_text(profile.carried_runs, profile.carried_confidence);
  std::string text = carried;
  if (profile.runs > 0)
    text = fmt::format("{}, which entered {} of the procedures{}", runs_text(profile.runs),
                       fmt::format("{:.0f}%", 100 * profile.coverage),
                       profile.carried_runs > 0 ? ", and " + carried : std::string());
  if (profile.age_days.value_or(0) > 0) text += fmt::format(", {} days old", *profile.age_days);
  return text;
}

std::string short_profile_text(const ProfileView& profile) {
  if (profile.confidence == 0) return "none";
  if (profile.runs == 0) return "of an older build";
  return runs_text(profile.runs) + (profile.carried_runs > 0 ? ", and older builds" : "");
}

std::string left_alone_text(const ImageRow& image) {
  return !image.optimizable && is_system_library(image)
             ? "left alone (system library without relocations)"
             : "left alone: " + image.reason;
}

std::string made_text(const ImageView& view) {
  std::string made = view.instrumented ? "instrumented" : "";
  if (view.optimized) made += made.empty() ? "optimized" : ", optimized";
  if (view.profile_grew) made += " before the latest runs";
  return made.empty() ? "nothing made of it" : made;
}

std::string shell_word(const std::string& text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("%+,-./:=@_").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string counted_text(const std::vector<CountedRuns>& counted) {
  std::string text;
  uint64_t runs = 0;
  for (const CountedRuns& each : counted) {
    if (each.runs == 0) continue;
    text += fmt::format("{}{} of {}", text.empty() ? "" : " and ", runs_text(double(each.runs)),
                        each.name);
    runs += each.runs;
  }
  if (!text.empty()) text += runs == 1 ? " was counted" : " were counted";
  return text;
}

std::string uncounted_text(const CountedRuns& counted) {
  const std::string which =
      counted.programs.size() == 1
          ? counted.programs.front()
          : fmt::format("the {} programs that are registered", counted.programs.size());
  return fmt::format(
      "no run of {} was counted: {} did not run as the registered file; copies elsewhere, files "
      "that have changed, and what valgrind or an emulator runs are not counted",
      counted.name, which);
}

std::string registered_text(const RegisterResult& result) {
  return result.name + (result.added ? ": registered" : ": was registered already");
}

std::string instrumented_text(const ImageOutcome& outcome) {
  return fmt::format("instrumented, {} of {} procedures{}", outcome.procedures,
                     outcome.of_procedures,
                     outcome.unused == 0 ? "" : fmt::format(" ({} are unused)", outcome.unused));
}

std::string optimized_text(const ImageOutcome& outcome) {
  if (outcome.confidence == 0) return "optimized by static estimates";
  const std::string carried = carried_text(outcome.carried_runs, outcome.carried_confidence);
  // The gain of the image's own code: a program may spend its time in libraries.
  const std::string gain =
      outcome.gain.empty() ? "" : ": expected of this image's code: " + outcome.gain;
  if (outcome.runs == 0) return "optimized by the profile of an older build, " + carried + gain;
  return fmt::format("optimized by a profile of {}{}{}", runs_text(outcome.runs),
                     outcome.carried_runs > 0 ? ", and " + carried : std::string(), gain);
}

std::string exported_text(const ImageOutcome& outcome) {
  if (outcome.links.empty()) return "exported as " + outcome.file;
  return fmt::format("exported as {}, with {} symbolic link{}", outcome.file, outcome.links.size(),
                     outcome.links.size() == 1 ? "" : "s");
}

std::vector<std::string> outcome_lines(const std::vector<ImageOutcome>& outcomes, bool named,
                                       std::string (*made)(const ImageOutcome&)) {
  std::vector<std::string> lines;
  for (const ImageOutcome& outcome : outcomes) {
    if (is_left_to_sum(outcome, named)) continue;
    switch (outcome.state) {
      case ImageOutcome::State::made:
        lines.push_back(outcome.path + ": " + made(outcome));
        break;
      case ImageOutcome::State::up_to_date:
        lines.push_back(outcome.path + ": up to date");
        break;
      case ImageOutcome::State::not_optimizable:
      case ImageOutcome::State::left_out:
        lines.push_back(outcome.path + ": left alone: " + outcome.reason);
        break;
    }
  }
  return lines;
}

std::string left_alone_line(const std::vector<ImageOutcome>& outcomes, bool named) {
  const auto libraries =
      std::ranges::count_if(outcomes, [&](auto& o) { return is_left_to_sum(o, named); });
  return libraries == 0
             ? ""
             : fmt::format("left alone: {} librar{}", libraries, libraries == 1 ? "y" : "ies");
}

std::string collected_text(const MergeResult& result) {
  std::string text =
      fmt::format("merged {} counter file{}; {} of programs that still run", result.finished,
                  result.finished == 1 ? "" : "s", result.running + result.unchanged);
  if (result.damaged != 0) text += fmt::format("; {} damaged", result.damaged);
  if (result.unknown != 0) text += fmt::format("; {} of images that are not known", result.unknown);
  return text;
}

std::string pruned_text(const PruneResult& result, bool dry_run) {
  std::string removed;
  const auto add = [&](uint64_t number, std::string_view what) {
    if (number != 0)
      removed += fmt::format("{}{} {}{}", removed.empty() ? "" : ", ", grouped(number), what,
                             number == 1 ? "" : "s");
  };
  add(result.builds, "build");
  add(result.images, "registered image");
  add(result.derived, "instrumented or optimized image");
  add(result.bytes, "byte");
  if (removed.empty()) return "nothing to remove";
  return (dry_run ? "would remove " : "removed ") + removed;
}

}  // namespace respike

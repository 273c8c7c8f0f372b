// What was done with an application, and what comes next.
//
// Example: sqlite3 was counted in three runs and then optimized; it ran once more, counting. Its
// profile is newer than the optimized image, so the next step is to optimize again. After that the
// last check is that of another version, so the next step is to check.

#include "applications/life.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>

#include "applications/descriptions.h"

namespace respike {
namespace {

/// The facts on which the steps depend.
struct Facts {
  size_t images = 0, optimizable = 0, counting = 0, optimized = 0;
  const ProfileView* profile = nullptr;    // the profile with the most runs; null: nothing was
                                           // counted
  bool grew = false;                       // there are counts newer than the optimized images
  const ImageView* rebuilt = nullptr;      // an image with a new build, which was not optimized
  bool checked = false, exported = false;  // the present optimized images
};

std::set<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::set<std::string> words;
  for (std::string word; stream >> word;) words.insert(word);
  return words;
}

/// Whether a step with optimized images was done with the present ones. Libraries that a program
/// opened may be gone by now.
bool is_of_present(const ApplicationView& application, const std::string& images) {
  const std::set<std::string> done = words_of(images);
  std::set<std::string> present;
  bool all = true;
  for (const ImageView& view : application.images) {
    if (!view.optimized) continue;
    const std::string hash = view.optimized->content.hex();
    present.insert(hash);
    all = all && (view.role == Role::opened || done.contains(hash));
  }
  return all && !present.empty() && !done.empty() && std::ranges::includes(present, done);
}

double runs_of(const ProfileView& profile) {
  return profile.runs + profile.carried_runs;
}

Facts facts_of(const ApplicationView& application, bool counts_wait) {
  Facts facts;
  for (const ImageView& view : application.images) {
    ++facts.images;
    facts.optimizable += view.image.optimizable ? 1 : 0;
    facts.counting += view.instrumented ? 1 : 0;
    facts.optimized += view.optimized ? 1 : 0;
    facts.grew = facts.grew || view.profile_grew;
    if (runs_of(view.profile) > (facts.profile == nullptr ? 0 : runs_of(*facts.profile)))
      facts.profile = &view.profile;
    if (view.build && !view.optimized && view.builds > 1) facts.rebuilt = &view;
  }
  facts.grew = facts.grew || (counts_wait && facts.optimized != 0);
  if (const auto& check = application.last_check)
    facts.checked = is_of_present(application, check->images);
  std::error_code error;
  if (const auto& done = application.last_export)
    facts.exported =
        is_of_present(application, done->images) && std::filesystem::exists(done->folder, error);
  return facts;
}

/// "3 of 4 images".
std::string of_images(size_t some, size_t all) {
  return fmt::format("{} of {} image{}", some, all, all == 1 ? "" : "s");
}

/// Why `check` cannot compare the versions, a clause; empty: it can.
std::string why_unchecked(const ApplicationView& application) {
  const size_t programs = application.programs().size();
  if (programs == 0) return "a library is checked by the programs that load it";
  if (programs > 1) return "of several programs none is checked alone";
  return {};
}

/// The next step after the last check of the present version.
Next after_check(const ApplicationView& application, bool exported) {
  const LastCheck& check = *application.last_check;
  switch (check.result) {
    case CheckResult::slower:
      return {
          Step::instrumenting,
          "is slower than its original on that work: let it count other typical work, with other "
          "arguments, or keep the original"};
    case CheckResult::differs:
      return {std::nullopt, "is not to be shipped: the check says: " + check.verdict};
    case CheckResult::unclear:
      return {Step::checking, "was checked with work that says nothing: " + check.verdict};
    case CheckResult::faster:
    case CheckResult::same:
      break;
  }
  if (!exported)
    return {Step::exporting, check.result == CheckResult::same
                                 ? "costs as much as its original on that work, and may be shipped"
                                 : "is faster, and may be shipped"};
  return {std::nullopt, "is done: the optimized files are in " + application.last_export->folder};
}

Next next_of(const ApplicationView& application, const Facts& facts, bool counts_wait) {
  const ImageView& main = application.images.front();
  const bool counts = application.mode == Mode::instrumented && facts.counting != 0;
  if (main.changed) return {Step::instrumenting, "has changed since it was looked at"};
  if (!main.problem.empty()) return {std::nullopt, "cannot be used: " + main.problem};
  if (facts.optimizable == 0)
    return {std::nullopt, "has no image that can be optimized: " + left_alone_text(main.image)};
  if (application.guarded && application.fault)
    return {std::nullopt, "is guarded: " + guard_text(application.name, *application.fault)};
  if (facts.optimized == 0 && facts.profile == nullptr && !counts_wait) {
    if (counts) return {Step::running, "counts, and has not run yet: let it do typical work"};
    return {Step::instrumenting, "does not count yet how it runs"};
  }
  if (facts.optimized == 0) return {Step::optimizing, "has counts to be optimized by"};
  if (facts.rebuilt != nullptr)
    return {Step::optimizing,
            fmt::format("was built anew: {} is not optimized any more", facts.rebuilt->image.path)};
  if (facts.grew) return {Step::optimizing, "has counts that the optimized version does not know"};
  if (counts) return {Step::running, "counts again: let it do more typical work"};
  if (const std::string why = why_unchecked(application); !why.empty()) {
    if (!facts.exported) return {Step::exporting, "is optimized; " + why};
    return {std::nullopt, "is done: the optimized files are in " + application.last_export->folder};
  }
  if (!facts.checked) return {Step::checking, "is optimized, and was not checked yet"};
  return after_check(application, facts.exported);
}

/// "2 of 4 images can be optimized", and why a program cannot.
std::string registered_text(const ApplicationView& application, const Facts& facts) {
  std::string text = of_images(facts.optimizable, facts.images) + " can be optimized";
  for (const ImageView& view : application.images)
    if (view.role == Role::main && !view.image.optimizable && facts.optimizable != 0)
      text +=
          fmt::format("; {} cannot: {}", std::filesystem::path(view.image.path).filename().string(),
                      view.image.reason);
  return text;
}

}  // namespace

std::string gain_text(double gain) {
  if (gain == 0) return "no difference";
  return fmt::format("{:.1f}%{}", 100 * std::abs(gain), gain > 0 ? "" : " slower");
}

Life life_of(const ApplicationView& application, bool counts_wait) {
  Life life;
  const Facts facts = facts_of(application, counts_wait);
  const auto set = [&](Step step, bool done, std::string reached, std::string does) {
    life.steps[static_cast<size_t>(step)] = {done, std::move(done ? reached : does)};
  };
  set(Step::registering, true, registered_text(application, facts), {});
  set(Step::instrumenting, facts.counting != 0,
      of_images(facts.counting, facts.images) + " can count", "makes files that count what runs");
  set(Step::running, facts.profile != nullptr,
      facts.profile == nullptr ? std::string() : profile_text(*facts.profile),
      "typical work shows what is to become faster");
  set(Step::optimizing, facts.optimized != 0,
      of_images(facts.optimized, facts.images) + (facts.grew ? ", before the latest runs" : ""),
      "makes faster files by what was counted");
  const std::string unchecked = why_unchecked(application);
  set(Step::checking, facts.checked,
      application.last_check ? application.last_check->verdict : std::string(),
      unchecked.empty() ? "runs both versions, compares them, and says what is gained" : unchecked);
  set(Step::exporting, facts.exported,
      application.last_export ? "to " + application.last_export->folder : std::string(),
      "writes the optimized files into a folder");
  if (facts.checked && application.last_check->result != CheckResult::differs &&
      application.last_check->result != CheckResult::unclear)
    life.gain = application.last_check->gain;
  for (const ImageView& view : application.images)
    if (view.profile.age_days)
      life.age_days =
          std::min(life.age_days.value_or(*view.profile.age_days), *view.profile.age_days);
  life.can_be_checked = unchecked.empty() && facts.optimized != 0;
  if (!application.images.empty()) life.next = next_of(application, facts, counts_wait);
  return life;
}

}  // namespace respike

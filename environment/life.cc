// What was done with an application, and what comes next.
//
// Example: sqlite3 was counted in three runs and then optimized; it ran once more, counting. Its
// profile is newer than the optimized image, so the next step is to optimize again. After that the
// last check is of another version, so the next step is to check.

#include "environment/life.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "environment/describing.h"

namespace respike {
namespace {

/// What the steps depend on.
struct Facts {
  size_t images = 0, optimizable = 0, counting = 0, optimized = 0;
  const ProfileView* profile = nullptr;    // the one of most runs; null: nothing was counted
  bool grew = false;                       // there are counts that the optimized images do not know
  bool checked = false, exported = false;  // the present optimized images
};

/// Whether something that was done with optimized images was done with the present ones.
bool is_of_present(const ApplicationView& application, const std::string& images, int64_t noted) {
  std::istringstream hashes(images);
  for (std::string hash; hashes >> hash;)
    if (std::ranges::none_of(application.images, [&](const ImageView& view) {
          return view.optimized && view.optimized->content.hex() == hash;
        }))
      return false;
  return std::ranges::all_of(application.images, [&](const ImageView& view) {
    return !view.optimized || view.optimized->made <= noted;
  });
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
  }
  facts.grew = facts.grew || (counts_wait && facts.optimized != 0);
  if (const auto& check = application.last_check; check && facts.optimized != 0)
    facts.checked = is_of_present(application, check->images, check->noted);
  if (const auto& done = application.last_export; done && facts.optimized != 0)
    facts.exported = is_of_present(application, done->images, done->noted);
  return facts;
}

/// "3 of 4 images".
std::string of_images(size_t some, size_t all) {
  return fmt::format("{} of {} image{}", some, all, all == 1 ? "" : "s");
}

/// Sets the next step, and says why it comes next, or why there is none.
void find_next(Life& life, const ApplicationView& application, const Facts& facts,
               bool counts_wait) {
  const auto is = [&](std::optional<Step> next, std::string advice) {
    life.next = next;
    life.advice = std::move(advice);
  };
  const ImageView& main = application.images.front();
  const bool counts = application.mode == Mode::instrumented && facts.counting != 0;
  if (!main.problem.empty()) return is(std::nullopt, main.problem);
  if (facts.optimizable == 0)
    return is(std::nullopt, "no image of it can be optimized: " + left_alone_text(main.image));
  if (application.guarded && application.fault)
    return is(std::nullopt, guard_text(application.name, *application.fault));
  if (facts.profile == nullptr && !counts_wait) {
    if (counts) return is(Step::running, "it counts: let it do typical work");
    return is(Step::instrumenting, "it does not count yet how it runs");
  }
  if (facts.optimized == 0) return is(Step::optimizing, "there are counts to optimize it by");
  if (facts.grew)
    return is(Step::optimizing, "there are counts that the optimized version does not know");
  if (counts) return is(Step::running, "it counts again: let it do more typical work");
  if (!facts.checked)
    return is(Step::checking, "nobody has checked yet what the optimized version gains");
  if (!application.last_check->ship && application.last_check->gain < 0)
    return is(Step::instrumenting, "it is slower: let it count more typical work");
  if (!application.last_check->ship)
    return is(std::nullopt, "the check says: " + application.last_check->verdict);
  if (!facts.exported) return is(Step::exporting, "the optimized version may be shipped");
  is(std::nullopt, "all is done: the faster files are in " + application.last_export->folder);
}

}  // namespace

std::string gain_text(double gain) {
  return gain == 0 ? "none measured" : fmt::format("{:.1f}%", 100 * gain);
}

Life life_of(const ApplicationView& application, bool counts_wait) {
  Life life;
  const Facts facts = facts_of(application, counts_wait);
  const auto set = [&](Step step, bool done, std::string reached, std::string does) {
    life.steps[static_cast<size_t>(step)] = {done, std::move(done ? reached : does)};
  };
  set(Step::registering, true, of_images(facts.optimizable, facts.images) + " can be optimized",
      {});
  set(Step::instrumenting, facts.counting != 0,
      of_images(facts.counting, facts.images) + " can count", "makes images that count what runs");
  set(Step::running, facts.profile != nullptr,
      facts.profile == nullptr ? std::string() : profile_text(*facts.profile),
      "typical work shows what is to become faster");
  const std::string made = of_images(facts.optimized, facts.images);
  set(Step::optimizing, facts.optimized != 0, made + (facts.grew ? ", before the latest runs" : ""),
      "makes faster images by what was counted");
  set(Step::checking, facts.checked,
      application.last_check ? application.last_check->verdict : std::string(),
      "runs both versions, compares them, and says what is gained");
  set(Step::exporting, facts.exported,
      application.last_export ? "to " + application.last_export->folder : std::string(),
      "writes the faster files into a folder");
  if (facts.checked) life.gain = application.last_check->gain;
  for (const ImageView& view : application.images)
    if (view.profile.age_days)
      life.age_days =
          std::min(life.age_days.value_or(*view.profile.age_days), *view.profile.age_days);
  if (!application.images.empty()) find_next(life, application, facts, counts_wait);
  return life;
}

}  // namespace respike

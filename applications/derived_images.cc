// Instrumented and optimized images.
//
// The database describes a derived image by its options, the fingerprint of the Respike that made
// it, and the hash of its profile. If the newest image of the kind has the description of the image
// that would be made now, and its file is undamaged, nothing is done; so the commands can be used
// in a makefile.
//
// Example: `respike optimize app` twice in a row: the second call makes nothing. After a run of an
// instrumented build and `collect`, the hash of the profile is different, so the third call makes a
// new image.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "applications/environment.h"
#include "applications/image_content.h"
#include "instrument/instrument.h"
#include "optimizer/base/error.h"
#include "optimizer/base/files.h"
#include "optimizer/fingerprint.h"
#include "optimizer/pipeline.h"
#include "optimizer/profile/matching/carried_profile.h"

namespace respike {

namespace fs = std::filesystem;

namespace {

using State = ImageOutcome::State;

fs::perms mode_of(const fs::path& file) {
  constexpr fs::perms kAccess = fs::perms::owner_all | fs::perms::group_all | fs::perms::others_all;
  return fs::status(file).permissions() & kAccess;
}

void leave_alone(const ImageRow& image, ImageOutcome& outcome) {
  outcome.state = State::not_optimizable;
  outcome.reason = image.reason;
}

/// Throws Error, with the reason of the first image, when no image could be made: a user who linked
/// without relocations should notice.
void require_something_done(const std::vector<ImageOutcome>& outcomes, const std::string& name,
                            DerivedKind kind) {
  const bool done = std::any_of(outcomes.begin(), outcomes.end(), [](const ImageOutcome& outcome) {
    return outcome.state == State::made || outcome.state == State::up_to_date;
  });
  if (!done)
    throw Error(
        fmt::format("{}; nothing of {} could be {}", outcomes.front().reason, name, name_of(kind)),
        outcomes.front().path);
}

/// Names the images that have no profile; empty: all have one.
std::string without_profile(const std::vector<ImageOutcome>& outcomes) {
  std::vector<std::string> images;
  for (const ImageOutcome& outcome : outcomes)
    if (outcome.state == State::made && outcome.confidence == 0)
      images.push_back(fs::path(outcome.path).filename());
  return fmt::format("{}", fmt::join(images, ", "));
}

/// The keys by which a set of profiles may know a build of an image.
ImageKey key_of(const ImageRow& image, const BuildRow& build) {
  return {build.file_hash, build.build_id, fs::path(image.path).filename(), image.soname,
          image.machine};
}

}  // namespace

/// Whether the newest derived image of a kind has the description `wanted` and is undamaged.
bool Environment::is_up_to_date(const BuildRow& build, const DerivedFacts& wanted) const {
  const auto newest = database_.newest_derived(build.id, wanted.kind);
  const ImageStore& store = database_.store();
  return newest && newest->options == wanted.options &&
         newest->profile_hash == wanted.profile_hash && store.is_intact(newest->content) &&
         (!newest->map || store.is_intact(*newest->map));
}

std::vector<ImageOutcome> Environment::make(
    const std::string& name, const std::vector<std::string>& images,
    const std::function<void(ImageRow&, const BuildRow&, ImageOutcome&)>& make_one) {
  database_.require_writable();
  collect();
  const ApplicationRow application = find(name);
  require_one_machine(application);
  follow_links(application);
  std::vector<ImageOutcome> outcomes;
  for (ApplicationImage& used : chosen_images(application, images)) {
    ImageOutcome outcome;
    outcome.path = used.image.path;
    outcome.role = used.role;
    try {
      if (const auto build = refresh(used.image))
        make_one(used.image, *build, outcome);
      else
        leave_alone(used.image, outcome);
    } catch (const Error& error) {
      // A library that cannot be read does not stop the others; an error of another file, such as
      // one from a full disk, does.
      const bool of_library = error.file().empty() || error.file() == used.image.path;
      if (used.role == Role::main || !images.empty() || !of_library) throw;
      outcome.reason = message_without(used.image.path, error);
    }
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

std::vector<ImageOutcome> Environment::instrument(const std::string& name,
                                                  const std::vector<std::string>& images,
                                                  Counters counters) {
  const auto outcomes = make(name, images, [&](auto& image, const auto& build, auto& outcome) {
    instrument_image(image, build, counters, outcome);
  });
  require_something_done(outcomes, name, DerivedKind::instrumented);
  set_mode_now(name, Mode::instrumented);
  tell_sessions();
  return outcomes;
}

void Environment::instrument_image(const ImageRow& image, const BuildRow& build, Counters counters,
                                   ImageOutcome& outcome) {
  InstrumentOptions options;
  options.spool = database_.make_spool(build.id);
  options.output = image.path;
  options.counters = counters;
  if (counters == Counters::threads &&
      content_of(image, build).image().kind == Image::Kind::shared_library)
    options.counters = Counters::atomic;
  options.description = fmt::format("instrument --counters {}", name_of(options.counters));
  if (progress)
    options.progress = [&](std::string_view step, double done) {
      progress(image.path, step, done);
    };
  DerivedFacts facts;
  facts.kind = DerivedKind::instrumented;
  facts.options =
      fmt::format("{} --spool {}; {}", options.description, options.spool.string(), kFingerprint);
  if (is_up_to_date(build, facts)) {
    outcome.state = State::up_to_date;
    return;
  }
  const ImageContent content = content_of(image, build);
  const Profile weights = database_.profile(build.id);
  if (weights.runs > 0) options.weights = &weights;
  const InstrumentResult result = respike::instrument(content.image(), options, warnings_);
  facts.content = database_.store().put(result.bytes, mode_of(image.path));
  database_.add_instrumented(build.id, facts, view_image(result.bytes, image.path));
  outcome.state = State::made;
  outcome.procedures = result.instrumented;
  outcome.unused = result.unused;
  outcome.of_procedures = database_.summary(build.id).procedures;
}

std::vector<ImageOutcome> Environment::optimize(const std::string& name,
                                                const OptimizeRequest& request) {
  if (request.given) require_given_profile(name, request);
  const auto outcomes =
      make(name, request.images, [&](auto& image, const auto& build, auto& outcome) {
        optimize_image(image, build, request, outcome);
      });
  require_something_done(outcomes, name, DerivedKind::optimized);
  if (request.given && request.images.empty()) note_unused_profiles(name, *request.given);
  // A user who forgot the training should notice.
  if (const std::string images = without_profile(outcomes); !images.empty()) {
    const std::string advice = fmt::format(
        ": respike instrument {}, then respike run {} with typical work, makes one", name, name);
    warnings_.warn(fmt::format("there is no profile of {}{}, so how it runs is estimated{}", images,
                               request.given ? " in " + request.given->file : "",
                               request.given ? "" : advice));
  }
  set_mode_now(name, Mode::optimized);
  tell_sessions();
  return outcomes;
}

/// Warns of profiles that belong to no image of the application, such as profiles of plugins in a
/// staged tree, where no run has opened the plugins.
void Environment::note_unused_profiles(const std::string& name, const GivenProfiles& given) {
  std::set<const ImageProfile*> used;
  for (const ApplicationImage& image : database_.images_of(find(name).id))
    if (const auto build = known_build(image.image))
      used.insert(find_profile(given.profiles, key_of(image.image, *build)));
  ProfileSet unused;
  for (const ImageProfile& entry : given.profiles)
    if (!used.contains(&entry)) unused.push_back(entry);
  if (!unused.empty())
    notes_.push_back(
        fmt::format("{} also has profiles of {}, not among the images of {}: register "
                    "libraries that it opens by themselves",
                    given.file, images_of(unused), name));
}

/// Throws Error when no given profile belongs to an image that the request names.
void Environment::require_given_profile(const std::string& name, const OptimizeRequest& request) {
  const ApplicationRow application = find(name);
  follow_links(application);
  for (const ApplicationImage& used : chosen_images(application, request.images)) {
    ImageRow image = used.image;
    std::error_code error;
    if (!fs::exists(image.path, error)) continue;
    const auto build = refresh(image);
    if (build && find_profile(request.given->profiles, key_of(image, *build)) != nullptr) return;
  }
  throw Error(fmt::format("it has no profile of an image of {}, but those of {}", name,
                          images_of(request.given->profiles)),
              request.given->file);
}

Environment::ChosenProfile Environment::collected_profile(const ImageRow& image,
                                                          const BuildRow& build,
                                                          const ProfileOptions& use,
                                                          ImageOutcome& outcome) {
  // The older build may have more counts by now; its profile serves until this build has its own.
  if (database_.summary(build.id).runs == 0) carry_over(image, build);
  ChosenProfile chosen = {database_.profile(build.id, use), ""};
  if (use.half_life_days > 0)
    chosen.description += fmt::format(" --half-life {}", use.half_life_days);
  if (use.carried_weight != 1)
    chosen.description += fmt::format(" --older-weight {}", use.carried_weight);
  ProfileSummary summary = database_.summary(build.id);
  if (use.carried_weight == 0) {
    summary.carried_runs = summary.carried_confidence = 0;
    if (summary.runs == 0) summary.confidence = 0;
  }
  outcome.runs = summary.runs;
  outcome.confidence = summary.confidence;
  outcome.carried_runs = summary.carried_runs;
  outcome.carried_confidence = summary.carried_confidence;
  return chosen;
}

/// A profile of a file with the same contents counts as the image's own, any other as carried over.
Environment::ChosenProfile Environment::given_profile(const ImageRow& image, const BuildRow& build,
                                                      const GivenProfiles& given,
                                                      ImageOutcome& outcome) {
  const ImageProfile* found = find_profile(given.profiles, key_of(image, build));
  if (found == nullptr) return {{}, " --profile none"};
  ChosenProfile chosen = {found->profile, " --profile " + hash_of(found->profile)};
  if (found->profile.image_hash == build.file_hash) {
    outcome.runs = found->profile.runs;
    outcome.confidence = 1;
    return chosen;
  }
  const ImageContent content = content_of(image, build);
  FittedProfile fitted;
  try {
    fitted = fit(std::move(chosen.profile), given.file, content.image(), warnings_);
  } catch (const Error& error) {
    // A library that was rewritten in the meantime does not stop the others.
    if (error.file() != given.file || outcome.role == Role::main) throw;
    warnings_.warn(error.what());
    return {{}, " --profile none"};
  }
  chosen.profile = std::move(fitted.profile);
  outcome.carried_runs = found->profile.runs;
  outcome.confidence = outcome.carried_confidence = fitted.match ? fitted.match->confidence : 1;
  return chosen;
}

/// The description of an optimized image names the profile that was used. Its profile hash is
/// always the hash of the database's profile with default options, so that viewing.cc can see
/// whether that profile has grown since.
void Environment::optimize_image(const ImageRow& image, const BuildRow& build,
                                 const OptimizeRequest& request, ImageOutcome& outcome) {
  const ChosenProfile chosen = request.given
                                   ? given_profile(image, build, *request.given, outcome)
                                   : collected_profile(image, build, request.profile, outcome);
  OptimizeOptions options;
  if (chosen.profile.runs > 0) options.profile = &chosen.profile;
  const char* layout = best_layout(chosen.profile);
  parse_layout(layout, options);
  options.only_if_gained = true;
  options.dynamic_fragments = request.dynamic_fragments;
  options.description = fmt::format("--layout {}{}{}", layout, chosen.description,
                                    request.dynamic_fragments ? " --dynamic-fragments" : "");
  options.fingerprint = kFingerprint;
  if (progress)
    options.progress = [&](std::string_view step, double done) {
      progress(image.path, step, done);
    };
  DerivedFacts facts;
  facts.kind = DerivedKind::optimized;
  facts.options = fmt::format("{}; {}", options.description, kFingerprint);
  facts.profile_hash = hash_of(database_.profile(build.id));
  if (is_up_to_date(build, facts)) {
    outcome.state = State::up_to_date;
    return;
  }
  const ImageContent content = content_of(image, build);
  const OptimizeResult result = respike::optimize(content.image(), options, warnings_);
  facts.content = database_.store().put(result.bytes, mode_of(image.path));
  if (result.annotated.entered != 0) facts.forecast = describe(result.gain);
  database_.add_optimized(build.id, facts);
  outcome.state = State::made;
  outcome.procedures = result.moved;
  outcome.gain = facts.forecast;
}

ProfileSet Environment::export_profiles(const std::string& name,
                                        const std::vector<std::string>& images,
                                        const ProfileOptions& use) {
  collect();
  const ApplicationRow application = find(name);
  require_one_machine(application);
  follow_links(application);
  ProfileSet set;
  for (ApplicationImage& used : chosen_images(application, images)) {
    const auto build = refresh(used.image);
    if (!build) continue;
    if (database_.summary(build->id).runs == 0) carry_over(used.image, *build);
    Profile profile = database_.profile(build->id, use);
    if (profile.runs == 0) continue;
    profile.image_path = fs::path(used.image.path).filename();
    set.push_back({used.image.soname, used.image.machine, std::move(profile)});
  }
  if (set.empty())
    throw Error(
        fmt::format("nothing of {} has been counted: respike instrument {}, then respike "
                    "run {} with typical work, makes a profile",
                    images.empty() ? name : fmt::format("{}", fmt::join(images, ", ")), name, name),
        name);
  return set;
}

bool Environment::has_derived(Id image, DerivedKind kind) const {
  const std::vector<BuildRow> builds = database_.builds(image);
  return std::any_of(builds.begin(), builds.end(), [&](const BuildRow& build) {
    return database_.newest_derived(build.id, kind).has_value();
  });
}

}  // namespace respike

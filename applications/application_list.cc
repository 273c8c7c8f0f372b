// Lists applications and their images, for tables of the command line and the manager.

#include <fmt/format.h>

#include <chrono>
#include <ctime>

#include "applications/environment.h"
#include "applications/image_content.h"
#include "optimizer/base/error.h"

namespace respike {

ApplicationView Environment::view(const ApplicationRow& application) {
  ApplicationView view;
  view.name = application.name;
  view.mode = application.mode;
  view.fault = database_.fault_of(application.id);
  view.last_run = database_.last_run(application.id);
  view.last_check = database_.last_check(application.id);
  view.last_export = database_.last_export(application.id);
  view.guarded = application.mode == Mode::optimized && active_fault(application).has_value();
  follow_links(application);
  std::vector<ApplicationImage> images = database_.images_of(application.id);
  const std::string main = images.front().loaded_as;
  view.main = images.front().image.path;
  for (ApplicationImage& used : images) {
    ImageView shown;
    shown.role = used.role;
    shown.loaded_as = used.loaded_as;
    try {
      shown.problem = foreign_machine(used.loaded_as, view.name, main);
      if (shown.problem.empty())
        shown.build = refresh(used.image);
      else
        used.image.machine = machine_of(used.loaded_as);
    } catch (const Error& error) {
      shown.changed = dynamic_cast<const BuildNotNoted*>(&error) != nullptr;
      shown.problem = message_without(used.image.path, error);
    }
    shown.image = used.image;
    shown.builds = unsigned(database_.builds(used.image.id).size());
    if (shown.build) {
      const ProfileSummary summary = database_.summary(shown.build->id);
      shown.profile.runs = summary.runs;
      shown.profile.confidence = summary.confidence;
      shown.profile.carried_runs = summary.carried_runs;
      shown.profile.carried_confidence = summary.carried_confidence;
      shown.profile.version = summary.version;
      if (summary.procedures != 0)
        shown.profile.coverage = double(summary.entered) / double(summary.procedures);
      if (summary.newest_day)
        shown.profile.age_days =
            std::max<int64_t>(0, std::time(nullptr) / 86400 - *summary.newest_day);
      shown.instrumented = database_.newest_derived(shown.build->id, DerivedKind::instrumented);
      shown.optimized = database_.newest_derived(shown.build->id, DerivedKind::optimized);
      shown.profile_grew = shown.optimized && shown.optimized->profile_hash !=
                                                  hash_of(database_.profile(shown.build->id));
    }
    view.images.push_back(std::move(shown));
  }
  return view;
}

std::vector<const ImageView*> ApplicationView::programs() const {
  std::vector<const ImageView*> programs;
  for (const ImageView& view : images)
    if (view.role == Role::main && view.image.program) programs.push_back(&view);
  return programs;
}

std::vector<ApplicationView> Environment::list() {
  collect();
  std::vector<ApplicationView> views;
  for (const ApplicationRow& application : database_.applications()) {
    try {
      views.push_back(view(application));
    } catch (const Error&) {
      if (is_registered(application)) throw;
    }
  }
  return views;
}

void Environment::note_check(const std::string& name, const LastCheck& check) try {
  database_.put_last(find(name).id, check);
} catch (const Error& error) {
  warnings_.warn(fmt::format("what the check found is not noted: {}", error.what()));
}

ApplicationView Environment::show(const std::string& name) {
  collect();
  return view(find(name));
}

}  // namespace respike

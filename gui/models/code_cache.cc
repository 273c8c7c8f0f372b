#include "gui/models/code_cache.h"

#include <fmt/format.h>

#include <algorithm>

#include "optimizer/base/error.h"
#include "optimizer/lift/lift.h"
#include "optimizer/pipeline.h"

namespace respike::gui {
namespace {

ImageView find_image(Environment& environment, const std::string& application,
                     const std::string& path) {
  for (ImageView& view : environment.show(application).images)
    if (view.image.path == path) return std::move(view);
  throw Error("the application has no such image", path);
}

}  // namespace

bool is_counted(const ImageView& view, const std::vector<std::string>& images) {
  return view.build && view.profile.runs + view.profile.carried_runs > 0 &&
         (images.empty() || std::ranges::find(images, view.image.path) != images.end());
}

const CodeCache::Lifted& CodeCache::lifted(Environment& environment, const ImageView& view,
                                           Version version) {
  if (!view.build) throw Error("it cannot be optimized: " + view.image.reason, view.image.path);
  if (version == Version::optimized && !view.optimized)
    throw Error("it has not been optimized", view.image.path);
  const std::string key = version == Version::optimized
                              ? "optimized " + view.optimized->content.hex()
                              : fmt::format("original {} {} {}", view.build->content.hex(),
                                            view.profile.runs, view.profile.carried_runs);
  if (last_ && last_->key == key) return *last_;
  last_.reset();  // two large programs need not be in memory at once
  auto lifted = std::make_unique<Lifted>();
  lifted->key = key;
  Diagnostics ignored;
  if (version == Version::optimized) {
    lifted->image = read_image(environment.database().store().path(view.optimized->content));
    lifted->program = lift(lifted->image, ignored);
    lifted->counted.resize(lifted->program.procedures.size());
  } else {
    lifted->image = read_image(std::filesystem::path(view.image.path));
    lifted->program = lift(lifted->image, ignored);
    const Profile profile = environment.database().profile(view.build->id);
    lifted->counted = apply_profile(lifted->program, profile, ignored).known;
  }
  last_ = std::move(lifted);
  return *last_;
}

ImageInfo CodeCache::info(Environment& environment, const std::string& application,
                          const std::string& image) {
  const ImageView view = find_image(environment, application, image);
  return describe_image(lifted(environment, view, Version::original).program);
}

const Program& CodeCache::counted(Environment& environment, const std::string& application,
                                  const std::string& image) {
  return lifted(environment, find_image(environment, application, image), Version::original)
      .program;
}

ProcedureAnswer CodeCache::ask(Environment& environment, const ProcedureQuestion& question) {
  const ImageView view = find_image(environment, question.application, question.image);
  const Lifted& code = lifted(environment, view, question.version);
  const auto& procedures = code.program.procedures;
  const bool by_address = question.version == Version::original && question.address != 0;
  const auto found = std::ranges::find_if(procedures, [&](const Procedure& procedure) {
    return by_address ? procedure.address == question.address : procedure.name == question.name;
  });
  if (found == procedures.end())
    throw Error("it has no procedure " + question.name, question.image);
  const auto id = static_cast<ProcedureId>(found - procedures.begin());
  return {view_code(code.program, id), code.counted[id]};
}

}  // namespace respike::gui

// Example: the window asks for `main` of an image, then for `memcpy`: the image is lifted once.
// Following the rewriting from the original to the optimized version (optimizer/replay/rewritten.h) takes
// about four times as long as lifting, so it is done only on request.

#include "gui/models/code_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

#include "optimizer/base/error.h"
#include "optimizer/base/saturating.h"
#include "optimizer/lift/lift.h"
#include "optimizer/profile/annotate.h"
#include "views/source_text.h"

namespace respike::gui {
namespace {

ImageView find_image(Environment& environment, const std::string& application,
                     const std::string& path) {
  for (ImageView& view : environment.show(application).images)
    if (view.image.path == path) return std::move(view);
  throw Error("the application has no such image", path);
}

std::string key_of(Environment& environment, const ImageView& view) {
  return fmt::format("{} {} {}", view.build->content.hex(), view.profile.version,
                     environment.database().path().string());
}

}  // namespace

bool is_counted(const ImageView& view, const std::vector<std::string>& images) {
  return view.build && view.profile.runs + view.profile.carried_runs > 0 &&
         (images.empty() || std::ranges::find(images, view.image.path) != images.end());
}

CodeCache::Original& CodeCache::original(Environment& environment, const ImageView& view) {
  if (!view.problem.empty()) throw Error(view.problem, view.image.path);
  if (!view.build) throw Error("it cannot be optimized: " + view.image.reason, view.image.path);
  const std::string key = key_of(environment, view);
  if (original_ && original_->key == key) return *original_;
  optimized_.reset();
  original_.reset();  // avoids two large programs in memory at once
  auto lifted = std::make_unique<Original>();
  lifted->key = key;
  Diagnostics ignored;
  lifted->content.emplace(content_of(view.image, *view.build));
  lifted->program = lift(lifted->content->image(), ignored);
  lifted->profile = environment.database().profile(view.build->id);
  lifted->counted = apply_profile(lifted->program, lifted->profile, ignored).known;
  original_ = std::move(lifted);
  return *original_;
}

const CodeCache::Optimized& CodeCache::optimized(Environment& environment, const ImageView& view) {
  const Original& before = original(environment, view);
  if (!view.optimized) throw Error("it has not been optimized", view.image.path);
  const std::string key = before.key + ' ' + view.optimized->content.hex();
  if (optimized_ && optimized_->key == key) return *optimized_;
  optimized_.reset();
  auto followed = std::make_unique<Optimized>();
  followed->key = key;
  followed->image = read_image(environment.database().store().path(view.optimized->content));
  Diagnostics ignored;
  followed->program =
      follow_rewriting(before.content->image(), followed->image, &before.profile, ignored);
  optimized_ = std::move(followed);
  return *optimized_;
}

std::shared_ptr<const SourceLines> CodeCache::original_lines(Environment& environment,
                                                             const ImageView& view) {
  const Original& code = original(environment, view);
  if (const std::string key = view.build->content.hex(); original_lines_.key != key)
    original_lines_ = {key, std::make_shared<SourceLines>(code.content->image())};
  return original_lines_.lines;
}

std::shared_ptr<const SourceLines> CodeCache::optimized_lines(Environment& environment,
                                                              const ImageView& view) {
  const Optimized& code = optimized(environment, view);
  if (const std::string key = view.optimized->content.hex(); optimized_lines_.key != key)
    optimized_lines_ = {key, std::make_shared<SourceLines>(code.image)};
  return optimized_lines_.lines;
}

ImageInfo CodeCache::info(Environment& environment, const std::string& application,
                          const std::string& image) {
  return describe_image(original(environment, find_image(environment, application, image)).program);
}

LayoutAnswer CodeCache::layouts(Environment& environment, const std::string& application,
                                const std::string& image) {
  const ImageView view = find_image(environment, application, image);
  LayoutAnswer answer;
  answer.before = view_layout(original(environment, view).program);
  answer.lines_before = original_lines(environment, view);
  if (!view.optimized) return answer;
  try {
    answer.after = view_layout(optimized(environment, view).program);
    answer.lines_after = optimized_lines(environment, view);
  } catch (const Error& error) {
    answer.not_followed = error.what();
  }
  return answer;
}

ProcedureId CodeCache::find(const Original& code, const ProcedureQuestion& question) const {
  const auto& procedures = code.program.procedures;
  const auto found = std::ranges::find_if(procedures, [&](const Procedure& procedure) {
    return question.address != 0 ? procedure.address == question.address
                                 : procedure.name == question.name;
  });
  if (found == procedures.end())
    throw Error("it has no procedure " + question.name, question.image);
  return static_cast<ProcedureId>(found - procedures.begin());
}

const Program& CodeCache::counted(Environment& environment, const std::string& application,
                                  const std::string& image) {
  return original(environment, find_image(environment, application, image)).program;
}

ProcedureAnswer CodeCache::ask(Environment& environment, const ProcedureQuestion& question) {
  const ImageView view = find_image(environment, question.application, question.image);
  const Original& code = original(environment, view);
  const ProcedureId id = find(code, question);
  if (question.version == Version::original) return {view_code(code.program, id), code.counted[id]};
  return {view_rewritten_code(optimized(environment, view).program, id), code.counted[id]};
}

ProcedureAnswer CodeCache::ask_changes(Environment& environment,
                                       const ProcedureQuestion& question) {
  const ImageView view = find_image(environment, question.application, question.image);
  const Original& code = original(environment, view);
  const ProcedureId id = find(code, question);
  ProcedureAnswer answer{view_code(code.program, id), code.counted[id]};
  mark_changes(answer.view, optimized(environment, view).program);
  return answer;
}

CodeSources CodeCache::ask_sources(Environment& environment, const ProcedureQuestion& question) {
  const ImageView view = find_image(environment, question.application, question.image);
  const Original& code = original(environment, view);
  const ProcedureId id = find(code, question);
  const auto before = original_lines(environment, view);
  if (before->empty()) return {};
  const CodeView original_view = view_code(code.program, id);
  if (question.version == Version::original) return sources_of(original_view, *before);
  const CodeView output = view_rewritten_code(optimized(environment, view).program, id);
  const auto after = optimized_lines(environment, view);
  return after->empty() ? sources_of(output, original_view, *before) : sources_of(output, *after);
}

SourceAnswer CodeCache::ask_source(Environment& environment, const SourceQuestion& question) {
  const ImageView view = find_image(environment, question.application, question.image);
  Original& code = original(environment, view);
  const auto lines = original_lines(environment, view);
  if (!code.sources) code.sources = counts_by_source(*lines, code.program, code.profile, {}, {});
  SourceAnswer answer;
  answer.counted = std::ranges::any_of(code.counted, std::identity());
  for (const SourceFile& file : *code.sources) {
    answer.instructions = saturating_add(answer.instructions, file.instructions);
    if (file.path == question.path) answer.counts = file.lines;
  }
  std::set<uint32_t> coded;
  for (const LineRange& range : lines->ranges())
    if (range.line != 0 && lines->files()[range.file] == question.path) coded.insert(range.line);
  answer.coded.assign(coded.begin(), coded.end());
  const QString found = find_source(QString::fromStdString(question.path), question.substitutions);
  if (found.isEmpty()) return answer;
  answer.text = read_source(found.toStdString());
  if (answer.text) answer.found = found;
  std::error_code error;
  const auto written = std::filesystem::last_write_time(found.toStdString(), error);
  const auto linked = std::filesystem::last_write_time(question.image, error);
  answer.newer = !error && written > linked;
  return answer;
}

const SourceLines& CodeCache::lines(Environment& environment, const std::string& application,
                                    const std::string& image) {
  return *original_lines(environment, find_image(environment, application, image));
}

}  // namespace respike::gui

// Example: optimize_action("bc", {.images = {"/usr/bin/bc"}}) has the command line
// `respike optimize bc --image /usr/bin/bc`.

#include "gui/models/action.h"

#include <algorithm>

#include "applications/descriptions.h"
#include "optimizer/base/error.h"
#include "views/verification.h"

namespace respike::gui {
namespace {

QString text(const std::string& utf8) {
  return QString::fromStdString(utf8);
}

/// The words of a subcommand. Operands that look like options go after "--", at the end.
QStringList command_line(const QString& subcommand, const QStringList& operands,
                         const QStringList& options = {}) {
  const QStringList start = {"respike", subcommand};
  const bool like_options =
      std::ranges::any_of(operands, [](auto& o) { return o.startsWith('-'); });
  if (like_options) return start + options + QStringList("--") + operands;
  return start + operands + options;
}

QStringList image_options(const std::vector<std::string>& images) {
  QStringList words;
  for (const std::string& image : images) words << "--image" << text(image);
  return words;
}

/// What was done with each image. The most important sentence comes last, since the last one stays
/// in the status line: the sentence of the only image, or a sum.
QStringList sentences(const std::vector<ImageOutcome>& outcomes, bool named,
                      std::string (*made)(const ImageOutcome&), const QString& done) {
  QStringList result;
  if (const std::string others = left_alone_line(outcomes, named); !others.empty())
    result << text(others) + " (the page Applications says why)";
  for (const std::string& line : outcome_lines(outcomes, named, made)) result << text(line);
  using State = ImageOutcome::State;
  const auto count = [&](State state) {
    return std::ranges::count(outcomes, state, &ImageOutcome::state);
  };
  const auto now = count(State::made), before = count(State::up_to_date);
  if (now + before > 1)
    result << QString("%1 of %2 images %3%4")
                  .arg(now + before)
                  .arg(now + before + count(State::left_out))
                  .arg(done, before == 0 ? "" : QString(", %1 of them before").arg(before));
  return result;
}

struct Optimized {
  std::string original;
  std::filesystem::path file;
};

/// Throws Error when none of `images` (paths; empty: all) is optimized.
std::vector<Optimized> optimized_images(Environment& environment, const std::string& name,
                                        const std::vector<std::string>& images) {
  std::vector<Optimized> result;
  for (const ImageView& view : environment.show(name).images)
    if (view.optimized &&
        (images.empty() || std::ranges::find(images, view.image.path) != images.end()))
      result.push_back(
          {view.image.path, environment.database().store().path(view.optimized->content)});
  if (result.empty()) throw Error("no image is optimized: there is nothing to verify", name);
  return result;
}

}  // namespace

Action register_action(const std::filesystem::path& program, const QString& name) {
  return register_action(std::vector{program}, name);
}

Action register_action(const std::vector<std::filesystem::path>& programs, const QString& name) {
  QStringList paths;
  for (const std::filesystem::path& program : programs) paths << text(program.string());
  const QStringList options = name.isEmpty() ? QStringList() : QStringList{"--name", name};
  Action action{.title = "Register " + paths.join(", "),
                .command = command_line("register", paths, options),
                .work = {}};
  action.work = [programs, name = name.toStdString()](Environment& environment) {
    const RegisterResult result = environment.register_application(programs, name);
    QStringList said = {text(registered_text(result))};
    for (const auto& [image, role] : result.images)
      if (!image.optimizable && role == Role::main)
        said << text(image.path) + ": " + text(left_alone_text(image));
    return said;
  };
  return action;
}

Action instrument_action(const QString& name, const MakingOptions& options) {
  QStringList words = image_options(options.images);
  if (options.counters != Counters::shared)
    words << "--counters" << text(std::string(name_of(options.counters)));
  Action action{.title = "Instrument " + name,
                .command = command_line("instrument", {name}, words),
                .work = {}};
  action.work = [name = name.toStdString(), options](Environment& environment) {
    return sentences(environment.instrument(name, options.images, options.counters),
                     !options.images.empty(), instrumented_text, "instrumented");
  };
  return action;
}

Action optimize_action(const QString& name, const MakingOptions& options) {
  QStringList words = image_options(options.images);
  if (options.profile.half_life_days > 0)
    words << "--half-life" << QString::number(options.profile.half_life_days);
  if (options.profile.carried_weight != 1)
    words << "--older-weight" << QString::number(options.profile.carried_weight);
  Action action{
      .title = "Optimize " + name, .command = command_line("optimize", {name}, words), .work = {}};
  action.work = [name = name.toStdString(), options](Environment& environment) {
    return sentences(environment.optimize(
                         name, {.images = options.images, .profile = options.profile, .given = {}}),
                     !options.images.empty(), optimized_text, "optimized");
  };
  return action;
}

Action mode_action(const QString& name, Mode mode) {
  const QString word = text(std::string(name_of(mode)));
  return {
      .title =
          QString("Run %1 %2 from now on").arg(name, mode == Mode::original ? "as it is" : word),
      .command = command_line("mode", {name, word}),
      .work = [name = name.toStdString(), mode](Environment& environment) {
        environment.set_mode(name, mode);
        return QStringList();
      }};
}

Action collect_action() {
  return {.title = "Collect counts",
          .command = {"respike", "collect"},
          .work = [](Environment& environment) {
            return QStringList{text(collected_text(environment.collect()))};
          }};
}

Action export_action(const QString& name, const std::vector<std::string>& images,
                     const ExportPlace& chosen) {
  // A window has no working folder that the user knows.
  ExportPlace place = chosen;
  place.folder = std::filesystem::absolute(place.folder).lexically_normal();
  const QString folder = text(place.folder.string());
  QStringList words = image_options(images);
  QStringList operands = {name};
  if (place.names == ExportPlace::Names::paths)
    words << "--root" << folder;
  else
    operands << folder;
  Action action{
      .title = "Export " + name, .command = command_line("export", operands, words), .work = {}};
  action.work = [name = name.toStdString(), images, place](Environment& environment) {
    return sentences(environment.export_images(name, images, place), !images.empty(), exported_text,
                     "exported into " + text(place.folder.string()));
  };
  return action;
}

Action unregister_action(const QString& name) {
  return {.title = "Forget " + name,
          .command = command_line("unregister", {name}),
          .work = [name](Environment& environment) {
            environment.unregister(name.toStdString());
            return QStringList{
                name + ": forgotten; the profiles of its images stay until they are pruned"};
          }};
}

Action prune_action(unsigned keep, bool dry_run) {
  Action action{.title = dry_run ? "See what pruning would remove" : "Prune",
                .command = {"respike", "prune", "--keep", QString::number(keep)},
                .work = {}};
  if (dry_run) action.command << "--dry-run";
  action.work = [keep, dry_run](Environment& environment) {
    const PruneResult result = environment.prune(keep, dry_run);
    QStringList said;
    for (const std::string& row : result.rows) said << text(row);
    return said << text(pruned_text(result, dry_run));
  };
  return action;
}

Action verify_action(const QString& name, const std::vector<std::string>& images) {
  // The command line verifies files: see verify_commands().
  return {.title = "Verify " + name,
          .command = {},
          .work = [name = name.toStdString(), images](Environment& environment) {
            QStringList said;
            const std::vector<Optimized> all = optimized_images(environment, name, images);
            for (const auto& [original, optimized] : all) {
              Diagnostics diagnostics;
              const auto progress = [&, &path = original](std::string_view step, double done) {
                if (environment.progress) environment.progress(path, step, done);
              };
              said << text(original) + ": the optimized image behaves as the original (" +
                          text(verify_files(original, optimized, diagnostics, progress)) + ")";
            }
            if (all.size() > 1)
              said << QString("all %1 optimized images behave as their originals").arg(all.size());
            return said;
          }};
}

std::vector<QStringList> verify_commands(Environment& environment, const QString& name,
                                         const std::vector<std::string>& images) {
  std::vector<QStringList> commands;
  for (const auto& [original, optimized] :
       optimized_images(environment, name.toStdString(), images))
    commands.push_back({"respike", "image", "verify", text(original), text(optimized.string())});
  return commands;
}

QString shell_line(const QStringList& words) {
  QStringList quoted;
  for (const QString& word : words)
    quoted << QString::fromStdString(shell_word(word.toStdString()));
  return quoted.join(' ');
}

}  // namespace respike::gui

// Example: optimize_action("bc", {.images = {"/usr/bin/bc"}}) has the command line
// `respike optimize bc --image /usr/bin/bc`.

#include "gui/models/action.h"

#include <algorithm>

#include "environment/describing.h"
#include "environment/verifying.h"
#include "optimizer/base/error.h"

namespace respike::gui {
namespace {

QString text(const std::string& utf8) {
  return QString::fromStdString(utf8);
}

/// The words of a subcommand. Operands that look like options go behind "--", at the end.
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

QStringList sentences(const std::vector<ImageOutcome>& outcomes, bool named,
                      std::string (*made)(const ImageOutcome&)) {
  QStringList result;
  for (const std::string& line : outcome_lines(outcomes, named, made)) result << text(line);
  return result;
}

}  // namespace

Action register_action(const std::filesystem::path& program, const QString& name) {
  const QString path = text(program.string());
  const QStringList options = name.isEmpty() ? QStringList() : QStringList{"--name", name};
  Action action{.title = "Register " + path,
                .command = command_line("register", {path}, options),
                .work = {}};
  action.work = [program, name = name.toStdString()](Environment& environment) {
    const RegisterResult result = environment.register_application(program, name);
    QStringList said = {text(result.name) +
                        (result.added ? ": registered" : ": was registered already")};
    for (const auto& [image, role] : result.images)
      if (!image.optimizable && role == Role::main)
        said << text(image.path) + ": " + text(left_alone_text(image));
    for (const std::string& missing : result.missing)
      said << text(missing) + ": the loader would not find this library";
    return said;
  };
  return action;
}

Action instrument_action(const QString& name, const MakingOptions& options) {
  QStringList words = image_options(options.images);
  if (options.atomic) words += QStringList{"--counters", "atomic"};
  Action action{.title = "Instrument " + name,
                .command = command_line("instrument", {name}, words),
                .work = {}};
  action.work = [name = name.toStdString(), options](Environment& environment) {
    return sentences(environment.instrument(name, options.images, options.atomic),
                     !options.images.empty(), instrumented_text);
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
    return sentences(environment.optimize(name, options.images, options.profile),
                     !options.images.empty(), optimized_text);
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
                     const ExportPlace& place) {
  const QString folder = text(place.folder.string());
  QStringList words = image_options(images);
  QStringList operands = {name};
  if (place.keeps_paths)
    words << "--root" << folder;
  else
    operands << folder;
  Action action{
      .title = "Export " + name, .command = command_line("export", operands, words), .work = {}};
  action.work = [name = name.toStdString(), images, place](Environment& environment) {
    return sentences(environment.export_images(name, images, place), !images.empty(),
                     exported_text);
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
  // The command line verifies files, so that there is no command for an application.
  return {.title = "Verify " + name,
          .command = {},
          .work = [name = name.toStdString(), images](Environment& environment) {
            const ApplicationView application = environment.show(name);
            QStringList said;
            for (const ImageView& view : application.images) {
              if (!images.empty() && std::ranges::find(images, view.image.path) == images.end())
                continue;
              if (!view.optimized) continue;
              Diagnostics diagnostics;
              const auto progress = [&](std::string_view step, double done) {
                if (environment.progress) environment.progress(view.image.path, step, done);
              };
              const auto file = environment.database().store().path(view.optimized->content);
              said << text(view.image.path) + ": the optimized image behaves as the original (" +
                          text(verify_files(view.image.path, file, diagnostics, progress)) + ")";
            }
            if (said.isEmpty())
              throw Error("no image is optimized: there is nothing to verify", name);
            return said;
          }};
}

QString shell_line(const QStringList& words) {
  static const QString kPlain = "%+,-./:=@_";
  QStringList quoted;
  for (const QString& word : words) {
    const bool plain = !word.isEmpty() && std::ranges::all_of(word, [](QChar c) {
      return c.unicode() < 128 && (c.isLetterOrNumber() || kPlain.contains(c));
    });
    quoted << (plain ? word : "'" + QString(word).replace("'", "'\\''") + "'");
  }
  return quoted.join(' ');
}

}  // namespace respike::gui

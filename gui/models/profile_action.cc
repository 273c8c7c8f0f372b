// Example: merge_action({{a, 2}, {b, 1}}, "sum.profile") has the command line `respike profile
// merge a:2 b -o sum.profile`. Profiles of the database are not files, so there is no command line
// for them.

#include "gui/models/profile_action.h"

#include <QFileInfo>

#include "applications/file_checks.h"
#include "optimizer/profile/matching/carried_profile.h"

namespace respike::gui {
namespace {

/// The word that stands for a file with its weight.
QString weighted(const WeightedSource& input) {
  const QString file = QString::fromStdString(input.source.file);
  const bool needs_weight = input.weight != 1 || file.contains(':');
  return needs_weight ? file + ':' + QString::number(input.weight) : file;
}

QStringList texts(const Diagnostics& diagnostics) {
  QStringList result;
  for (const std::string& warning : diagnostics.warnings())
    result << QString::fromStdString(warning);
  return result;
}

}  // namespace

Action merge_action(const std::vector<WeightedSource>& inputs, const QString& output) {
  QStringList command = {"respike", "profile", "merge"};
  bool all_files = true;
  for (const WeightedSource& input : inputs) {
    command << weighted(input);
    all_files &= input.source.is_file();
  }
  command << "-o" << output;
  Action action{.title = "Merge profiles into " + QFileInfo(output).fileName(),
                .command = all_files ? command : QStringList(),
                .work = {}};
  action.work = [inputs, output](Environment& environment) {
    const std::string file = output.toStdString();
    std::vector<MergeInput> read;
    for (const auto& [source, weight] : inputs) {
      refuse_overwriting(file, {source.file});
      read.push_back({source.is_file() ? source.file : source.name.toStdString(),
                      read_profile_of(environment, source), weight});
    }
    if (environment.progress) environment.progress(file, "merge", 0.5);
    Diagnostics diagnostics;
    const Profile merged = merge_inputs(std::move(read), diagnostics);
    write_profile(file, merged);
    return texts(diagnostics) << QString("%1: written, a profile of %2 runs")
                                     .arg(output, QString::number(merged.runs));
  };
  return action;
}

Action match_action(const ProfileSource& source, const QString& image, const QString& output,
                    std::shared_ptr<LossAnswer> answer) {
  QStringList command;
  if (source.is_file() && !output.isEmpty())
    command = QStringList{"respike", "profile", "match", QString::fromStdString(source.file),
                          image,     "-o",      output};
  Action action{.title = "Match " + source.name + " with " + QFileInfo(image).fileName(),
                .command = command,
                .work = {}};
  action.work = [source, image, output, answer](Environment& environment) {
    refuse_overwriting(output.toStdString(), {image.toStdString()});
    const Profile before = read_profile_of(environment, source);
    const Image newer = read_image(std::filesystem::path(image.toStdString()));
    require_machine(newer);
    if (environment.progress) environment.progress(image.toStdString(), "match", 0.5);
    Diagnostics diagnostics;
    const std::string name = source.is_file() ? source.file : source.name.toStdString();
    const MatchResult match = match_image(before, name, newer, diagnostics);
    if (!output.isEmpty()) write_profile(output.toStdString(), match.profile);
    *answer = losses_of(source.name + " with " + image, before, match);
    return texts(diagnostics) << answer->summary;
  };
  return action;
}

}  // namespace respike::gui

// Example: `words` was built twice and counted in both builds, and the user opened the file
// old.profile. The list has the rows "words, build 1", "words, build 2 (now)" and "old.profile".

#include "gui/models/profile_source.h"

#include <QFileInfo>

#include "applications/descriptions.h"
#include "views/profile_figures.h"

namespace respike::gui {

std::vector<ProfileLine> read_build_profiles(Environment& environment,
                                             const std::string& application) {
  std::vector<ProfileLine> lines;
  const Database& database = environment.database();
  for (const ImageView& view : environment.show(application).images) {
    std::vector<BuildRow> builds = database.builds(view.image.id);
    for (auto build = builds.rbegin(); build != builds.rend(); ++build) {
      const ProfileSummary summary = database.summary(build->id);
      if (summary.confidence == 0 && !database.profiled_build_before(build->id)) continue;
      ProfileLine& line = lines.emplace_back();
      line.present = view.build && view.build->id == build->id;
      line.source.build = build->id;
      line.image = QString::fromStdString(view.image.path);
      line.source.name = QString("%1, build %2%3")
                             .arg(QFileInfo(line.image).fileName())
                             .arg(build->number)
                             .arg(line.present ? " (now)" : "");
      line.runs = summary.runs;
      line.procedures = summary.procedures;
      line.entered = summary.entered;
      if (summary.carried_runs > 0)
        line.carried =
            QString::fromStdString(carried_text(summary.carried_runs, summary.carried_confidence));
    }
  }
  return lines;
}

ProfileLine read_profile_line(const std::string& file) {
  const Profile profile = read_profile(file);
  const ProfileFigures figures = figures_of(profile);
  ProfileLine line;
  line.source.file = file;
  line.source.name = QFileInfo(QString::fromStdString(file)).fileName();
  line.image = QString::fromStdString(profile.image_path);
  line.runs = profile.runs;
  line.procedures = figures.procedures;
  line.entered = figures.entered;
  return line;
}

Profile read_profile_of(Environment& environment, const ProfileSource& source) {
  return source.is_file() ? read_profile(source.file)
                          : environment.database().profile(source.build);
}

std::shared_ptr<const CellRows> line_cells(const std::vector<ProfileLine>& lines) {
  auto rows = std::make_shared<CellRows>();
  for (const ProfileLine& line : lines)
    rows->push_back({text_cell(line.source.name.toStdString()), figure_cell(line.runs),
                     count_cell(line.procedures), count_cell(line.entered),
                     text_cell(line.carried.toStdString()), text_cell(line.image.toStdString())});
  return rows;
}

}  // namespace respike::gui

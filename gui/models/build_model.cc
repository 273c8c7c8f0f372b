// Example: an image that was built twice, with two runs of the first build, has the rows 2 ("2 runs
// of older builds") and 1 ("2 runs").

#include "gui/models/build_model.h"

#include <QDateTime>
#include <QLocale>

#include <algorithm>

#include "applications/descriptions.h"
#include "gui/models/profile_tables.h"
#include "optimizer/base/number_text.h"

namespace respike::gui {

std::vector<BuildLine> read_builds(Environment& environment, const std::string& application,
                                   const std::string& image) {
  std::vector<BuildLine> lines;
  const ApplicationView view = environment.show(application);
  const auto found =
      std::ranges::find(view.images, image, [](const ImageView& i) { return i.image.path; });
  if (found == view.images.end()) return lines;
  const Database& database = environment.database();
  for (const BuildRow& build : database.builds(found->image.id)) {
    BuildLine& line = lines.emplace_back();
    line.build = build;
    line.profile = database.summary(build.id);
    line.present = found->build && found->build->id == build.id;
    line.instrumented = database.newest_derived(build.id, DerivedKind::instrumented).has_value();
    line.optimized = database.newest_derived(build.id, DerivedKind::optimized).has_value();
  }
  return lines;
}

std::optional<FoundAgain> BuildHistory::found(Environment& environment, Id build) {
  const Database& database = environment.database();
  const auto before = database.profiled_build_before(build);
  if (!before) return std::nullopt;
  const auto key = std::tuple(build, before->id, database.summary(before->id).version);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  const LossAnswer answer = read_losses(environment, build);
  return known_[key] = {uint32_t(before->number), answer.confidence, answer.most_lost};
}

// ---- BuildModel ----

constexpr TableModel::Title kBuildModelTitles[] = {
    {"Build", "Contents that the file had, in order"},
    {"First seen", "When Respike saw the content first"},
    {"Counted", "Runs of this build that were counted, by their weights"},
    {"Procedures entered", "Procedures that these runs entered, of all"},
    {"From older builds",
     "Counts that were carried over from older builds, and how surely they fit; the page Profiles "
     "says what was lost"},
    {"Confidence", "1: this very build was counted; less: only older builds were"},
    {"Made of it", "What is kept in the database"},
    {"Build ID", "The identity that the linker wrote"}};

QString first_seen_text(const BuildRow& build) {
  return QLocale::system().toString(QDateTime::fromSecsSinceEpoch(build.first_seen),
                                    QLocale::ShortFormat);
}

BuildModel::BuildModel(QObject* parent) : TableModel(kBuildModelTitles, parent) {}

void BuildModel::set(std::vector<BuildLine> builds) {
  beginResetModel();
  builds_ = std::move(builds);
  endResetModel();
}

void BuildModel::set_found(size_t row, const FoundAgain& found) {
  builds_.at(row).found = found;
}

QVariant BuildModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || (role != Qt::DisplayRole && role != Qt::ToolTipRole)) return {};
  const BuildLine& line = builds_[size_t(index.row())];
  const ProfileSummary& profile = line.profile;
  switch (index.column()) {
    case number:
      return QString("%1%2").arg(line.build.number).arg(line.present ? " (now)" : "");
    case first_seen:
      return first_seen_text(line.build);
    case runs:
      return QString::fromStdString(runs_text(profile.runs));
    case entered:
      return QString("%1 of %2").arg(profile.entered).arg(profile.procedures);
    case older:
      return profile.carried_runs > 0 ? QString::fromStdString(carried_text(
                                            profile.carried_runs, profile.carried_confidence))
                                      : QString();
    case confidence:
      return QString::number(profile.confidence, 'f', 2);
    case made:
      return line.optimized ? "optimized" : line.instrumented ? "instrumented" : "";
    case build_id:
      return QString::fromStdString(line.build.build_id);
    default:
      return {};
  }
}

// ---- LeftAloneModel ----

constexpr TableModel::Title kLeftAloneModelTitles[] = {
    {"Procedure", "Name, by the symbol table"},
    {"State", "opaque: not understood; pinned: understood, but kept in place"},
    {"Why it is left alone", "The first reason that was found"}};

LeftAloneModel::LeftAloneModel(QObject* parent) : TableModel(kLeftAloneModelTitles, parent) {}

void LeftAloneModel::set(const ProgramSummary& summary) {
  beginResetModel();
  rows_.clear();
  for (const ProcedureNote& note : summary.opaque) rows_.push_back({note, true});
  for (const ProcedureNote& note : summary.pinned) rows_.push_back({note, false});
  endResetModel();
}

QVariant LeftAloneModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || (role != Qt::DisplayRole && role != Qt::ToolTipRole)) return {};
  const Row& row = rows_[size_t(index.row())];
  switch (index.column()) {
    case name:
      return QString::fromStdString(row.note.name);
    case state:
      return row.opaque ? "opaque" : "pinned";
    case reason:
      return QString::fromStdString(row.note.reason);
    default:
      return {};
  }
}

}  // namespace respike::gui

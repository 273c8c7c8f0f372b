// An index of an image holds the number of its application, from 1 on; an index of an application
// holds 0. An application keeps its number when its row moves, so that indexes of images stay
// right. Example: the second image of the application that came first is row 1 with the number 1.

#include "gui/models/application_model.h"

#include <QLocale>

#include <algorithm>
#include <cmath>

#include "applications/descriptions.h"

namespace respike::gui {
namespace {

QString text(std::string_view utf8) {
  return QString::fromUtf8(utf8.data(), qsizetype(utf8.size()));
}

QString file_name(const std::string& path) {
  return text(std::filesystem::path(path).filename().string());
}

QString describe(const ImageView& view) {
  switch (view.role) {
    case Role::main:
      return view.image.program ? "a program" : "the library";
    case Role::linked:
      return "a library that the loader opens";
    case Role::opened:
      return "a library that the program opened";
  }
  return {};
}

/// The progress of an application, in a few words.
QString progress_of(const ApplicationView& view) {
  const auto count = [&](auto what) { return int(std::ranges::count_if(view.images, what)); };
  const int can = count([](const ImageView& i) { return i.image.optimizable; });
  const int made = count([](const ImageView& i) { return i.optimized.has_value(); });
  const int counting = count([](const ImageView& i) { return i.instrumented.has_value(); });
  const bool grew = std::ranges::any_of(view.images, &ImageView::profile_grew);
  if (can == 0) return "cannot be optimized";
  if (made != 0)
    return QString("%1 of %2 optimized%3")
        .arg(made)
        .arg(can)
        .arg(grew ? ", before the latest runs" : "");
  if (counting != 0) return QString("%1 of %2 instrumented").arg(counting).arg(can);
  return QString("%1 of %2 can be optimized").arg(can).arg(view.images.size());
}

QString state_of(const ImageView& view) {
  if (!view.problem.empty()) return text(view.problem);
  if (!view.image.optimizable) return text(left_alone_text(view.image));
  return text(made_text(view));
}

QString percent(double share) {
  return QString::number(100 * share, 'f', 0) + "%";
}

QString tip_of(const ProfileView& profile) {
  if (profile.confidence == 0)
    return "Nothing was counted yet: instrument the application, and run it.";
  QString tip = QString(
                    "Runs of this build: %1\nProcedures that these runs entered: %2\n"
                    "Confidence: %3 (1: this very build was counted)")
                    .arg(profile.runs, 0, 'g', 4)
                    .arg(percent(profile.coverage))
                    .arg(profile.confidence, 0, 'f', 2);
  if (profile.carried_runs > 0)
    tip += QString("\nRuns of older builds: %1, with confidence %2")
               .arg(profile.carried_runs, 0, 'g', 4)
               .arg(profile.carried_confidence, 0, 'f', 2);
  if (profile.age_days)
    tip += QString("\nAge of the newest counts: %1 days").arg(*profile.age_days);
  return tip;
}

/// "3 days" in a cell, or the number by which to sort.
QVariant age_of(const std::optional<int64_t>& days, int role) {
  if (!days) return {};
  if (role == ApplicationModel::sort_role) return qlonglong(*days);
  return *days == 0   ? QString("today")
         : *days == 1 ? QString("1 day")
                      : QString("%1 days").arg(qlonglong(*days));
}

bool same_rows(const ApplicationView& a, const ApplicationView& b) {
  return std::ranges::equal(
      a.images, b.images, {}, [](const ImageView& i) -> const std::string& { return i.image.path; },
      [](const ImageView& i) -> const std::string& { return i.image.path; });
}

}  // namespace

/// Old and new rows merge in one walk, by name.
void ApplicationModel::set(std::vector<ApplicationView> applications) {
  lives_.clear();
  for (const ApplicationView& view : applications) lives_.emplace(view.name, life_of(view));
  std::ranges::sort(applications, {}, &ApplicationView::name);
  size_t row = 0;
  for (const ApplicationView& now : applications) {
    while (row < applications_.size() && applications_[row].name < now.name) {
      beginRemoveRows({}, int(row), int(row));
      applications_.erase(applications_.begin() + ptrdiff_t(row));
      numbers_.erase(numbers_.begin() + ptrdiff_t(row));
      endRemoveRows();
    }
    if (row < applications_.size() && applications_[row].name == now.name) {
      set_images(int(row), now);
    } else {
      beginInsertRows({}, int(row), int(row));
      applications_.insert(applications_.begin() + ptrdiff_t(row), now);
      numbers_.insert(numbers_.begin() + ptrdiff_t(row), ++last_number_);
      endInsertRows();
    }
    ++row;
  }
  if (row < applications_.size()) {
    beginRemoveRows({}, int(row), int(applications_.size()) - 1);
    applications_.resize(row);
    numbers_.resize(row);
    endRemoveRows();
  }
}

void ApplicationModel::set_images(int row, const ApplicationView& now) {
  ApplicationView& old = applications_[size_t(row)];
  const QModelIndex self = index(row, 0);
  if (!same_rows(old, now)) {
    if (!old.images.empty()) {
      beginRemoveRows(self, 0, int(old.images.size()) - 1);
      old.images.clear();
      endRemoveRows();
    }
    if (!now.images.empty()) {
      beginInsertRows(self, 0, int(now.images.size()) - 1);
      old.images = now.images;
      endInsertRows();
    }
  }
  old = now;
  Q_EMIT dataChanged(self, index(row, column_count - 1));
  if (!now.images.empty())
    Q_EMIT dataChanged(index(0, 0, self),
                       index(int(now.images.size()) - 1, column_count - 1, self));
}

QModelIndex ApplicationModel::find(const QString& application, const QString& image) const {
  for (size_t row = 0; row < applications_.size(); ++row) {
    if (text(applications_[row].name) != application) continue;
    const QModelIndex found = index(int(row), 0);
    if (image.isEmpty()) return found;
    const auto& images = applications_[row].images;
    for (size_t i = 0; i < images.size(); ++i)
      if (text(images[i].image.path) == image) return index(int(i), 0, found);
  }
  return {};
}

QModelIndex ApplicationModel::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent)) return {};
  return createIndex(row, column, parent.isValid() ? numbers_[size_t(parent.row())] : quintptr(0));
}

int ApplicationModel::row_of(quintptr number) const {
  return int(std::ranges::find(numbers_, number) - numbers_.begin());
}

QModelIndex ApplicationModel::parent(const QModelIndex& index) const {
  if (!index.isValid() || index.internalId() == 0) return {};
  return createIndex(row_of(index.internalId()), 0, quintptr(0));
}

int ApplicationModel::rowCount(const QModelIndex& parent) const {
  if (!parent.isValid()) return int(applications_.size());
  if (parent.internalId() != 0 || parent.column() != 0) return 0;
  return int(applications_[size_t(parent.row())].images.size());
}

int ApplicationModel::columnCount(const QModelIndex&) const {
  return column_count;
}

QVariant ApplicationModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const bool is_application = index.internalId() == 0;
  const size_t row = size_t(is_application ? index.row() : row_of(index.internalId()));
  const ApplicationView& application = applications_[row];
  if (role == application_role) return text(application.name);
  if (is_application) return application_data(application, index.column(), role);
  return image_data(application, application.images[size_t(index.row())], index.column(), role);
}

QVariant ApplicationModel::application_data(const ApplicationView& view, int column,
                                            int role) const {
  if (role == image_role) return QString();
  const ImageView* main = view.images.empty() ? nullptr : &view.images.front();
  if (role == sort_role && column == profile) return main != nullptr ? main->profile.runs : 0.0;
  if (role == Qt::ToolTipRole) {
    if (column == name) return text(view.main);
    if (column == mode) return "Which versions of the images `respike run` runs.";
    if (column == profile && main != nullptr) return tip_of(main->profile);
    if (column == gain) return view.last_check ? text(view.last_check->verdict) : QString();
    role = Qt::DisplayRole;
  }
  if (role != Qt::DisplayRole && role != sort_role) return {};
  switch (column) {
    case name:
      return text(view.name);
    case mode:
      return view.guarded ? QString("optimized; the guard runs the original")
                          : text(name_of(view.mode));
    case state:
      return main != nullptr && !main->problem.empty() ? text(main->problem) : progress_of(view);
    case profile:
      return main != nullptr ? text(short_profile_text(main->profile)) : QString("none");
    case age:
      return age_of(lives_.at(view.name).age_days, role);
    case gain:
      if (const auto gain = lives_.at(view.name).gain)
        return role == sort_role ? QVariant(*gain) : QVariant(text(gain_text(*gain)));
      return {};
    case builds:
      return main != nullptr ? QVariant(main->builds) : QVariant();
    case machine:
      return main != nullptr ? text(main->image.machine) : QString();
    default:
      return {};
  }
}

QVariant ApplicationModel::image_data(const ApplicationView& application, const ImageView& view,
                                      int column, int role) const {
  if (role == image_role) return text(view.image.path);
  if (role == sort_role && column == profile) return view.profile.runs;
  if (role == sort_role && column == builds) return view.builds;
  if (role == Qt::ToolTipRole) {
    if (column == name)
      return text(view.image.path) + "\n" + describe(view) + " of " + text(application.name) +
             (view.image.soname.empty() ? "" : "\nSONAME: " + text(view.image.soname));
    if (column == profile) return tip_of(view.profile);
    role = Qt::DisplayRole;
  }
  if (role != Qt::DisplayRole && role != sort_role) return {};
  switch (column) {
    case name:
      return file_name(view.image.path);
    case mode:
      return {};
    case state:
      return state_of(view);
    case profile:
      return view.image.optimizable ? text(profile_text(view.profile)) : QString();
    case age:
      return age_of(view.profile.age_days, role);
    case builds:
      return view.builds != 0 ? QVariant(view.builds) : QVariant();
    case machine:
      return text(view.image.machine);
    default:
      return {};
  }
}

QVariant ApplicationModel::headerData(int section, Qt::Orientation orientation, int role) const {
  static const char* const kTitles[] = {"Application", "Mode", "State",  "Profile",
                                        "Age",         "Gain", "Builds", "Machine"};
  static const char* const kTips[] = {
      "Applications, and the images of each: programs and their libraries",
      "What `respike run` runs: the original, the instrumented or the optimized images",
      "What was made of an image, or why the image is left alone",
      "Runs that were counted, and the share of the procedures that they entered",
      "Days since the newest counts",
      "What the optimized version saves, by the last check of it",
      "Contents that the image's file had since the image was registered",
      "The processor that an image is for"};
  if (orientation != Qt::Horizontal || section < 0 || section >= column_count) return {};
  if (role == Qt::DisplayRole) return QString(kTitles[section]);
  if (role == Qt::ToolTipRole) return QString(kTips[section]);
  return {};
}

Qt::ItemFlags ApplicationModel::flags(const QModelIndex& index) const {
  return index.isValid() ? Qt::ItemIsEnabled | Qt::ItemIsSelectable : Qt::NoItemFlags;
}

}  // namespace respike::gui

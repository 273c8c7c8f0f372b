#include "gui/pages/profiles_page.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>

#include "gui/pages/controls.h"
#include "gui/pages/profile_dialogs.h"
#include "gui/pages/remembering.h"

namespace respike::gui {

ProfilesPage::ProfilesPage(Manager& manager, QWidget* parent)
    : QWidget(parent), manager_(manager), list_(kProfileLineTitles) {
  table_ = make_table("Profiles", &list_, this);
  table_->setToolTip("Choose one to see what ran, or two to see them side by side");
  table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  what_ran_ = new WhatRanView(this);
  side_by_side_ = new SideBySideView(this);
  found_again_ = new FoundAgainView(this);
  tabs_ = new QTabWidget(this);
  tabs_->setDocumentMode(true);
  tabs_->setAccessibleName("Views of profiles");
  tabs_->setTabToolTip(tabs_->addTab(what_ran_, "What ran"), "Procedures of one profile");
  tabs_->setTabToolTip(tabs_->addTab(side_by_side_, "Side by side"), "Procedures of two profiles");
  tabs_->setTabToolTip(tabs_->addTab(found_again_, "Found again"),
                       "What was lost between an older build and a newer one");
  auto* splitter = new QSplitter(Qt::Vertical, this);
  splitter->addWidget(table_);
  splitter->addWidget(tabs_);
  splitter->setSizes({120, 500});
  empty_ = make_empty_state("", this);
  stack_ = new QStackedWidget(this);
  stack_->addWidget(empty_);
  stack_->addWidget(splitter);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(make_buttons());
  layout->addWidget(stack_, 1);
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &ProfilesPage::show_chosen);
  connect(tabs_, &QTabWidget::currentChanged, this, &ProfilesPage::show_view);
  connect(&manager_, &Manager::snapshot_changed, this, &ProfilesPage::take_snapshot);
  connect(&manager_, &Manager::task_ended, this, &ProfilesPage::end);
  show_lines();
}

QLayout* ProfilesPage::make_buttons() {
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(
      make_button("&Open…", "Add profiles of files to the list", this, [this] { open(); }));
  close_ =
      make_button("&Close", "Take the chosen files off the list", this, [this] { close_files(); });
  merge_ = make_button("&Merge…", "Add the chosen profiles up, and write the sum to a file", this,
                       [this] { merge(); });
  match_ = make_button("Ma&tch…", "Carry the chosen profile over to another build", this,
                       [this] { match(); });
  for (QPushButton* button : {close_, merge_, match_}) buttons->addWidget(button);
  buttons->addStretch(1);
  buttons->addWidget(make_button(
      Icon::save, "Save &list…", "Save the list of profiles as comma-separated values (CSV)", this,
      [this] { save_csv(list_, application_ + "-profiles.csv", this); }));
  return buttons;
}

// ---- the list ----

void ProfilesPage::choose(const QString& application) {
  if (application == application_) return;
  application_ = application;
  take_snapshot();
}

QString ProfilesPage::stamp() const {
  QString text = application_;
  if (const ApplicationView* application = manager_.application(application_))
    for (const ImageView& view : application->images)
      text += QString("\n%1 %2 %3")
                  .arg(view.build ? view.build->id : 0)
                  .arg(view.builds)
                  .arg(view.profile.version);
  return text;
}

/// Reading profiles takes a while, so the page asks for them when it is shown.
void ProfilesPage::take_snapshot() {
  if (!isVisible() || stamp() == shown_) return;
  read_builds();
}

void ProfilesPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  take_snapshot();
  show_view();
}

void ProfilesPage::read_builds() {
  shown_ = stamp();
  if (manager_.application(application_) == nullptr) {
    builds_.clear();
    return show_lines();
  }
  if (lines_.empty()) empty_->setText("…");
  using Lines = std::vector<ProfileLine>;
  manager_.ask<Lines>(
      this,
      [application = application_.toStdString()](Environment& environment) {
        return read_build_profiles(environment, application);
      },
      [this, asked = shown_](const Lines& lines) {
        if (asked != shown_) return;
        builds_ = lines;
        show_lines();
      },
      [this](const QString& failure) {
        builds_.clear();
        show_lines();
        empty_->setText(failure);
      });
}

void ProfilesPage::show_lines() {
  std::vector<ProfileSource> before = chosen();
  lines_ = builds_;
  lines_.insert(lines_.end(), files_.begin(), files_.end());
  list_.set(line_cells(lines_));
  fit_columns(*table_);
  const QString what_to_do =
      application_.isEmpty() ? "Choose an application above."
                             : "Nothing of this application was counted yet: <b>instrument</b> the "
                               "application, and <b>run</b> it.";
  empty_->setText(what_to_do +
                  "<p>Or <b>Open…</b> the file of a profile, as <code>respike image "
                  "collect</code> writes.");
  stack_->setCurrentIndex(lines_.empty() ? 0 : 1);
  std::erase_if(before, [&](const ProfileSource& source) {
    return std::ranges::find(lines_, source, &ProfileLine::source) == lines_.end();
  });
  if (before.empty() && !lines_.empty()) {
    const auto present = std::ranges::find_if(lines_, &ProfileLine::present);
    before = {(present != lines_.end() ? *present : lines_.front()).source};
  }
  choose_rows(before);
}

std::vector<ProfileSource> ProfilesPage::chosen() const {
  std::vector<int> rows;
  for (const QModelIndex& index : table_->selectionModel()->selectedRows())
    rows.push_back(index.row());
  std::ranges::sort(rows);
  std::vector<ProfileSource> sources;
  for (const int row : rows) sources.push_back(lines_[size_t(row)].source);
  return sources;
}

void ProfilesPage::choose_rows(const std::vector<ProfileSource>& sources) {
  {
    const QSignalBlocker quiet(table_->selectionModel());
    table_->clearSelection();
    for (size_t row = 0; row < lines_.size(); ++row)
      if (std::ranges::find(sources, lines_[row].source) != sources.end())
        table_->selectionModel()->select(list_.index(int(row), 0),
                                         QItemSelectionModel::Select | QItemSelectionModel::Rows);
  }
  table_->viewport()->update();
  show_chosen();
}

void ProfilesPage::open() {
  open_files(QFileDialog::getOpenFileNames(this, "Open profiles"));
}

void ProfilesPage::open_files(const QStringList& files) {
  for (const QString& path : files)
    manager_.ask<ProfileLine>(
        this, [file = path.toStdString()](Environment&) { return read_profile_line(file); },
        [this](const ProfileLine& line) { add_file(line); },
        [this](const QString& failure) {
          manager_.say(Message::Kind::error, "Open a profile", failure);
        });
}

/// Adds a file, or updates its contents, and chooses it.
void ProfilesPage::add_file(ProfileLine line) {
  const auto of_file = [](const ProfileLine& l) { return l.source.file; };
  std::erase_if(files_, [&](const ProfileLine& old) { return of_file(old) == of_file(line); });
  if (std::ranges::find(files_, line.source.name,
                        [](const ProfileLine& l) { return l.source.name; }) != files_.end())
    line.source.name = QString::fromStdString(line.source.file);
  files_.push_back(line);
  if (matched_.source.file == line.source.file) matched_ = {};
  for (ProfilePart* view :
       std::initializer_list<ProfilePart*>{what_ran_, side_by_side_, found_again_})
    view->set_key({});
  show_lines();
  choose_rows({line.source});
}

void ProfilesPage::close_files() {
  for (const ProfileSource& source : chosen())
    std::erase_if(files_, [&](const ProfileLine& line) { return line.source == source; });
  show_lines();
}

// ---- the views ----

void ProfilesPage::show_chosen() {
  const std::vector<ProfileSource> sources = chosen();
  close_->setEnabled(std::ranges::any_of(sources, &ProfileSource::is_file));
  merge_->setEnabled(!sources.empty() && pending_.task == 0);
  match_->setEnabled(sources.size() == 1 && pending_.task == 0);
  if (sources.size() == 2)
    tabs_->setCurrentWidget(side_by_side_);
  else if (sources.size() == 1 && tabs_->currentWidget() == side_by_side_)
    tabs_->setCurrentWidget(what_ran_);
  show_view();
}

/// Asks for the contents of the open view, unless they are there.
void ProfilesPage::show_view() {
  if (!isVisible()) return;
  const std::vector<ProfileSource> sources = chosen();
  QString key = shown_;
  for (const ProfileSource& source : sources)
    key += QString("\n%1 %2").arg(source.build).arg(QString::fromStdString(source.file));
  auto* view = static_cast<ProfilePart*>(tabs_->currentWidget());
  if (view == found_again_ && matched_.answer && sources == std::vector{matched_.source})
    key += QString("\n%1").arg(matched_.task);
  if (view->key() == key) return;
  view->set_key(key);
  if (view == side_by_side_) {
    if (sources.size() == 2) return show_two(sources[0], sources[1]);
    view->show_nothing("Choose <b>two</b> profiles above: hold Ctrl, or Shift and an arrow key.");
  } else if (sources.size() != 1) {
    view->show_nothing("Choose <b>one</b> profile above.");
  } else if (view == what_ran_) {
    show_one(sources[0]);
  } else {
    show_losses(sources[0]);
  }
}

template <typename T>
void ProfilesPage::ask(ProfilePart* view, std::function<T(Environment&)> question,
                       std::function<void(const T&)> answer) {
  manager_.ask<T>(
      this, std::move(question),
      [view, asked = view->key(), answer = std::move(answer)](const T& result) {
        if (asked == view->key()) answer(result);
      },
      [view, asked = view->key()](const QString& failure) {
        if (asked == view->key()) view->show_nothing(failure);
      });
}

void ProfilesPage::show_one(const ProfileSource& source) {
  ask<ProfileContent>(
      what_ran_,
      [source](Environment& environment) { return read_profile_content(environment, source); },
      [this](const ProfileContent& content) { what_ran_->show(content); });
}

void ProfilesPage::show_two(const ProfileSource& a, const ProfileSource& b) {
  using Rows = std::shared_ptr<const CellRows>;
  ask<Rows>(
      side_by_side_,
      [a, b](Environment& environment) { return read_differences(environment, a, b); },
      [this, a, b](const Rows& rows) { side_by_side_->show(a.name, b.name, rows); });
}

void ProfilesPage::show_losses(const ProfileSource& source) {
  if (matched_.answer && matched_.source == source) return found_again_->show(*matched_.answer);
  if (source.is_file())
    return found_again_->show_nothing(
        "<b>Match…</b> says what of this profile fits another build.");
  ask<LossAnswer>(
      found_again_,
      [build = source.build](Environment& environment) { return read_losses(environment, build); },
      [this](const LossAnswer& answer) { found_again_->show(answer); });
}

// ---- actions ----

void ProfilesPage::merge() {
  MergeDialog dialog(chosen(), this);
  if (dialog.exec() != QDialog::Accepted) return;
  pending_ = {.task = 0, .source = {}, .output = dialog.output(), .answer = {}};
  pending_.task = manager_.start(merge_action(dialog.inputs(), dialog.output()));
  show_chosen();
}

void ProfilesPage::match() {
  const ProfileSource source = chosen().front();
  QStringList images;
  if (const ApplicationView* application = manager_.application(application_))
    for (const ImageView& view : application->images)
      if (view.build) images << QString::fromStdString(view.image.path);
  MatchDialog dialog(source, images, this);
  if (dialog.exec() != QDialog::Accepted) return;
  pending_ = {.task = 0,
              .source = source,
              .output = dialog.output(),
              .answer = std::make_shared<LossAnswer>()};
  pending_.task =
      manager_.start(match_action(source, dialog.image(), dialog.output(), pending_.answer));
  show_chosen();
}

/// Shows the losses of a match, or the file that was written.
void ProfilesPage::end(const Task& task) {
  if (task.number != pending_.task) return;
  const Pending ended = std::exchange(pending_, {});
  show_chosen();
  if (task.state != Task::State::done) return;
  if (!ended.answer) return open_files({ended.output});
  matched_ = ended;
  choose_rows({ended.source});
  tabs_->setCurrentWidget(found_again_);
  show_view();
}

}  // namespace respike::gui

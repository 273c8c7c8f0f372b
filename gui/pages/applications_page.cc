#include "gui/pages/applications_page.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMessageBox>
#include <QVBoxLayout>

#include <algorithm>

#include "gui/pages/controls.h"
#include "gui/pages/dialogs.h"
#include "gui/pages/first_steps.h"

namespace respike::gui {
ApplicationsPage::ApplicationsPage(Manager& manager, bool has_demo, QWidget* parent)
    : QWidget(parent), manager_(manager) {
  sorted_.setSourceModel(&model_);
  sorted_.setSortRole(ApplicationModel::sort_role);
  sorted_.setSortCaseSensitivity(Qt::CaseInsensitive);
  sorted_.setFilterCaseSensitivity(Qt::CaseInsensitive);
  sorted_.setRecursiveFilteringEnabled(true);
  sorted_.setAutoAcceptChildRows(true);

  tree_ = new QTreeView(this);
  tree_->setAccessibleName("Applications");
  show_tips_verbatim(*tree_);
  tree_->setModel(&sorted_);
  tree_->setSortingEnabled(true);
  tree_->sortByColumn(ApplicationModel::name, Qt::AscendingOrder);
  tree_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  tree_->setAlternatingRowColors(true);
  tree_->setUniformRowHeights(true);
  tree_->setExpandsOnDoubleClick(false);
  tree_->header()->setStretchLastSection(false);
  tree_->header()->setSectionResizeMode(ApplicationModel::state, QHeaderView::Stretch);
  tree_->setColumnWidth(ApplicationModel::name, 190);
  tree_->setColumnWidth(ApplicationModel::mode, 95);
  tree_->setColumnWidth(ApplicationModel::profile, 170);
  tree_->setColumnWidth(ApplicationModel::age, 70);
  tree_->setColumnWidth(ApplicationModel::gain, 95);
  tree_->setColumnWidth(ApplicationModel::builds, 55);
  tree_->setColumnWidth(ApplicationModel::machine, 75);

  filter_ = new QLineEdit(this);
  filter_->setPlaceholderText("Find an application or image");
  filter_->setAccessibleName("Find an application or image");
  filter_->setClearButtonEnabled(true);
  connect(filter_, &QLineEdit::textChanged, &sorted_, &QSortFilterProxyModel::setFilterFixedString);

  mode_ = new QComboBox(this);
  mode_->setAccessibleName("Mode");
  mode_->setToolTip("Which images `respike run` runs");
  mode_->addItems({"original", "instrumented", "optimized"});
  connect(mode_, &QComboBox::activated, this, [this](int mode) { set_mode(Mode(mode)); });

  auto* top = new QHBoxLayout;
  top->addWidget(make_button(Icon::add, "&Register…",
                             "Register a program and the libraries that it loads", this,
                             [this] { Q_EMIT register_wanted(); }));
  top->addWidget(filter_, 1);
  auto* mode_label = new QLabel("&Mode:", this);
  mode_label->setBuddy(mode_);
  top->addWidget(mode_label);
  top->addWidget(mode_);

  auto* buttons = new QHBoxLayout;
  const auto add = [&](Icon which, const QString& text, const QString& tip,
                       void (ApplicationsPage::*action)(), std::vector<QWidget*>* needs) {
    auto* button = make_button(which, text, tip, this, [this, action] { (this->*action)(); });
    buttons->addWidget(button);
    if (needs != nullptr) needs->push_back(button);
  };
  add(Icon::counter, "&Instrument…", "Make images that count what runs, and run these from now on",
      &ApplicationsPage::instrument, &needs_selection_);
  add(Icon::speed, "&Optimize…", "Make images by the profiles collected, and run these from now on",
      &ApplicationsPage::optimize, &needs_selection_);
  add(Icon::check, "Verif&y", "Prove that the optimized images run the same code as the originals",
      &ApplicationsPage::verify, &needs_optimized_);
  add(Icon::ship, "&Export…", "Copy the optimized images into a folder",
      &ApplicationsPage::export_images, &needs_optimized_);
  buttons->addStretch(1);
  buttons->addWidget(make_button(Icon::save, "Save as &CSV…",
                                 "Save the table as comma-separated values", this,
                                 [this] { save_csv(sorted_, "applications.csv", this); }));
  add(Icon::forget, "For&get…", "Forget the application; the profiles of its images stay",
      &ApplicationsPage::forget, &needs_selection_);
  add(Icon::broom, "&Prune…", "Remove old builds, and images that no application uses",
      &ApplicationsPage::prune, nullptr);
  needs_selection_.push_back(mode_);

  auto* list = new QWidget(this);
  auto* list_layout = new QVBoxLayout(list);
  list_layout->setContentsMargins(0, 0, 0, 0);
  list_layout->addLayout(top);
  list_layout->addWidget(tree_, 1);
  list_layout->addLayout(buttons);

  auto* first = new QWidget(this);
  auto* first_layout = new QVBoxLayout(first);
  auto* steps = new FirstSteps(has_demo, first);
  connect(steps, &FirstSteps::register_wanted, this, &ApplicationsPage::register_wanted);
  connect(steps, &FirstSteps::demo_wanted, this, &ApplicationsPage::demo_wanted);
  first_layout->addWidget(steps, 1);
  database_ = make_empty_state("", first);
  first_layout->addWidget(database_);

  stack_ = new QStackedWidget(this);
  stack_->addWidget(first);
  stack_->addWidget(list);
  problem_ = new QLabel(this);
  problem_->setAccessibleName("State of the database");
  problem_->setTextFormat(Qt::PlainText);
  problem_->setWordWrap(true);
  problem_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(problem_);
  layout->addWidget(stack_, 1);

  connect(tree_->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
    show_buttons();
    if (const ApplicationView* application = selected())
      Q_EMIT chosen(QString::fromStdString(application->name));
  });
  connect(tree_, &QTreeView::activated, this, [this] { Q_EMIT details_wanted(); });
  connect(&manager_, &Manager::snapshot_changed, this, &ApplicationsPage::take_snapshot);
  take_snapshot();
}

void ApplicationsPage::take_snapshot() {
  model_.set(manager_.snapshot().applications);
  stack_->setCurrentIndex(model_.rowCount() == 0 ? 0 : 1);
  const QString path = QString::fromStdString(manager_.database().string());
  const Snapshot& snapshot = manager_.snapshot();
  problem_->setText(snapshot.problem);
  problem_->setVisible(!snapshot.problem.isEmpty());
  database_->setVisible(snapshot.problem.isEmpty());
  database_->setText((snapshot.there
                          ? QString("The database %1 has no application.")
                          : QString("There is no database %1: registering a program makes one."))
                         .arg(path.toHtmlEscaped()));
  show_buttons();
}

void ApplicationsPage::choose(const QString& application) {
  if (application.isEmpty()) return tree_->clearSelection();
  if (const ApplicationView* now = selected();
      now != nullptr && QString::fromStdString(now->name) == application)
    return;
  const QModelIndex index = sorted_.mapFromSource(model_.find(application));
  if (index.isValid())
    tree_->selectionModel()->setCurrentIndex(
        index, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
}

const ApplicationView* ApplicationsPage::selected() const {
  const QModelIndexList rows = tree_->selectionModel()->selectedRows();
  if (rows.isEmpty()) return nullptr;
  return manager_.application(rows.front().data(ApplicationModel::application_role).toString());
}

std::vector<std::string> ApplicationsPage::selected_images() const {
  std::vector<std::string> images;
  const ApplicationView* application = selected();
  for (const QModelIndex& row : tree_->selectionModel()->selectedRows()) {
    const QString image = row.data(ApplicationModel::image_role).toString();
    const QString name = row.data(ApplicationModel::application_role).toString();
    if (!image.isEmpty() && application != nullptr && name.toStdString() == application->name)
      images.push_back(image.toStdString());
  }
  return images;
}

void ApplicationsPage::show_buttons() {
  const ApplicationView* application = selected();
  const bool optimized =
      application != nullptr && std::ranges::any_of(application->images, [](const ImageView& i) {
        return i.optimized.has_value();
      });
  for (QWidget* widget : needs_selection_) widget->setEnabled(application != nullptr);
  for (QWidget* widget : needs_optimized_) widget->setEnabled(optimized);
  if (application != nullptr) mode_->setCurrentIndex(int(application->mode));
}

// ---- actions ----

void ApplicationsPage::instrument() {
  const ApplicationView* application = selected();
  if (application == nullptr) return;
  MakingDialog dialog(MakingDialog::What::instrument, *application, selected_images(), this);
  if (dialog.exec() == QDialog::Accepted)
    manager_.start(instrument_action(dialog.application(), dialog.options()));
}

void ApplicationsPage::optimize() {
  const ApplicationView* application = selected();
  if (application == nullptr) return;
  MakingDialog dialog(MakingDialog::What::optimize, *application, selected_images(), this);
  if (dialog.exec() == QDialog::Accepted)
    manager_.start(optimize_action(dialog.application(), dialog.options()));
}

void ApplicationsPage::export_images() {
  const ApplicationView* application = selected();
  if (application == nullptr) return;
  ExportDialog dialog(*application, selected_images(), this);
  if (dialog.exec() == QDialog::Accepted)
    manager_.start(export_action(dialog.application(), dialog.images(), dialog.place()));
}

/// The command lines name files that only the database knows: the page asks for the lines first, so
/// that the lines of all actions are in order.
void ApplicationsPage::verify() {
  const ApplicationView* application = selected();
  if (application == nullptr) return;
  const QString name = QString::fromStdString(application->name);
  const std::vector<std::string> images = selected_images();
  const auto start = [this, name, images] { manager_.start(verify_action(name, images)); };
  using Commands = std::vector<QStringList>;
  manager_.ask<Commands>(
      this,
      [name, images](Environment& environment) {
        return verify_commands(environment, name, images);
      },
      [this, start](const Commands& commands) {
        for (const QStringList& words : commands) manager_.note_command(words);
        start();
      },
      [start](const QString&) { start(); });  // the action reports why it fails
}

void ApplicationsPage::forget() {
  const ApplicationView* application = selected();
  if (application == nullptr) return;
  const QString name = QString::fromStdString(application->name);
  const auto answer = QMessageBox::question(
      this, "Forget " + name,
      verbatim(QString("Forget the application %1? The profiles of its images stay until they are "
                       "pruned: registering %1 again brings them back.")
                   .arg(name)));
  if (answer != QMessageBox::Yes) return;
  Q_EMIT forgetting(name);
  manager_.start(unregister_action(name));
}

void ApplicationsPage::prune() {
  PruneDialog dialog(manager_, this);
  if (dialog.exec() == QDialog::Accepted) manager_.start(prune_action(dialog.keep(), false));
}

void ApplicationsPage::set_mode(Mode mode) {
  if (const ApplicationView* application = selected())
    manager_.start(mode_action(QString::fromStdString(application->name), mode));
}

}  // namespace respike::gui

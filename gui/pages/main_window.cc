#include "gui/pages/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QScreen>
#include <QSettings>
#include <QStatusBar>
#include <QToolBar>

#include "gui/pages/applications_page.h"
#include "gui/pages/dialogs.h"
#include "gui/pages/gain_page.h"
#include "gui/pages/image_page.h"
#include "gui/pages/layout_page.h"
#include "gui/pages/log_pages.h"
#include "gui/pages/overview_page.h"
#include "gui/pages/procedure_page.h"
#include "gui/pages/profiles_page.h"
#include "gui/pages/remembering.h"
#include "gui/pages/run_page.h"
#include "gui/pages/settings_page.h"
#include "gui/pages/time_page.h"
#include "respike_version.h"

namespace respike::gui {
namespace {

/// "Compare sort: run both versions", without the step's repeated image name "sort".
QString progress_text(const Task& task) {
  if (task.step.isEmpty()) return task.title;
  const QString image = task.step.section(": ", 0, 0);
  const bool again = task.title.endsWith(' ' + image) && task.step.contains(": ");
  return task.title + ": " + (again ? task.step.section(": ", 1) : task.step);
}

}  // namespace

MainWindow::MainWindow(Manager& manager, const QString& respike)
    : manager_(manager), database_(manager.database()) {
  setWindowTitle("Respike Manager");
  setAcceptDrops(true);
  make_placeholders_readable();
  make_toolbar();
  make_pages(respike);
  make_menus();
  make_status();
  connect(&manager_, &Manager::snapshot_changed, this, &MainWindow::take_snapshot);
  connect(&manager_, &Manager::task_changed, this, &MainWindow::show_task);
  connect(&manager_, &Manager::said, this, [this](const Message& message) {
    messages_.add(message);
    if (message.kind == Message::Kind::error) last_error_ = message.text;
    statusBar()->showMessage((message.about.isEmpty() ? "" : message.about + ": ") + message.text,
                             message.kind == Message::Kind::error ? 0 : 20000);
  });
  // A failure must not be overlooked: the status bar may be too narrow for its sentence.
  connect(&manager_, &Manager::task_ended, this, [this](const Task& task) {
    if (task.state != Task::State::failed) return;
    if (tabs_->currentWidget() == overview_)
      overview_->show_failure(last_error_);
    else
      tabs_->setCurrentIndex(tabs_->count() - 2);
  });
  const QSettings settings;
  if (!restoreGeometry(settings.value("window/geometry").toByteArray()))
    resize(QSize(1180, 760).boundedTo(screen()->availableSize()));
  const QString page = settings.value("window/page").toString();
  for (int i = 0; i < tabs_->count(); ++i)
    if (tabs_->tabText(i) == page) tabs_->setCurrentIndex(i);
  restore_arrangement(*tabs_);
  to_choose_ = settings.value("window/application").toString();
  take_snapshot();
}

void MainWindow::make_toolbar() {
  auto* toolbar = addToolBar("Application");
  toolbar->setObjectName("application");
  toolbar->setMovable(false);
  auto* label = new QLabel("Application: ", toolbar);
  chooser_ = new QComboBox(toolbar);
  chooser_->setAccessibleName("Application");
  chooser_->setToolTip("The application that all pages show");
  chooser_->setMinimumContentsLength(24);
  chooser_->setMaximumWidth(480);  // names may be long
  chooser_->setPlaceholderText("choose an application");
  label->setBuddy(chooser_);
  toolbar->addWidget(label);
  toolbar->addWidget(chooser_);
  connect(chooser_, &QComboBox::currentIndexChanged, this, &MainWindow::show_application);
}

/// Sets the chosen application of all pages.
void MainWindow::show_application() {
  const QString name = application();
  applications_->choose(name);
  run_->choose(name);
  overview_->choose(name);
  time_->choose(name);
  procedure_->choose(name);
  layout_->choose(name);
  image_->choose(name);
  profiles_->choose(name);
  gain_->choose(name);
}

void MainWindow::make_pages(const QString& respike) {
  tabs_ = new QTabWidget(this);
  tabs_->setDocumentMode(true);
  tabs_->setAccessibleName("Pages");
  demo_ = find_demo(respike);
  applications_ = new ApplicationsPage(manager_, demo_.has_value(), this);
  run_ = new RunPage(manager_, respike, this);
  overview_ = new OverviewPage(manager_, *run_, demo_.has_value(), this);
  const auto code = std::make_shared<CodeCache>();
  time_ = new TimePage(manager_, code, this);
  procedure_ = new ProcedurePage(manager_, code, this);
  layout_ = new LayoutPage(manager_, code, this);
  image_ = new ImagePage(manager_, code, this);
  profiles_ = new ProfilesPage(manager_, this);
  gain_ = new GainPage(manager_, this);
  settings_ = new SettingsPage(manager_, this);
  tabs_->addTab(overview_, icon(Icon::overview), "Overview");
  tabs_->addTab(applications_, icon(Icon::applications), "Applications");
  tabs_->addTab(run_, icon(Icon::run), "Run");
  tabs_->addTab(time_, icon(Icon::clock), "Time");
  tabs_->addTab(procedure_, icon(Icon::graph), "Procedure");
  tabs_->addTab(layout_, icon(Icon::layout), "Layout");
  tabs_->addTab(gain_, icon(Icon::gain), "Gain");
  tabs_->addTab(image_, icon(Icon::image), "Images");
  tabs_->addTab(profiles_, icon(Icon::profile), "Profiles");
  tabs_->addTab(new CommandsPage(manager_, this), icon(Icon::commands), "Commands");
  tabs_->addTab(new MessagesPage(messages_, this), icon(Icon::messages), "Messages");
  tabs_->addTab(settings_, icon(Icon::settings), "Settings");
  setCentralWidget(tabs_);
  connect(overview_, &OverviewPage::register_wanted, this, &MainWindow::register_program);
  connect(overview_, &OverviewPage::demo_wanted, this, &MainWindow::register_demo);
  connect(overview_, &OverviewPage::output_wanted, this, [this] { tabs_->setCurrentWidget(run_); });
  connect(applications_, &ApplicationsPage::chosen, this, &MainWindow::choose);
  connect(applications_, &ApplicationsPage::forgetting, this,
          [this](const QString& name) { forgotten_ = name; });
  connect(applications_, &ApplicationsPage::register_wanted, this, &MainWindow::register_program);
  connect(applications_, &ApplicationsPage::demo_wanted, this, &MainWindow::register_demo);
  connect(applications_, &ApplicationsPage::details_wanted, this,
          [this] { tabs_->setCurrentWidget(time_); });
  connect(time_, &TimePage::procedure_wanted, this, &MainWindow::show_procedure);
  connect(layout_, &LayoutPage::procedure_wanted, this,
          [this](const std::string& image, const QString& name, uint64_t address) {
            show_procedure(image, name, address, 0);
          });
  connect(settings_, &SettingsPage::open_wanted, this, &MainWindow::open_database);
}

void MainWindow::show_procedure(const std::string& image, const QString& name, uint64_t address,
                                uint64_t block) {
  procedure_->show_procedure(image, name, address, block);
  tabs_->setCurrentWidget(procedure_);
}

void MainWindow::make_menus() {
  QMenu* file = menuBar()->addMenu("&File");
  file->addAction("&Register a program…", QKeySequence("Ctrl+R"), this,
                  &MainWindow::register_program);
  file->addAction("&Open another database…", QKeySequence::Open, this, &MainWindow::open_database);
  file->addSeparator();
  file->addAction("&Quit", QKeySequence::Quit, this, &QWidget::close);

  QMenu* application = menuBar()->addMenu("&Application");
  const auto add = [&](const QString& text, const QString& keys,
                       void (ApplicationsPage::*action)()) {
    application->addAction(text, QKeySequence(keys), this,
                           [this, action] { (applications_->*action)(); });
  };
  add("&Instrument…", "Ctrl+I", &ApplicationsPage::instrument);
  application->addAction("&Run", QKeySequence("F5"), this, [this] {
    tabs_->setCurrentWidget(run_);
    run_->run();
  });
  add("&Optimize…", "Ctrl+Shift+O", &ApplicationsPage::optimize);
  add("&Verify", "Ctrl+Shift+V", &ApplicationsPage::verify);
  add("&Export…", "Ctrl+E", &ApplicationsPage::export_images);
  QMenu* mode = application->addMenu("&Mode");
  for (const Mode which : {Mode::original, Mode::instrumented, Mode::optimized})
    mode->addAction(QString::fromStdString(std::string(name_of(which))), this,
                    [this, which] { applications_->set_mode(which); });
  application->addSeparator();
  application->addAction("&Collect counts", this, [this] { manager_.start(collect_action()); });
  add("&Forget…", "", &ApplicationsPage::forget);
  add("&Prune…", "", &ApplicationsPage::prune);

  QMenu* view = menuBar()->addMenu("&View");
  for (int i = 0; i < tabs_->count(); ++i) {
    QKeySequence keys;
    if (i < 10) keys = QKeySequence(QString("Alt+%1").arg((i + 1) % 10));
    if (tabs_->widget(i) == settings_) keys = QKeySequence("Ctrl+,");
    view->addAction(tabs_->tabIcon(i), tabs_->tabText(i), keys, this,
                    [this, i] { tabs_->setCurrentIndex(i); });
  }
  view->addSeparator();
  view->addAction("Open the source in your &editor", QKeySequence("Ctrl+Shift+E"), this,
                  [this] { procedure_->edit_source(); });
  view->addAction("&Read anew", QKeySequence("Ctrl+F5"), this, [this] { manager_.refresh(); });

  QMenu* help = menuBar()->addMenu("&Help");
  help->addAction("&About", this, &MainWindow::about);
  help->addAction("About &Qt", this, [this] { QMessageBox::aboutQt(this); });
}

void MainWindow::make_status() {
  step_ = new ElidedLabel(this);
  progress_ = new QProgressBar(this);
  progress_->setAccessibleName("Progress");
  progress_->setRange(0, 1000);
  progress_->setMaximumWidth(160);
  progress_->setTextVisible(false);
  cancel_ = new QPushButton("Cancel", this);
  cancel_->setToolTip("Stop at the next step; what was finished stays");
  connect(cancel_, &QPushButton::clicked, this, [this] { manager_.cancel(shown_task_); });
  for (QWidget* widget : std::initializer_list<QWidget*>{step_, progress_, cancel_}) {
    statusBar()->addPermanentWidget(widget);
    widget->hide();
  }
}

void MainWindow::choose(const QString& application) {
  if (application.isEmpty()) return;
  const int index = chooser_->findData(application);
  if (index >= 0) chooser_->setCurrentIndex(index);
}

void MainWindow::take_snapshot() {
  const QString before = application();
  {
    const QSignalBlocker quiet(chooser_);
    chooser_->clear();
    for (const ApplicationView& view : manager_.snapshot().applications) {
      const QString name = QString::fromStdString(view.name);
      chooser_->addItem(name, name);
    }
  }
  {
    const QSignalBlocker quiet(chooser_);
    chooser_->setCurrentIndex(place_to_choose(before));
  }
  chooser_->setEnabled(chooser_->count() != 0);
  show_application();
}

/// When the chosen application is gone, none is chosen: else the next action would affect an
/// application that the user did not choose.
int MainWindow::place_to_choose(const QString& before) {
  if (!to_choose_.isEmpty() && chooser_->findData(to_choose_) >= 0)
    return chooser_->findData(std::exchange(to_choose_, QString()));
  if (chooser_->count() == 0) lost_ = false;
  if (before.isEmpty()) return lost_ ? -1 : 0;
  const int place = chooser_->findData(before);
  const bool same_database = manager_.database() == std::exchange(database_, manager_.database());
  const bool is_gone = place < 0 && same_database;
  lost_ = is_gone && chooser_->count() != 0;
  if (is_gone && before != std::exchange(forgotten_, QString()) && manager_.snapshot().there)
    manager_.say(Message::Kind::note, before,
                 "it is not registered any more: no application is chosen");
  return lost_ ? -1 : std::max(0, place);
}

void MainWindow::show_task(const Task& task) {
  const bool active = task.state == Task::State::running || task.state == Task::State::waiting;
  if (!active && task.number != shown_task_) return;
  if (active && shown_task_ != 0 && task.number != shown_task_ &&
      task.state == Task::State::waiting)
    return;
  shown_task_ = active ? task.number : 0;
  for (QWidget* widget : std::initializer_list<QWidget*>{step_, progress_, cancel_})
    widget->setVisible(active);
  step_->setText(progress_text(task));
  progress_->setValue(int(1000 * task.share));
}

void MainWindow::register_program() {
  RegisterDialog dialog("", this);
  if (dialog.exec() != QDialog::Accepted) return;
  const auto programs = dialog.programs();
  to_choose_ = dialog.name().isEmpty()
                   ? QFileInfo(QString::fromStdString(programs.front().string())).fileName()
                   : dialog.name();
  manager_.start(register_action(programs, dialog.name()));
}

void MainWindow::register_demo() {
  if (!demo_) return;
  to_choose_ = QString::fromStdString(demo_->program.filename().string());
  RunPage::suggest(to_choose_, demo_->arguments);
  manager_.start(register_action(demo_->program, {}));
}

void MainWindow::open_database() {
  const QString path = QFileDialog::getSaveFileName(
      this, "Open a database, or make one", QString::fromStdString(manager_.database().string()),
      "Databases (*.db);;All files (*)", nullptr, QFileDialog::DontConfirmOverwrite);
  if (!path.isEmpty()) manager_.open(path.toStdString());
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  for (const QUrl& url : event->mimeData()->urls())
    if (url.isLocalFile()) {
      const QString path = url.toLocalFile();
      to_choose_ = QFileInfo(path).fileName();
      manager_.start(register_action(path.toStdString(), {}));
    }
  event->acceptProposedAction();
}

void MainWindow::changeEvent(QEvent* event) {
  QMainWindow::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) {
    make_placeholders_readable();
    if (overview_ != nullptr) overview_->choose(application());  // its colours change as well
  }
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (manager_.busy() || run_->running()) {
    const auto answer = QMessageBox::question(
        this, "Respike Manager",
        manager_.busy() ? "Work is on its way. Stop it and close? What was finished stays."
                        : "A program is running. Stop it and close?");
    if (answer != QMessageBox::Yes) return event->ignore();
  }
  QSettings settings;
  settings.setValue("window/geometry", saveGeometry());
  settings.setValue("window/page", tabs_->tabText(tabs_->currentIndex()));
  if (!application().isEmpty()) settings.setValue("window/application", application());
  keep_arrangement(*tabs_);
  event->accept();
}

void MainWindow::about() {
  QMessageBox::about(
      this, "About Respike Manager",
      QString(
          "<h3>Respike %1</h3><p>Makes linked programs faster by what they do: rewrites "
          "executables "
          "and shared libraries by profiles.</p><p>Respike is under the Apache License 2.0. This "
          "window uses Qt, which is under the LGPL 3.</p>")
          .arg(kVersion));
}

}  // namespace respike::gui

#pragma once
// The window: pages in tabs, the chosen application above, progress below.

#include <QComboBox>
#include <QMainWindow>
#include <QProgressBar>
#include <QPushButton>
#include <QTabWidget>

#include "gui/models/demo.h"
#include "gui/models/log_model.h"
#include "gui/models/manager.h"
#include "gui/pages/controls.h"

namespace respike::gui {

class ApplicationsPage;
class GainPage;
class ImagePage;
class LayoutPage;
class OverviewPage;
class ProcedurePage;
class ProfilesPage;
class RunPage;
class SettingsPage;
class TimePage;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  /// `respike`: the command that runs programs.
  MainWindow(Manager& manager, const QString& respike);

  QString application() const { return chooser_->currentData().toString(); }
  /// Selects the application that all pages show. Does nothing when it is not registered.
  void choose(const QString& application);

 public Q_SLOTS:
  void register_program();
  void open_database();

 protected:
  void changeEvent(QEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void register_demo();
  void make_toolbar();
  void make_pages(const QString& respike);
  void make_menus();
  void make_status();
  void show_application();
  void show_procedure(const std::string& image, const QString& name, uint64_t address,
                      uint64_t block);
  void take_snapshot();
  /// The index in the chooser of the application to show now; -1: none.
  int place_to_choose(const QString& before);
  void show_task(const Task& task);
  void about();

  Manager& manager_;
  std::optional<Demo> demo_;
  std::filesystem::path database_;  // database of the chooser's applications
  MessageModel messages_;
  QComboBox* chooser_ = nullptr;
  QTabWidget* tabs_ = nullptr;
  OverviewPage* overview_ = nullptr;
  ApplicationsPage* applications_ = nullptr;
  RunPage* run_ = nullptr;
  TimePage* time_ = nullptr;
  ProcedurePage* procedure_ = nullptr;
  ImagePage* image_ = nullptr;
  ProfilesPage* profiles_ = nullptr;
  LayoutPage* layout_ = nullptr;
  GainPage* gain_ = nullptr;
  SettingsPage* settings_ = nullptr;
  ElidedLabel* step_ = nullptr;
  QProgressBar* progress_ = nullptr;
  QPushButton* cancel_ = nullptr;
  QString last_error_;  // the last error that was shown
  int shown_task_ = 0;
  QString to_choose_;  // an application that is being registered, or was chosen in the last session
  bool lost_ = false;  // the chosen application is gone: none is chosen until the user chooses one
  QString forgotten_;  // an application that is being forgotten here
};

}  // namespace respike::gui

#pragma once
// The window: pages in tabs, the chosen application above, progress below.

#include <QComboBox>
#include <QLabel>
#include <QMainWindow>
#include <QProgressBar>
#include <QPushButton>
#include <QTabWidget>

#include "gui/models/demo.h"
#include "gui/models/log_model.h"
#include "gui/models/manager.h"

namespace respike::gui {

class ApplicationsPage;
class GainPage;
class ImagePage;
class LayoutPage;
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
  /// Makes an application the one that all pages show. Does nothing when it is not registered.
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
  void show_task(const Task& task);
  void about();

  Manager& manager_;
  std::optional<Demo> demo_;
  MessageModel messages_;
  QComboBox* chooser_ = nullptr;
  QTabWidget* tabs_ = nullptr;
  ApplicationsPage* applications_ = nullptr;
  RunPage* run_ = nullptr;
  TimePage* time_ = nullptr;
  ProcedurePage* procedure_ = nullptr;
  ImagePage* image_ = nullptr;
  ProfilesPage* profiles_ = nullptr;
  LayoutPage* layout_ = nullptr;
  GainPage* gain_ = nullptr;
  SettingsPage* settings_ = nullptr;
  QLabel* step_ = nullptr;
  QProgressBar* progress_ = nullptr;
  QPushButton* cancel_ = nullptr;
  int shown_task_ = 0;
  QString to_choose_;  // an application that is being registered
};

}  // namespace respike::gui

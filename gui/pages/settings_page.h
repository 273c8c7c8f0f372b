#pragma once
// The page of settings: databases, and how programs of other machines run.

#include <QLabel>
#include <QListWidget>
#include <QPushButton>

#include "gui/models/manager.h"

namespace respike::gui {

class SettingsPage : public QWidget {
  Q_OBJECT

 public:
  explicit SettingsPage(Manager& manager, QWidget* parent = nullptr);

 Q_SIGNALS:
  void open_wanted();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void show_database();
  QWidget* make_sources();
  /// Lists the folders in which sources are searched for.
  void show_places();

  Manager& manager_;
  QLabel* database_ = nullptr;
  QListWidget* recent_ = nullptr;
  QListWidget* places_ = nullptr;
  QPushButton* remove_ = nullptr;
};

}  // namespace respike::gui

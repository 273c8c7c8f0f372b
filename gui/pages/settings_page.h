#pragma once
// The page of settings: databases, and what runs programs of other machines.

#include <QLabel>
#include <QListWidget>

#include "gui/models/manager.h"

namespace respike::gui {

class SettingsPage : public QWidget {
  Q_OBJECT

 public:
  explicit SettingsPage(Manager& manager, QWidget* parent = nullptr);

 Q_SIGNALS:
  void open_wanted();

 private:
  void show_database();

  Manager& manager_;
  QLabel* database_ = nullptr;
  QListWidget* recent_ = nullptr;
};

}  // namespace respike::gui

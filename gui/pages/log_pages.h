#pragma once
// The pages of the log: command lines and messages.

#include <QPlainTextEdit>
#include <QSortFilterProxyModel>
#include <QTableView>

#include "gui/models/log_model.h"
#include "gui/models/manager.h"

namespace respike::gui {

/// Each action of this window, as the equivalent command line.
class CommandsPage : public QWidget {
  Q_OBJECT

 public:
  explicit CommandsPage(Manager& manager, QWidget* parent = nullptr);

 private:
  QPlainTextEdit* lines_;
};

/// All messages, to search and to copy.
class MessagesPage : public QWidget {
  Q_OBJECT

 public:
  explicit MessagesPage(MessageModel& messages, QWidget* parent = nullptr);

 private:
  QSortFilterProxyModel found_;
  QTableView* table_;
};

}  // namespace respike::gui

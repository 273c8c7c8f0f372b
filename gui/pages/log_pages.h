#pragma once
// The pages that keep what was done and said: command lines and messages.

#include <QPlainTextEdit>
#include <QSortFilterProxyModel>
#include <QTableView>

#include "gui/models/log_model.h"
#include "gui/models/manager.h"

namespace respike::gui {

/// Each action done in this window, as the command line that does the same.
class CommandsPage : public QWidget {
  Q_OBJECT

 public:
  explicit CommandsPage(Manager& manager, QWidget* parent = nullptr);

 private:
  QPlainTextEdit* lines_;
};

/// All that was said, to search and to copy.
class MessagesPage : public QWidget {
  Q_OBJECT

 public:
  explicit MessagesPage(MessageModel& messages, QWidget* parent = nullptr);

 private:
  QSortFilterProxyModel found_;
  QTableView* table_;
};

}  // namespace respike::gui

#pragma once
// Tables that only grow: all that was said, and the command lines of what was done.

#include <QAbstractTableModel>

#include <deque>

#include "gui/models/manager.h"

namespace respike::gui {

/// Rows: messages, oldest first; columns: time, kind, what the message is about, text. Beyond
/// kMost the oldest messages go.
class MessageModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { time, kind, about, text, column_count };
  enum Role { kind_role = Qt::UserRole };  // int of Message::Kind
  static constexpr int kMost = 10000;

  using QAbstractTableModel::QAbstractTableModel;

  void add(const Message& message);
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::deque<Message> messages_;
};

/// "done", "note", "warning" or "error".
QString name_of(Message::Kind kind);

}  // namespace respike::gui

#pragma once
// Tables that only grow: all messages, and the command lines of all actions.

#include <deque>

#include "gui/models/manager.h"
#include "gui/models/table_model.h"

namespace respike::gui {

/// Rows: messages, oldest first; columns: time, kind, subject, text. Beyond kMost the oldest
/// messages are dropped.
class MessageModel : public TableModel {
  Q_OBJECT

 public:
  enum Column { time, kind, about, text };
  enum Role { kind_role = Qt::UserRole };  // int of Message::Kind
  static constexpr int kMost = 10000;

  explicit MessageModel(QObject* parent = nullptr);

  void add(const Message& message);
  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int row_count() const override { return int(messages_.size()); }

 private:
  std::deque<Message> messages_;
};

/// "done", "note", "warning" or "error".
QString name_of(Message::Kind kind);

}  // namespace respike::gui

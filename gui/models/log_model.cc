#include "gui/models/log_model.h"

#include <QLocale>

namespace respike::gui {

QString name_of(Message::Kind kind) {
  switch (kind) {
    case Message::Kind::done:
      return "done";
    case Message::Kind::note:
      return "note";
    case Message::Kind::warning:
      return "warning";
    case Message::Kind::error:
      return "error";
  }
  return {};
}

namespace {

/// Control characters appear as on the command line.
QString in_one_line(QString text) {
  return text.replace('\n', "\\n").replace('\t', "\\t").replace('\r', "\\r");
}

}  // namespace

constexpr TableModel::Title kMessageModelTitles[] = {
    {"Time", "When the message was said"},
    {"Kind", "done, note, warning or error"},
    {"About", "The action that the message is about"},
    {"Message", "What was said, as the command line says it"}};

MessageModel::MessageModel(QObject* parent) : TableModel(kMessageModelTitles, parent) {}

void MessageModel::add(const Message& message) {
  if (messages_.size() == kMost) {
    beginRemoveRows({}, 0, 0);
    messages_.pop_front();
    endRemoveRows();
  }
  const int row = int(messages_.size());
  beginInsertRows({}, row, row);
  messages_.push_back(message);
  endInsertRows();
}

QVariant MessageModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Message& message = messages_[size_t(index.row())];
  if (role == kind_role) return int(message.kind);
  if (role == Qt::ToolTipRole && index.column() == text) return message.text;
  if (role == Qt::ToolTipRole && index.column() == about) return message.about;
  if (role != Qt::DisplayRole) return {};
  switch (index.column()) {
    case time:
      return message.time.toString("HH:mm:ss");
    case kind:
      return name_of(message.kind);
    case about:
      return in_one_line(message.about);
    case text:
      return in_one_line(message.text);
    default:
      return {};
  }
}

}  // namespace respike::gui

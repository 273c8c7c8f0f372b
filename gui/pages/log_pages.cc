#include "gui/pages/log_pages.h"

#include <QClipboard>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include "gui/pages/controls.h"

namespace respike::gui {

namespace {

/// Cuts the middle of a text that has no room: titles of actions on one path have the same start.
class MiddleDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    option->textElideMode = Qt::ElideMiddle;
  }
};

}  // namespace

CommandsPage::CommandsPage(Manager& manager, QWidget* parent) : QWidget(parent) {
  lines_ = new QPlainTextEdit(this);
  lines_->setAccessibleName("Command lines");
  lines_->setReadOnly(true);
  lines_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  lines_->setPlaceholderText(
      "What you do here appears as command lines, to copy into a makefile or a script.");
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(make_button("&Copy all", "Put all lines on the clipboard", this, [this] {
    QGuiApplication::clipboard()->setText(lines_->toPlainText());
  }));
  buttons->addWidget(
      make_button(Icon::broom, "C&lear", "Forget these lines", this, [this] { lines_->clear(); }));
  buttons->addStretch(1);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(lines_, 1);
  layout->addLayout(buttons);
  connect(&manager, &Manager::command_noted, this,
          [this](const QString& line) { lines_->appendPlainText(line); });
}

MessagesPage::MessagesPage(MessageModel& messages, QWidget* parent) : QWidget(parent) {
  found_.setSourceModel(&messages);
  found_.setFilterKeyColumn(-1);
  found_.setFilterCaseSensitivity(Qt::CaseInsensitive);
  table_ = make_table("Messages", &found_, this);
  table_->setColumnWidth(MessageModel::about, 200);
  table_->setItemDelegateForColumn(MessageModel::about, new MiddleDelegate(table_));
  auto* find = new QLineEdit(this);
  find->setPlaceholderText("Find in messages");
  find->setAccessibleName("Find in messages");
  find->setClearButtonEnabled(true);
  connect(find, &QLineEdit::textChanged, &found_, &QSortFilterProxyModel::setFilterFixedString);
  auto* top = new QHBoxLayout;
  top->addWidget(find, 1);
  top->addWidget(make_button("&Copy", "Put the selected messages on the clipboard", this,
                             [this] { copy_rows(*table_); }));
  top->addWidget(make_button(Icon::save, "&Save as CSV…",
                             "Save the messages as comma-separated values", this,
                             [this] { save_csv(found_, "messages.csv", this); }));
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(top);
  layout->addWidget(table_, 1);
  connect(&messages, &QAbstractItemModel::rowsInserted, this, [this] {
    const QScrollBar* bar = table_->verticalScrollBar();
    if (bar->value() == bar->maximum())
      QMetaObject::invokeMethod(table_, &QTableView::scrollToBottom, Qt::QueuedConnection);
  });
}

}  // namespace respike::gui

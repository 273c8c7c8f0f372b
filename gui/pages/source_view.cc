#include "gui/pages/source_view.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include <utility>

#include "gui/models/editor.h"
#include "gui/pages/heat_delegate.h"

namespace respike::gui {
namespace {

constexpr const char* kEditTip =
    "Start your editor at the chosen line; the page Settings says which editor";
constexpr const char* kFolderTip =
    "Choose the folder that has the source, because the file is not where it was compiled; the "
    "page Settings lists such folders";

/// Marks the lines of the chosen block.
class LineDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    if (!index.data(SourceModel::chosen_role).toBool()) return;
    constexpr int kVeil = 56;  // of 255: the text stays readable
    const QColor mark = option->palette.color(QPalette::Highlight);
    option->backgroundBrush = QColor(mark.red(), mark.green(), mark.blue(), kVeil);
  }
};

}  // namespace

SourceView::SourceView(Manager& manager, std::shared_ptr<CodeCache> cache, QWidget* parent)
    : QWidget(parent), manager_(manager), cache_(std::move(cache)) {
  title_ = new ElidedLabel(this);
  edit_ = make_button("Open in &editor", kEditTip, this, [this] { edit(); });
  folder_ = make_button("Fol&der…", kFolderTip, this, [this] { choose_folder(); });
  auto* csv = make_button("CSV…", "Save the source as comma-separated values", this, [this] {
    save_csv(model_, QFileInfo(QString::fromStdString(place_.path)).fileName() + ".csv", this);
  });
  csv->setAccessibleName("Save as CSV: Source");
  auto* top = new QHBoxLayout;
  top->addWidget(title_, 1);
  top->addWidget(edit_);
  top->addWidget(folder_);
  top->addWidget(csv);
  state_ = new QLabel(this);
  state_->setTextFormat(Qt::PlainText);
  state_->setWordWrap(true);
  state_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  state_->hide();

  table_ = make_table("Source", &model_, this);
  table_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  table_->setAlternatingRowColors(false);
  table_->setItemDelegate(new LineDelegate(table_));
  table_->setItemDelegateForColumn(SourceModel::count,
                                   new HeatDelegate(SourceModel::heat_role, table_));
  table_->setColumnWidth(SourceModel::count, 100);
  table_->setColumnWidth(SourceModel::share, 70);
  table_->setColumnWidth(SourceModel::line, 60);
  table_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  table_->setToolTip("A double click, or Enter, goes to the next code of the line");
  connect(table_, &QTableView::activated, this, [this](const QModelIndex& index) {
    if (there_) Q_EMIT code_wanted(place_.path, model_.line_at(index.row()));
  });
  empty_ = make_empty_state("", this);
  empty_->setTextFormat(Qt::PlainText);
  stack_ = new QStackedWidget(this);
  stack_->addWidget(empty_);
  stack_->addWidget(table_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins({});
  layout->addLayout(top);
  layout->addWidget(state_);
  layout->addWidget(stack_, 1);
  show_nothing("");
}

void SourceView::show_nothing(const QString& why) {
  ++asked_;
  place_ = {};
  answer_ = {};
  there_ = false;
  model_.set({});
  empty_->setText(why);
  stack_->setCurrentIndex(0);
  tell_state();
}

void SourceView::show_place(Place place) {
  const bool same_file = place.application == place_.application && place.image == place_.image &&
                         place.path == place_.path;
  const bool same = same_file && place.stamp == place_.stamp;
  place_ = std::move(place);
  if (same && there_) return show_line();
  if (same && asked_ != 0) return tell_state();  // the answer is on its way
  if (!same_file) {
    there_ = false;
    answer_ = {};
    model_.set({});
    empty_->setText("…");
    stack_->setCurrentIndex(0);
  }
  ask();
}

void SourceView::ask() {
  tell_state();
  const SourceQuestion question{.application = place_.application.toStdString(),
                                .image = place_.image,
                                .path = place_.path,
                                .substitutions = read_substitutions()};
  const int number = ++asked_;
  manager_.ask<SourceAnswer>(
      this,
      [cache = cache_, question](Environment& environment) {
        return cache->ask_source(environment, question);
      },
      [this, number](const SourceAnswer& answer) {
        if (number == asked_) show_answer(answer);
      },
      [this, number](const QString& failure) {
        if (number == asked_) show_nothing(failure);
      });
}

void SourceView::show_answer(const SourceAnswer& answer) {
  const bool same = std::exchange(there_, true);
  const QModelIndex chosen = table_->currentIndex();
  const int row = same && chosen.isValid() ? chosen.row() : -1;
  answer_ = answer;
  model_.set(answer);
  stack_->setCurrentIndex(1);
  show_line();
  if (row >= 0 && row < model_.rowCount()) table_->setCurrentIndex(model_.index(row, 0));
}

/// Marks the block's lines, and goes to the chosen one.
void SourceView::show_line() {
  model_.choose(place_.lines);
  if (const int row = model_.row_of(place_.line); row >= 0) {
    table_->setCurrentIndex(model_.index(row, 0));
    table_->scrollTo(model_.index(row, 0), QAbstractItemView::PositionAtCenter);
  }
  tell_state();
}

void SourceView::tell_state() {
  const QString path = QString::fromStdString(place_.path);
  const bool named = !path.isEmpty(), missing = named && there_ && answer_.found.isEmpty();
  const QFileInfo file(answer_.found.isEmpty() ? path : answer_.found);
  title_->setText(named
                      ? file.fileName() + ':' + QString::number(place_.line) + " in " + file.path()
                      : QString());
  QString text;
  if (missing && path.startsWith('/'))
    text = "The source is not there: “Folder…” names the folder that has it.";
  else if (missing)
    text = "The debug information names no folder of this source.";
  else if (named && answer_.newer)
    text = "The source was written after the image: lines may have moved.";
  state_->setText(text);
  state_->setVisible(!text.isEmpty());
  edit_->setEnabled(named && !answer_.found.isEmpty());
  edit_->setToolTip(edit_->isEnabled() ? kEditTip : "There is no source that could be opened");
  folder_->setEnabled(missing && path.startsWith('/'));
  folder_->setToolTip(folder_->isEnabled() ? kFolderTip
                      : missing            ? "The debug information names no folder to replace"
                                           : "The source is where it is looked for");
}

void SourceView::choose_folder() {
  const QString path = QString::fromStdString(place_.path);
  const QString folder = QFileDialog::getExistingDirectory(
      this, "Folder that has " + QFileInfo(path).fileName(), QString());
  if (folder.isEmpty()) return;
  const auto place = substitution_for(path, folder);
  if (!place) {
    state_->setText(QString("%1 has no %2.").arg(folder, QFileInfo(path).fileName()));
    return;
  }
  add_substitution(*place);
  ask();
}

void SourceView::edit() {
  if (!edit_->isEnabled())
    return manager_.say(Message::Kind::note, "Open in editor",
                        "choose a block or an instruction on the page Procedure whose source is "
                        "there");
  const int row = table_->currentIndex().row();
  const uint32_t line = row >= 0 ? model_.line_at(row) : place_.line;
  const QString failure = open_in_editor(answer_.found, line);
  if (!failure.isEmpty()) return manager_.say(Message::Kind::error, "Open in editor", failure);
  manager_.say(Message::Kind::done, "Open in editor",
               QString("%1:%2").arg(answer_.found).arg(line));
}

}  // namespace respike::gui

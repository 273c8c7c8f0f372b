#pragma once
// Controls that pages share.

#include <QAbstractItemModel>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QWidget>

#include <functional>
#include <utility>

#include "gui/models/verbatim.h"
#include "gui/pages/icons.h"
#include "gui/pictures/figure.h"

namespace respike::gui {

/// A button with a name, a description, and an action.
template <typename F>
QPushButton* make_button(const QString& text, const QString& tip, QWidget* parent, F action) {
  auto* button = new QPushButton(text, parent);
  button->setToolTip(tip);
  button->setAccessibleDescription(tip);
  QObject::connect(button, &QPushButton::clicked, parent, action);
  return button;
}

/// The same with an icon.
template <typename F>
QPushButton* make_button(Icon which, const QString& text, const QString& tip, QWidget* parent,
                         F action) {
  QPushButton* button = make_button(text, tip, parent, std::move(action));
  button->setIcon(icon(which));
  return button;
}

/// Highlights the button of the next step, also for screen readers; or removes the highlight.
void show_as_next(QPushButton& button, bool is_next);

/// A table whose rows are selected as a whole and whose columns can be sorted.
QTableView* make_table(const QString& name, QAbstractItemModel* model, QWidget* parent);

/// Shows the tooltips of cells literally, since they may contain names. make_table() does so.
void show_tips_verbatim(QAbstractItemView& view);

/// A text in the middle of a page that has nothing to show: the next step.
QLabel* make_empty_state(const QString& text, QWidget* parent);

/// A line of plain text that never widens the window: its end is cut if there is no room, and the
/// tooltip has the whole text.
class ElidedLabel : public QLabel {
  Q_OBJECT

 public:
  explicit ElidedLabel(QWidget* parent = nullptr);
  void setText(const QString& text);
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
};

/// Asks for a file and writes the table to it as CSV.
void save_csv(const QAbstractItemModel& model, const QString& suggestion, QWidget* parent);

/// A button that asks for a file and writes the figure of `picture` to it as SVG or PNG. `start`
/// gives the start of the suggested name: an application.
QPushButton* make_save_button(const FigureWidget& picture, std::function<QString()> start,
                              QWidget* parent);

/// Gives placeholders of text a colour that can be read on the background. Dark themes may leave
/// the placeholders dark.
void make_placeholders_readable();

/// Puts the selected rows of a table on the clipboard, with tabs between cells.
void copy_rows(const QTableView& table);

}  // namespace respike::gui

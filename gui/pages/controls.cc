#include "gui/pages/controls.h"

#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHeaderView>
#include <QHelpEvent>
#include <QMessageBox>
#include <QPainter>
#include <QSaveFile>
#include <QShortcut>
#include <QStyle>
#include <QToolTip>

#include <algorithm>

#include "gui/models/procedure_model.h"
#include "gui/pictures/heat.h"

namespace respike::gui {

namespace {

constexpr const char* kPlainIcon = "plain_icon";  // a property of buttons
constexpr const char* kNextStyle =
    "QPushButton { background: %1; color: %2; border: 2px solid %1; border-radius: 4px; "
    "padding: 4px 14px; font-weight: bold }"
    "QPushButton:hover, QPushButton:focus { border-color: %2 }";

/// The icon, drawn in one colour.
QIcon in_colour(const QIcon& icon, const QSize& size, qreal ratio, const QColor& colour) {
  QPixmap pixmap = icon.pixmap(size, ratio);
  if (pixmap.isNull()) return icon;
  QPainter painter(&pixmap);
  painter.setCompositionMode(QPainter::CompositionMode_SourceIn);
  painter.fillRect(pixmap.rect(), colour);
  return pixmap;
}

/// Shows the tooltips of a view's cells literally.
class VerbatimTips : public QObject {
 public:
  explicit VerbatimTips(QAbstractItemView& view) : QObject(&view), view_(view) {}
  bool eventFilter(QObject*, QEvent* event) override {
    if (event->type() != QEvent::ToolTip) return false;
    const auto* help = static_cast<const QHelpEvent*>(event);
    const QString tip = view_.indexAt(help->pos()).data(Qt::ToolTipRole).toString();
    if (tip.isEmpty()) return false;
    QToolTip::showText(help->globalPos(), verbatim(tip), &view_);
    return true;
  }

 private:
  QAbstractItemView& view_;
};

}  // namespace

void show_tips_verbatim(QAbstractItemView& view) {
  view.viewport()->installEventFilter(new VerbatimTips(view));
}

QTableView* make_table(const QString& name, QAbstractItemModel* model, QWidget* parent) {
  auto* table = new QTableView(parent);
  table->setAccessibleName(name);
  table->setModel(model);
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->setAlternatingRowColors(true);
  table->setShowGrid(false);
  table->setWordWrap(false);
  table->setTabKeyNavigation(false);  // Tab leaves the table
  table->verticalHeader()->hide();
  // All rows are as high as text: a table of 20,000 rows need not measure each row.
  table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() + 6);
  table->horizontalHeader()->setHighlightSections(false);
  table->horizontalHeader()->setStretchLastSection(true);
  auto* copy = new QShortcut(QKeySequence::Copy, table, nullptr, nullptr, Qt::WidgetShortcut);
  QObject::connect(copy, &QShortcut::activated, table, [table] { copy_rows(*table); });
  show_tips_verbatim(*table);
  return table;
}

QLabel* make_empty_state(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setAlignment(Qt::AlignCenter);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextBrowserInteraction);
  label->setMargin(24);
  return label;
}

ElidedLabel::ElidedLabel(QWidget* parent) : QLabel(parent) {
  setTextFormat(Qt::PlainText);
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

void ElidedLabel::setText(const QString& text) {
  QLabel::setText(text);
  setToolTip(text.isEmpty() ? QString() : verbatim(text));
}

QSize ElidedLabel::minimumSizeHint() const {
  return {0, QLabel::minimumSizeHint().height()};
}

void ElidedLabel::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const QString text = QLabel::text().replace('\n', ' ');
  style()->drawItemText(&painter, contentsRect(), int(alignment()), palette(), isEnabled(),
                        fontMetrics().elidedText(text, Qt::ElideRight, contentsRect().width()),
                        foregroundRole());
}

void save_csv(const QAbstractItemModel& model, const QString& suggestion, QWidget* parent) {
  const QString path = QFileDialog::getSaveFileName(parent, "Save the table", suggestion,
                                                    "Comma-separated values (*.csv)");
  if (path.isEmpty()) return;
  QSaveFile file(path);
  if (!file.open(QIODevice::WriteOnly) || file.write(csv_of(model).toUtf8()) < 0 || !file.commit())
    QMessageBox::warning(parent, "Save the table", verbatim(path + ": " + file.errorString()));
}

QPushButton* make_save_button(const FigureWidget& picture, std::function<QString()> start,
                              QWidget* parent) {
  const auto save = [&picture, start = std::move(start), parent] {
    const Figure& figure = picture.figure();
    const QString path = QFileDialog::getSaveFileName(parent, "Save the picture",
                                                      start() + "-" + figure.name + ".svg",
                                                      "SVG (*.svg);;PNG (*.png)");
    if (path.isEmpty()) return;
    const QString failure = save_figure(figure, path);
    if (!failure.isEmpty()) QMessageBox::warning(parent, "Save the picture", verbatim(failure));
  };
  QPushButton* button =
      make_button(Icon::save, "Save picture…", "Save this picture as SVG or PNG", parent, save);
  button->setAccessibleName("Save picture: " + picture.figure().title);
  return button;
}

void show_as_next(QPushButton& button, bool is_next) {
  const QColor background = QApplication::palette().color(QPalette::Highlight);
  const QColor text = text_on(background);
  const QString style =
      is_next ? QString(kNextStyle).arg(background.name(), text.name()) : QString();
  if (button.styleSheet() == style) return;
  if (!button.property(kPlainIcon).isValid()) button.setProperty(kPlainIcon, button.icon());
  const auto plain = button.property(kPlainIcon).value<QIcon>();
  button.setStyleSheet(style);
  // Style sheets do not colour icons.
  button.setIcon(is_next ? in_colour(plain, button.iconSize(), button.devicePixelRatioF(), text)
                         : plain);
  button.setAccessibleDescription((is_next ? "Next step: " : "") + button.toolTip());
}

void make_placeholders_readable() {
  QPalette palette = QApplication::palette();
  const QColor text = palette.color(QPalette::Text), base = palette.color(QPalette::Base);
  constexpr float kText = 0.65F;  // the rest comes from the background
  const auto mix = [](float a, float b) { return kText * a + (1 - kText) * b; };
  const QColor colour =
      QColor::fromRgbF(mix(text.redF(), base.redF()), mix(text.greenF(), base.greenF()),
                       mix(text.blueF(), base.blueF()));
  if (palette.color(QPalette::PlaceholderText).rgba() == colour.rgba()) return;
  palette.setColor(QPalette::PlaceholderText, colour);
  QApplication::setPalette(palette);
}

void copy_rows(const QTableView& table) {
  QModelIndexList rows = table.selectionModel()->selectedRows();
  std::ranges::sort(rows, {}, &QModelIndex::row);
  QString text;
  for (const QModelIndex& row : rows) {
    QStringList cells;
    for (int column = 0; column < table.model()->columnCount(); ++column)
      cells << row.siblingAtColumn(column).data().toString();
    text += cells.join('\t') + '\n';
  }
  if (!text.isEmpty()) QGuiApplication::clipboard()->setText(text);
}

}  // namespace respike::gui

// Example: the table "Procedures" of the page "Time" has the setting "arrangement/Time/Procedures
// 8": eight columns. A Respike with another number of columns uses another setting.

#include "gui/pages/remembering.h"

#include <QHeaderView>
#include <QSettings>
#include <QSplitter>
#include <QTreeView>

#include <algorithm>
#include <functional>

namespace respike::gui {
namespace {

constexpr const char* kArranged = "arranged by the user";  // property of a table

using Visitor = std::function<void(const QString& key, QHeaderView* columns, QSplitter* splitter)>;

/// Calls `visit` for all columns and splitters, each with a key of its own.
void visit_all(const QTabWidget& pages, const Visitor& visit) {
  for (int i = 0; i < pages.count(); ++i) {
    const QString page = "arrangement/" + pages.tabText(i).remove('&') + '/';
    int splitters = 0;
    for (auto* splitter : pages.widget(i)->findChildren<QSplitter*>())
      visit(page + QString("splitter %1 %2").arg(splitters++).arg(splitter->count()), nullptr,
            splitter);
    for (auto* view : pages.widget(i)->findChildren<QAbstractItemView*>()) {
      QHeaderView* columns = nullptr;
      if (auto* table = qobject_cast<QTableView*>(view)) columns = table->horizontalHeader();
      if (auto* tree = qobject_cast<QTreeView*>(view)) columns = tree->header();
      if (columns == nullptr || view->accessibleName().isEmpty()) continue;
      visit(page + QString("%1 %2").arg(view->accessibleName()).arg(columns->count()), columns,
            nullptr);
    }
  }
}

}  // namespace

void restore_arrangement(const QTabWidget& pages) {
  const QSettings settings;
  visit_all(pages, [&](const QString& key, QHeaderView* columns, QSplitter* splitter) {
    const QByteArray state = settings.value(key).toByteArray();
    if (state.isEmpty()) return;
    if (splitter != nullptr) splitter->restoreState(state);
    if (columns != nullptr && columns->restoreState(state))
      columns->parent()->setProperty(kArranged, true);
  });
}

void keep_arrangement(const QTabWidget& pages) {
  QSettings settings;
  visit_all(pages, [&](const QString& key, const QHeaderView* columns, const QSplitter* splitter) {
    settings.setValue(key, columns != nullptr ? columns->saveState() : splitter->saveState());
  });
}

void widen_for_numbers(QTableView& table, const std::vector<int>& columns) {
  const QAbstractItemView& view = table;
  for (const int column : columns) {
    const int wanted =
        std::max(view.sizeHintForColumn(column), table.horizontalHeader()->sectionSizeHint(column));
    if (wanted > table.columnWidth(column)) table.setColumnWidth(column, wanted);
  }
}

QString settings_group(const QString& page, const QString& application) {
  return page + '/' + QString::fromUtf8(application.toUtf8().toPercentEncoding());
}

void fit_columns(QTableView& table) {
  if (table.property(kArranged).toBool() || table.model()->rowCount() == 0) return;
  table.resizeColumnsToContents();
  table.setProperty(kArranged, true);  // from now on the widths are the user's
}

}  // namespace respike::gui

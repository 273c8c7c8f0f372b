#pragma once
// What users arranged: widths and order of columns, sorting, splitters.

#include <QTabWidget>
#include <QTableView>

namespace respike::gui {

/// Arranges the tables, trees and splitters of all pages as they were when keep_arrangement() was
/// called last, by the settings of the user.
void restore_arrangement(const QTabWidget& pages);
void keep_arrangement(const QTabWidget& pages);

/// Makes the columns of a table as wide as their contents, unless the user arranged them.
void fit_columns(QTableView& table);

}  // namespace respike::gui

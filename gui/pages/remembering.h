#pragma once
// The user's arrangement: widths and order of columns, sorting, splitters.

#include <QTabWidget>
#include <QTableView>

namespace respike::gui {

/// Arranges the tables, trees and splitters of all pages from the user's settings, as they were at
/// the last keep_arrangement().
void restore_arrangement(const QTabWidget& pages);
void keep_arrangement(const QTabWidget& pages);

/// Makes the columns of a table as wide as their contents, unless the user arranged them.
void fit_columns(QTableView& table);

/// Widens columns whose numbers would be cut: a number without its end is another number. Wider
/// columns stay as the user wants them.
void widen_for_numbers(QTableView& table, const std::vector<int>& columns);

/// The group of settings of a page ("runs") that belong to an application.
QString settings_group(const QString& page, const QString& application);

}  // namespace respike::gui

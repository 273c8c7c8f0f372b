#pragma once
// Counts in tables, with their heat as the background colour.

#include <QStyledItemDelegate>

namespace respike::gui {

/// Whether a widget has dark colours.
bool is_dark(const QWidget* widget);

class HeatDelegate : public QStyledItemDelegate {
 public:
  /// `role`: the model's role of a share in [0, 1].
  HeatDelegate(int role, QObject* parent) : QStyledItemDelegate(parent), role_(role) {}
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

 private:
  int role_;
};

}  // namespace respike::gui

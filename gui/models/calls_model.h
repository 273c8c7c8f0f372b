#pragma once
// The calls around a procedure: its callers, or its callees.

#include <vector>

#include "gui/models/procedure_model.h"
#include "gui/models/table_model.h"
#include "views/call_counts.h"

namespace respike::gui {

/// The direction in which calls are followed.
enum class Direction : uint8_t { callers, callees };

class CallsModel : public TableModel {
  Q_OBJECT

 public:
  enum Column { count, share, places, name };
  enum Role { row_role = Qt::UserRole };  // int: index of `rows` of set(); -1: not known

  explicit CallsModel(Direction direction, QObject* parent = nullptr);

  /// The calls of rows[of], the most frequent first.
  void set(const std::vector<ProcedureRow>& rows, const std::vector<CallCount>& calls, uint32_t of);
  void clear();
  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int row_count() const override { return int(rows_.size()); }

 private:
  struct Row {
    CallCount call;
    uint32_t other = kNone;  // the caller or the callee
    QString name;
    double share = 0;
  };
  QVariant text(const Row& row, int column) const;

  Direction direction_;
  std::vector<Row> rows_;
};

}  // namespace respike::gui

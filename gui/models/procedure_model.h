#pragma once
// Where time goes: the procedures of one image or of all images, by executed instructions.

#include <QSortFilterProxyModel>

#include <string>
#include <vector>

#include "applications/environment.h"
#include "gui/models/table_model.h"
#include "views/call_counts.h"

namespace respike::gui {

struct ProcedureRow {
  QString name;
  QString image;  // file name
  std::string image_path;
  uint64_t address = 0;       // in the original image
  uint64_t instructions = 0;  // executed
  uint64_t entries = 0;
  uint32_t blocks = 0, executed_blocks = 0;
  uint64_t size = 0;  // bytes in the original image
  bool exact = true;  // false: some calls did not return exactly once
  double share = 0;   // of all executed instructions in the table
};

struct TimeData {
  std::vector<ProcedureRow> rows;  // sorted by executed instructions, largest first
  std::vector<CallCount> calls;    // procedures are indices of `rows`
};

/// The procedures of an application's profiles, and their calls. `images`: paths; empty: all. Asked
/// in the background (Manager::ask).
TimeData read_times(Environment& environment, const std::string& application,
                    const std::vector<std::string>& images);

class ProcedureModel : public TableModel {
  Q_OBJECT

 public:
  enum Column { share, instructions, entries, per_entry, blocks, size, name, image };
  enum Role { sort_role = Qt::UserRole, image_path_role, address_role };

  explicit ProcedureModel(QObject* parent = nullptr);

  void set(std::vector<ProcedureRow> rows);
  const std::vector<ProcedureRow>& rows() const { return rows_; }

  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int row_count() const override { return int(rows_.size()); }

 private:
  std::vector<ProcedureRow> rows_;
};

/// Sorts by numbers, and shows only procedures whose name contains a text and, if wanted, that ran.
class ProcedureFilter : public QSortFilterProxyModel {
  Q_OBJECT

 public:
  explicit ProcedureFilter(QObject* parent = nullptr);
  void set_text(const QString& text);
  void set_only_executed(bool only);

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

 private:
  QString text_;
  bool only_executed_ = true;
};

/// A table as comma-separated values, with a line of titles (RFC 4180). All columns, rows as shown.
QString csv_of(const QAbstractItemModel& model);

}  // namespace respike::gui

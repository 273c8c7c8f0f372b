#pragma once
// A source file with counts beside its lines.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gui/models/table_model.h"
#include "views/source_counts.h"

namespace respike::gui {

/// A source file with the counts of its lines.
struct SourceAnswer {
  QString found;                                 // where the file is; empty: nowhere
  std::optional<std::vector<std::string>> text;  // lines; nullopt: the file cannot be read
  std::map<uint32_t, SourceLine> counts;         // by line
  uint64_t instructions = 0;                     // executed in the whole image
  bool counted = false;
  std::vector<uint32_t> coded;  // lines with code, ascending: shown if there is no text
  bool newer = false;           // the file was written after the image
};

class SourceModel : public TableModel {
  Q_OBJECT

 public:
  enum Column { count, share, line, text };
  enum Role {
    heat_role = Qt::UserRole,  // share in [0, 1]
    chosen_role,               // whether the line belongs to the chosen block
  };

  explicit SourceModel(QObject* parent = nullptr);

  void set(const SourceAnswer& answer);
  /// The lines of the chosen block.
  void choose(std::set<uint32_t> lines);
  /// The row of a line; -1: the line is not shown.
  int row_of(uint32_t number) const;
  uint32_t line_at(int row) const { return lines_[size_t(row)]; }

  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int row_count() const override { return int(lines_.size()); }

 private:
  SourceAnswer answer_;
  std::vector<uint32_t> lines_;  // by row, ascending
  std::set<uint32_t> chosen_;
  uint64_t hottest_ = 0;  // instructions of a line
};

}  // namespace respike::gui

#pragma once
// The listing of a procedure: a row for each block, then a row for each of its instructions.

#include <vector>

#include "gui/models/table_model.h"
#include "views/code_sources.h"
#include "views/code_view.h"

namespace respike::gui {

class ListingModel : public TableModel {
  Q_OBJECT

 public:
  enum Column { count, address, text, target, source };
  enum Role {
    block_role = Qt::UserRole,  // number of the block
    heat_role,                  // share in [0, 1]
    taken_out_role,             // whether the hot part lacks the instruction
  };

  explicit ListingModel(QObject* parent = nullptr);

  /// `counted`: whether counts are shown.
  void set(CodeView view, bool counted);
  const CodeView& view() const { return view_; }
  /// Sets the source lines of the code of the last set(), until the next set().
  void set_sources(CodeSources sources);
  const CodeSources& sources() const { return sources_; }
  /// The source line of a row: of an instruction, or the first line of a block.
  SourcePlace place_of(int row) const;
  int row_of(BlockId block) const { return block < starts_.size() ? starts_[block] : -1; }
  BlockId block_at(int row) const;
  /// The instruction of a row; nullptr: the row is a block's.
  const CodeLine* line_at(int row) const;

  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int row_count() const override { return rows_; }

 private:
  CodeView view_;
  CodeSources sources_;
  bool counted_ = false;
  uint64_t hottest_ = 0;
  std::vector<int> starts_;  // row of each block
  int rows_ = 0;
};

}  // namespace respike::gui

#pragma once
// The loops of an application by executed instructions.

#include <string>
#include <vector>

#include "gui/models/code_cache.h"
#include "gui/models/table_model.h"
#include "views/hot_loops.h"

namespace respike::gui {

struct LoopRow {
  HotLoop loop;
  QString procedure, image;  // names
  QString source;            // line of the header: "main.c:12"; empty: not known
  std::string image_path;
  double share = 0;  // relative to all executed instructions of the images
};

/// The loops of the counted images. `images`: paths; empty: all. Asked in the background
/// (Manager::ask).
std::vector<LoopRow> read_loops(Environment& environment, CodeCache& cache,
                                const std::string& application,
                                const std::vector<std::string>& images);

class LoopModel : public TableModel {
  Q_OBJECT

 public:
  enum Column {
    share,
    instructions,
    entries,
    trip_count,
    depth,
    blocks,
    procedure,
    address,
    source,
    image
  };
  enum Role { sort_role = Qt::UserRole };

  explicit LoopModel(QObject* parent = nullptr);

  void set(std::vector<LoopRow> rows);
  const std::vector<LoopRow>& rows() const { return rows_; }
  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int row_count() const override { return int(rows_.size()); }

 private:
  std::vector<LoopRow> rows_;
};

}  // namespace respike::gui

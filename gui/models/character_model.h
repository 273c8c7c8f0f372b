#pragma once
// The characteristics of an application, as a table of numbers.

#include <string>
#include <vector>

#include "gui/models/code_cache.h"
#include "gui/models/table_model.h"
#include "views/characteristics.h"

namespace respike::gui {

/// The characteristics of the counted images. `images`: paths; empty: all. Asked in the background
/// (Manager::ask).
Characteristics read_characteristics(Environment& environment, CodeCache& cache,
                                     const std::string& application,
                                     const std::vector<std::string>& images);

/// Rows: the points of the figures, then the parts of prologs and epilogs.
class CharacterModel : public TableModel {
  Q_OBJECT

 public:
  enum Column { measure, bound, share };

  explicit CharacterModel(QObject* parent = nullptr);

  void set(const Characteristics& program);
  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int row_count() const override { return int(rows_.size()); }

 private:
  struct Row {
    QString measure;
    uint32_t bound = 0;  // 0: none
    double share = 0;
  };
  std::vector<Row> rows_;
};

}  // namespace respike::gui

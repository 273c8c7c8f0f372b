#pragma once
// What optimization gains on a workload: two versions of a program on a model of a processor.

#include <memory>
#include <vector>

#include "gui/models/action.h"
#include "gui/models/table_model.h"
#include "simulator/run.h"

namespace respike::gui {

struct GainRequest {
  QString application;
  QStringList arguments;
  QString folder;  // empty: that of this process
  QString input;   // file; empty: nothing to read
};

/// A file number that can be read once stop() was called.
class StopFile {
 public:
  StopFile();
  ~StopFile();
  StopFile(const StopFile&) = delete;
  StopFile& operator=(const StopFile&) = delete;
  void stop();
  int number() const { return number_; }

 private:
  int number_;
};

/// `respike compare` of the program of an application and its optimized image: the libraries stay
/// as they are. Sets `result` when it is done, before the action ends.
Action compare_action(const GainRequest& request, std::shared_ptr<simulator::Comparison> result,
                      std::shared_ptr<StopFile> stop);

/// Rows: figures, then the cycles of each component.
class GainModel : public TableModel {
  Q_OBJECT

 public:
  enum Column { name, before, after, change };

  explicit GainModel(QObject* parent = nullptr);

  void set(const simulator::Comparison& comparison);
  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int row_count() const override { return int(rows_.size()); }

 private:
  struct Row {
    QString name;
    uint64_t before = 0, after = 0;
  };
  std::vector<Row> rows_;
};

}  // namespace respike::gui

#pragma once
// What optimization gains on a workload: two versions of a program on a model of a processor, or
// timed where there is no model.

#include <memory>
#include <string>
#include <vector>

#include "gui/models/action.h"
#include "gui/models/table_model.h"

namespace respike::gui {

struct GainRequest {
  QString application;
  QStringList arguments;
  QString folder;  // empty: the folder of this process
  QString input;   // a file; empty: no input
};

/// A file number that becomes readable when stop() is called.
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

/// `respike compare` of an application: its original and its optimized version, libraries included.
/// The comparison is kept with the program's build.
Action compare_action(const GainRequest& request, std::shared_ptr<StopFile> stop);

/// The words of the equivalent `respike compare`.
QStringList compare_command(const GainRequest& request);

/// The stored comparisons of an application's program, latest first. Asked in the background
/// (Manager::ask).
std::vector<ComparisonRow> read_comparisons(Environment& environment,
                                            const std::string& application);

/// Cycles, or microseconds without a model.
QString unit_of(const ComparisonRow& row);
/// Costs of the original, and of the optimized program.
uint64_t cycles_before(const ComparisonRow& row);
uint64_t cycles_after(const ComparisonRow& row);

/// The stored comparisons.
class ComparisonModel : public TableModel {
  Q_OBJECT

 public:
  enum Column { made, build, workload, before, after, speedup, alike };

  explicit ComparisonModel(QObject* parent = nullptr);

  void set(std::vector<ComparisonRow> rows);
  const std::vector<ComparisonRow>& rows() const { return rows_; }
  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int row_count() const override { return int(rows_.size()); }

 private:
  std::vector<ComparisonRow> rows_;
};

/// One comparison. Rows: figures, then the cycles of each component.
class GainModel : public TableModel {
  Q_OBJECT

 public:
  enum Column { name, before, after, change };

  explicit GainModel(QObject* parent = nullptr);

  void set(const ComparisonRow& comparison);
  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int row_count() const override { return int(rows_.size()); }

 private:
  std::vector<ComparedNumber> rows_;
};

}  // namespace respike::gui

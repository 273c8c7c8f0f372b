#pragma once
// The page that compares the original and the optimized program on a workload.

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QStackedWidget>
#include <QTableView>

#include "gui/models/gain_model.h"
#include "gui/models/manager.h"
#include "gui/pages/work_fields.h"
#include "gui/pictures/stacked_bars.h"

namespace respike::gui {

class GainPage : public QWidget {
  Q_OBJECT

 public:
  explicit GainPage(Manager& manager, QWidget* parent = nullptr);
  /// Ends a running comparison.
  ~GainPage() override;

  void choose(const QString& application);

 private:
  void compare();
  void end(const Task& task);
  void take_snapshot();
  void read();
  void show_kept(const std::vector<ComparisonRow>& rows);
  void show_chosen();
  /// The chosen rows, from top to bottom.
  std::vector<int> chosen() const;
  void forget();
  void show_state();
  void remember() const;
  void recall();
  void save();

  Manager& manager_;
  QString application_;
  int task_ = 0;         // the running comparison; 0: none
  QString compared_;     // the application that it compares
  bool is_own_ = false;  // the user has compared something
  QString failure_;      // why the comparison failed
  std::shared_ptr<StopFile> stop_;
  bool asking_ = false;  // a question for stored comparisons runs
  ComparisonModel kept_;
  GainModel figures_;
  QLineEdit* arguments_ = nullptr;
  QLineEdit* folder_ = nullptr;
  QLineEdit* input_ = nullptr;
  WorkFields work_;  // from these three
  QPushButton* start_ = nullptr;
  QPushButton* end_ = nullptr;
  QLabel* verdict_ = nullptr;
  QStackedWidget* stack_ = nullptr;
  QLabel* empty_ = nullptr;
  StackedBarsWidget* bars_ = nullptr;
  QTableView* kept_table_ = nullptr;
  QTableView* table_ = nullptr;
};

}  // namespace respike::gui

#pragma once
// The procedures of an application by executed instructions, and the calls around a procedure.

#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QTableView>

#include "gui/models/calls_model.h"
#include "gui/models/procedure_model.h"
#include "gui/pages/time_view.h"

namespace respike::gui {

class ProceduresView : public TimeView {
  Q_OBJECT

 public:
  explicit ProceduresView(Manager& manager, QWidget* parent = nullptr);

 protected:
  void read() override;
  void clear() override;

 private:
  struct Around {  // the calls of one direction
    CallsModel model;
    QLabel* title = nullptr;
    QTableView* table = nullptr;
    explicit Around(Direction direction) : model(direction) {}
  };
  QLayout* make_around(Around& around, const QString& name, QWidget* parent);
  void show(const TimeData& times);
  void show_calls();
  int chosen() const;  // row of the model; -1: none
  /// Chooses a procedure if the table shows it.
  void choose_row(int row);
  /// Chooses a procedure in the table, even if the table hides it now.
  void go_to(int row);

  std::vector<CallCount> calls_;
  ProcedureModel model_;
  ProcedureFilter filter_;
  Around callers_{Direction::callers}, callees_{Direction::callees};
  QLineEdit* find_ = nullptr;
  QCheckBox* only_executed_ = nullptr;
  QLabel* sum_ = nullptr;
  QTableView* table_ = nullptr;
};

}  // namespace respike::gui

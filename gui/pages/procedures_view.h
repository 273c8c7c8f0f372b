#pragma once
// The procedures of an application by executed instructions.

#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QTableView>

#include "gui/models/procedure_model.h"
#include "gui/pages/time_view.h"

namespace respike::gui {

class ProceduresView : public TimeView {
  Q_OBJECT

 public:
  explicit ProceduresView(Manager& manager, QWidget* parent = nullptr);

 protected:
  void read() override;

 private:
  void show(std::vector<ProcedureRow> rows);

  ProcedureModel model_;
  ProcedureFilter filter_;
  QLineEdit* find_ = nullptr;
  QCheckBox* only_executed_ = nullptr;
  QLabel* sum_ = nullptr;
  QTableView* table_ = nullptr;
};

}  // namespace respike::gui

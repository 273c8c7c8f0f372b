#pragma once
// The page that shows where an application spends its time.

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QStackedWidget>
#include <QTableView>

#include "gui/models/manager.h"
#include "gui/models/procedure_model.h"

namespace respike::gui {

class TimePage : public QWidget {
  Q_OBJECT

 public:
  explicit TimePage(Manager& manager, QWidget* parent = nullptr);

  void choose(const QString& application);

 Q_SIGNALS:
  /// A row was double-clicked, or Enter was pressed on it.
  void procedure_wanted(const std::string& image, const QString& name, uint64_t address);

 private:
  void take_snapshot();
  void read();
  void show(std::vector<ProcedureRow> rows);
  /// What the table depends on: read anew when this text changes.
  QString stamp() const;

  Manager& manager_;
  QString application_;
  QString shown_;  // the stamp of what is shown or asked for
  ProcedureModel model_;
  ProcedureFilter filter_;
  QComboBox* images_ = nullptr;
  QLineEdit* find_ = nullptr;
  QCheckBox* only_executed_ = nullptr;
  QLabel* sum_ = nullptr;
  QLabel* empty_ = nullptr;
  QStackedWidget* stack_ = nullptr;
  QTableView* table_ = nullptr;
};

}  // namespace respike::gui

#pragma once
// The loops of an application by executed instructions.

#include <QLineEdit>
#include <QSortFilterProxyModel>
#include <QTableView>

#include <memory>

#include "gui/models/loop_model.h"
#include "gui/pages/time_view.h"

namespace respike::gui {

class LoopsView : public TimeView {
  Q_OBJECT

 public:
  LoopsView(Manager& manager, std::shared_ptr<CodeCache> cache, QWidget* parent = nullptr);

 protected:
  void read() override;
  void clear() override;

 private:
  void show(const std::vector<LoopRow>& rows);

  std::shared_ptr<CodeCache> cache_;  // used by questions only
  LoopModel model_;
  QSortFilterProxyModel filter_;
  QLineEdit* find_ = nullptr;
  QTableView* table_ = nullptr;
  QLabel* sum_ = nullptr;
};

}  // namespace respike::gui

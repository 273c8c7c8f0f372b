#pragma once
// The page that shows where an application spends its time, in several views.

#include <QComboBox>
#include <QTabWidget>

#include <memory>
#include <vector>

#include "gui/models/code_cache.h"
#include "gui/models/manager.h"
#include "gui/pages/time_view.h"

namespace respike::gui {

class TimePage : public QWidget {
  Q_OBJECT

 public:
  TimePage(Manager& manager, std::shared_ptr<CodeCache> cache, QWidget* parent = nullptr);

  void choose(const QString& application);

 Q_SIGNALS:
  /// See TimeView.
  void procedure_wanted(const std::string& image, const QString& name, uint64_t address,
                        uint64_t block);

 private:
  void add(TimeView* view, const QString& title, const QString& tip);
  void take_snapshot();
  void pass_on();
  /// Identifies what the views depend on: they read again when this text changes.
  QString stamp() const;

  Manager& manager_;
  QString application_;
  QComboBox* images_ = nullptr;
  QTabWidget* tabs_ = nullptr;
  std::vector<TimeView*> views_;
};

}  // namespace respike::gui

#pragma once
// The source of a block: the file's lines with counts, with marks at the block's lines.

#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QTableView>
#include <QWidget>

#include <memory>
#include <set>
#include <string>

#include "gui/models/code_cache.h"
#include "gui/models/manager.h"
#include "gui/models/source_model.h"
#include "gui/pages/controls.h"

namespace respike::gui {

class SourceView : public QWidget {
  Q_OBJECT

 public:
  SourceView(Manager& manager, std::shared_ptr<CodeCache> cache, QWidget* parent = nullptr);

  struct Place {
    QString application;
    std::string image;
    QString stamp;             // identifies the code and the counts
    std::string path;          // path of the source, as recorded
    uint32_t line = 0;         // the chosen line
    std::set<uint32_t> lines;  // lines of the block in that file
  };
  /// Shows the file, and goes to the line if it has changed.
  void show_place(Place place);
  void show_nothing(const QString& why);
  /// Starts the user's editor at the chosen line, or shows why this is not possible.
  void edit();

 Q_SIGNALS:
  /// The user wants to see the code of a line of the file.
  void code_wanted(const std::string& path, uint32_t line);

 private:
  void ask();
  void show_answer(const SourceAnswer& answer);
  void show_line();
  void tell_state();
  void choose_folder();

  Manager& manager_;
  std::shared_ptr<CodeCache> cache_;  // used by questions only
  Place place_;
  int asked_ = 0;       // number of the last question: only its answer is shown
  bool there_ = false;  // the model has the file of place_
  SourceAnswer answer_;
  SourceModel model_;
  ElidedLabel* title_ = nullptr;
  QLabel* state_ = nullptr;
  QPushButton* edit_ = nullptr;
  QPushButton* folder_ = nullptr;
  QTableView* table_ = nullptr;
  QLabel* empty_ = nullptr;
  QStackedWidget* stack_ = nullptr;
};

}  // namespace respike::gui

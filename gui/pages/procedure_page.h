#pragma once
// The page of one procedure: its flow graph, and beside it the listing, kept in step.

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>

#include <optional>
#include <vector>

#include "gui/models/code_cache.h"
#include "gui/models/listing_model.h"
#include "gui/models/manager.h"
#include "gui/pages/source_view.h"
#include "gui/pictures/flow_graph.h"

namespace respike::gui {

class ProcedurePage : public QWidget {
  Q_OBJECT

 public:
  ProcedurePage(Manager& manager, std::shared_ptr<CodeCache> cache, QWidget* parent = nullptr);

  void choose(const QString& application);
  /// Shows a procedure of the chosen application, at the block with an address in the original;
  /// 0: at its start.
  void show_procedure(const std::string& image, const QString& name, uint64_t address,
                      uint64_t block = 0);
  /// Starts the user's editor at the source line that is shown, or says why not.
  void edit_source() { source_->edit(); }

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  struct Place {
    std::string image;
    QString name;
    uint64_t address = 0;
    uint64_t block = 0;  // to choose when the answer comes; 0: none
  };
  void ask();
  /// Until somebody chooses another one, the procedure that executed most is shown.
  void ask_hottest();
  /// What became of the original's blocks takes longer than showing them.
  void ask_changes(const ProcedureQuestion& question);
  /// The source lines, whose tables may take long to read.
  void ask_sources(const ProcedureQuestion& question);
  void take_sources(const CodeSources& sources);
  /// Shows the source of the chosen row, or of the start.
  void show_source();
  /// Goes to the next row of the listing that is code of a line.
  void find_code(const std::string& path, uint32_t line);
  void allow_source(const QString& why_not);
  void show_nothing(const QString& text);
  void take_snapshot();
  /// What the page depends on: the code and the counts of the image that is shown.
  QString stamp() const;
  void show(const ProcedureAnswer& answer);
  void draw();
  void choose_block();
  void select(BlockId block, bool in_graph, bool in_listing);
  void follow(const QModelIndex& index);
  /// Goes to the next line of the listing that holds the text that is looked for.
  void find_next();
  void save();

  Manager& manager_;
  std::shared_ptr<CodeCache> cache_;  // used by questions only
  QString application_;
  std::vector<Place> visited_;  // the last one is shown
  QString shown_;               // the stamp of what is shown or asked for
  bool shows_hottest_ = true;   // nobody has chosen another procedure yet
  QString looked_for_hottest_;  // in these counts, of all images
  int asked_ = 0;               // number of the last question: only its answer is shown
  bool counted_ = false;
  bool selecting_ = false;
  ListingModel listing_;
  std::optional<CodeSources> sources_;  // of what is shown; nullopt: not read yet
  FlowGraphScene scene_;
  QLabel* title_ = nullptr;
  QPushButton* back_ = nullptr;
  QLineEdit* find_ = nullptr;
  QComboBox* version_ = nullptr;
  QCheckBox* hides_cold_ = nullptr;
  QCheckBox* shows_source_ = nullptr;
  QStackedWidget* stack_ = nullptr;
  QLabel* empty_ = nullptr;
  QSplitter* splitter_ = nullptr;
  FlowGraphView* graph_ = nullptr;
  QTableView* table_ = nullptr;
  SourceView* source_ = nullptr;
};

}  // namespace respike::gui

#pragma once
// The page of one procedure: its flow graph and its listing side by side, synchronized.

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
  /// Starts the user's editor at the shown source line, or shows why this is not possible.
  void edit_source() { source_->edit(); }

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  struct Place {
    std::string image;
    QString name;
    uint64_t address = 0;
    uint64_t block = 0;  // block to choose when the answer comes; 0: none
  };
  void ask();
  /// Asks for the procedure that executed most, which is shown until the user chooses another.
  void ask_hottest();
  /// Asks what became of the original's blocks, which takes longer than showing them.
  void ask_changes(const ProcedureQuestion& question);
  /// Asks for the source lines, whose tables may take long to read.
  void ask_sources(const ProcedureQuestion& question);
  void take_sources(const CodeSources& sources);
  /// Shows the source of the chosen row, or of the start.
  void show_source();
  /// Goes to the next row of the listing with code of a source line.
  void find_code(const std::string& path, uint32_t line);
  void allow_source(const QString& why_not);
  void show_nothing(const QString& text);
  void take_snapshot();
  /// Identifies what the page depends on: the code and the counts of the shown image.
  QString stamp() const;
  void show(const ProcedureAnswer& answer);
  void draw();
  void choose_block();
  void select(BlockId block, bool in_graph, bool in_listing);
  void follow(const QModelIndex& index);
  /// Goes to the next line of the listing that contains the searched text.
  void find_next();
  void save();

  Manager& manager_;
  std::shared_ptr<CodeCache> cache_;  // used by questions only
  QString application_;
  std::vector<Place> visited_;  // the last one is shown
  QString shown_;               // the stamp of the last question
  bool shows_hottest_ = true;   // the user has not chosen another procedure yet
  QString looked_for_hottest_;  // searched in these counts, of all images
  int asked_ = 0;               // number of the last question: only its answer is shown
  bool counted_ = false;
  bool selecting_ = false;
  ListingModel listing_;
  std::optional<CodeSources> sources_;  // of the shown procedure; nullopt: not read yet
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

#include "gui/pages/procedure_page.h"

#include <QFileDialog>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QMessageBox>
#include <QScrollBar>
#include <QSettings>
#include <QStyledItemDelegate>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

#include "gui/models/procedure_model.h"
#include "gui/pages/controls.h"
#include "gui/pages/heat_delegate.h"

namespace respike::gui {
namespace {

/// Strikes out instructions that the hot part lacks.
class CodeDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    if (index.data(ListingModel::taken_out_role).toBool()) option->font.setStrikeOut(true);
  }
};

constexpr const char* kSourceTip =
    "Show the source of the chosen block or instruction, with counts beside its lines";
constexpr const char* kSourceSetting = "procedure/source";

}  // namespace

ProcedurePage::ProcedurePage(Manager& manager, std::shared_ptr<CodeCache> cache, QWidget* parent)
    : QWidget(parent), manager_(manager), cache_(std::move(cache)) {
  title_ = new QLabel(this);
  title_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  title_->setWordWrap(true);
  back_ = make_button(Icon::back, "&Back", "The procedure that was shown before", this, [this] {
    if (visited_.size() > 1) visited_.pop_back();
    ask();
  });
  version_ = new QComboBox(this);
  version_->setAccessibleName("Version");
  version_->addItems({"original", "optimized"});
  version_->setToolTip(
      "The code before or after optimization, with counts of the original: the optimized program "
      "runs its blocks as often");
  hides_cold_ = new QCheckBox("only what &ran", this);
  hides_cold_->setChecked(true);
  hides_cold_->setToolTip("Leave blocks that never ran out of the graph");
  shows_source_ = new QCheckBox("so&urce", this);
  shows_source_->setChecked(QSettings().value(kSourceSetting, true).toBool());
  title_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);  // names may be long
  find_ = new QLineEdit(this);
  find_->setPlaceholderText("Find in the listing");
  find_->setAccessibleName("Find in the listing");
  find_->setToolTip(
      "Enter goes to the next line that holds the text: code, address, target or source line");
  find_->setClearButtonEnabled(true);
  connect(find_, &QLineEdit::returnPressed, this, &ProcedurePage::find_next);
  auto* top = new QHBoxLayout;
  top->addWidget(back_);
  top->addWidget(find_, 1);
  top->addWidget(version_);
  top->addWidget(hides_cold_);
  top->addWidget(shows_source_);
  top->addWidget(
      make_button("A&ll", "Show the whole graph (0)", this, [this] { graph_->show_all(); }));
  top->addWidget(make_button(Icon::save, "&Save picture…", "Save the flow graph as SVG or PNG",
                             this, [this] { save(); }));
  top->addWidget(make_button(
      Icon::save, "Save &CSV…", "Save the listing as comma-separated values", this,
      [this] { save_csv(listing_, QString::fromStdString(listing_.view().name) + ".csv", this); }));

  graph_ = new FlowGraphView(this);
  graph_->setAccessibleName("Flow graph");
  graph_->setAccessibleDescription("The listing beside the graph says the same in words");
  graph_->setScene(&scene_);
  table_ = make_table("Listing", &listing_, this);
  table_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  table_->setAlternatingRowColors(false);
  table_->setItemDelegateForColumn(ListingModel::count,
                                   new HeatDelegate(ListingModel::heat_role, table_));
  table_->setItemDelegateForColumn(ListingModel::text, new CodeDelegate(table_));
  table_->setColumnWidth(ListingModel::count, 100);
  table_->setColumnWidth(ListingModel::address, 100);
  table_->setColumnWidth(ListingModel::text, 240);
  table_->setColumnWidth(ListingModel::target, 150);
  table_->setColumnHidden(ListingModel::source, true);
  table_->setToolTip("A double click, or Enter, follows a call or a branch");
  splitter_ = new QSplitter(this);
  splitter_->addWidget(graph_);
  source_ = new SourceView(manager_, cache_, this);
  auto* right = new QSplitter(Qt::Vertical, this);
  right->addWidget(table_);
  right->addWidget(source_);
  right->setSizes({350, 250});
  right->setChildrenCollapsible(false);
  splitter_->addWidget(right);
  splitter_->setSizes({430, 670});
  empty_ = make_empty_state("", this);
  stack_ = new QStackedWidget(this);
  stack_->addWidget(empty_);
  stack_->addWidget(splitter_);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(top);
  layout->addWidget(title_);
  layout->addWidget(stack_, 1);

  connect(&manager_, &Manager::snapshot_changed, this, &ProcedurePage::take_snapshot);
  connect(version_, &QComboBox::activated, this, &ProcedurePage::ask);
  connect(hides_cold_, &QCheckBox::toggled, this, &ProcedurePage::draw);
  connect(&scene_, &QGraphicsScene::selectionChanged, this, [this] {
    const QList<QGraphicsItem*> items = scene_.selectedItems();
    if (!items.isEmpty()) select(FlowGraphScene::block_of(items.front()), false, true);
  });
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& index) {
            if (!index.isValid()) return;
            select(listing_.block_at(index.row()), true, false);
            show_source();
          });
  connect(shows_source_, &QCheckBox::clicked, this, [this](bool on) {
    QSettings().setValue(kSourceSetting, on);
    allow_source({});
    show_source();
  });
  connect(source_, &SourceView::code_wanted, this, &ProcedurePage::find_code);
  allow_source("No procedure is shown");
  connect(table_, &QTableView::activated, this, &ProcedurePage::follow);
  ask();
}

void ProcedurePage::choose(const QString& application) {
  if (application == application_) return;
  application_ = application;
  visited_.clear();
  shows_hottest_ = true;
  looked_for_hottest_.clear();
  ask();
  take_snapshot();
}

void ProcedurePage::show_procedure(const std::string& image, const QString& name, uint64_t address,
                                   uint64_t block) {
  constexpr size_t kMostVisited = 100;
  shows_hottest_ = false;
  visited_.push_back({image, name, address, block});
  if (visited_.size() > kMostVisited) visited_.erase(visited_.begin());
  ask();
}

void ProcedurePage::ask() {
  back_->setEnabled(visited_.size() > 1);
  const int number = ++asked_;
  sources_.reset();
  if (visited_.empty()) {
    title_->clear();
    return show_nothing(
        "Here is the procedure that executed most, as soon as something was counted. A double "
        "click "
        "on the page <b>Time</b> shows another one.");
  }
  const Place& place = visited_.back();
  shown_ = stamp();
  title_->setText(verbatim(place.name + " …"));
  const ProcedureQuestion question{.application = application_.toStdString(),
                                   .image = place.image,
                                   .name = place.name.toStdString(),
                                   .address = place.address,
                                   .version = Version(version_->currentIndex())};
  manager_.ask<ProcedureAnswer>(
      this,
      [cache = cache_, question](Environment& environment) {
        return cache->ask(environment, question);
      },
      [this, number, question](const ProcedureAnswer& answer) {
        if (number != asked_) return;
        show(answer);
        ask_sources(question);
        if (question.version == Version::original) ask_changes(question);
      },
      [this, number, name = place.name](const QString& failure) {
        if (number != asked_) return;
        title_->setText(verbatim(name));
        show_nothing(verbatim(failure));
        shown_.clear();  // asked again at the next change, or when the page is shown
      });
}

void ProcedurePage::show_nothing(const QString& text) {
  listing_.set({}, false);
  source_->show_nothing("");
  allow_source("No procedure is shown");
  empty_->setText(text);
  stack_->setCurrentIndex(0);
}

void ProcedurePage::ask_hottest() {
  const ApplicationView* application = manager_.application(application_);
  if (application == nullptr) return;
  QString counts;
  for (const ImageView& view : application->images)
    counts += QString("%1 ").arg(view.profile.version);
  if (counts == looked_for_hottest_) return;
  looked_for_hottest_ = counts;
  using Hottest = std::optional<ProcedureRow>;
  manager_.ask<Hottest>(
      this,
      [name = application_.toStdString()](Environment& environment) {
        const TimeData times = read_times(environment, name, {});
        return times.rows.empty() || times.rows.front().instructions == 0
                   ? std::nullopt
                   : Hottest(times.rows.front());
      },
      [this, asked = application_](const Hottest& hottest) {
        if (asked != application_ || !shows_hottest_ || !hottest) return;
        visited_.clear();
        show_procedure(hottest->image_path, hottest->name, hottest->address, 0);
        shows_hottest_ = true;
      },
      [this](const QString&) { looked_for_hottest_.clear(); });  // tried again at the next change
}

void ProcedurePage::ask_changes(const ProcedureQuestion& question) {
  const ApplicationView* application = manager_.application(application_);
  const auto is_asked = [&](const ImageView& view) { return view.image.path == question.image; };
  if (application == nullptr) return;
  const auto view = std::ranges::find_if(application->images, is_asked);
  if (view == application->images.end() || !view->optimized) return;
  manager_.ask<ProcedureAnswer>(
      this,
      [cache = cache_, question](Environment& environment) {
        return cache->ask_changes(environment, question);
      },
      [this, number = asked_](const ProcedureAnswer& answer) {
        if (number == asked_ && !answer.view.taken_out.empty()) show(answer);
      },
      [](const QString&) {});  // an older Respike made the image: no message
}

void ProcedurePage::ask_sources(const ProcedureQuestion& question) {
  manager_.ask<CodeSources>(
      this,
      [cache = cache_, question](Environment& environment) {
        return cache->ask_sources(environment, question);
      },
      [this, number = asked_](const CodeSources& sources) {
        if (number == asked_) take_sources(sources);
      },
      [this, number = asked_](const QString& failure) {
        if (number == asked_) allow_source(failure);
      });
}

void ProcedurePage::take_sources(const CodeSources& sources) {
  sources_ = sources;
  listing_.set_sources(sources);
  scene_.add_places(sources);
  table_->setColumnHidden(ListingModel::source, sources.empty());
  allow_source(sources.empty() ? "There are no line tables of this procedure: compile with -g"
                               : QString());
  show_source();
}

/// `why_not`: why there is no source; empty: there is a source.
void ProcedurePage::allow_source(const QString& why_not) {
  shows_source_->setEnabled(why_not.isEmpty());
  shows_source_->setToolTip(why_not.isEmpty() ? kSourceTip : verbatim(why_not));
  source_->setVisible(why_not.isEmpty() && shows_source_->isChecked());
}

void ProcedurePage::show_source() {
  if (!sources_ || sources_->empty() || visited_.empty() || !shows_source_->isChecked()) return;
  const int row = table_->currentIndex().isValid() ? table_->currentIndex().row() : 0;
  const SourcePlace place = listing_.place_of(row);
  if (!place.known()) return source_->show_nothing("There is no source line of this code.");
  SourceView::Place shown{.application = application_,
                          .image = visited_.back().image,
                          .stamp = shown_,
                          .path = sources_->files[place.file],
                          .line = place.line,
                          .lines = {}};
  for (const SourcePlace& other : sources_->places[listing_.block_at(row)])
    if (other.known() && other.file == place.file) shown.lines.insert(other.line);
  source_->show_place(std::move(shown));
}

void ProcedurePage::find_code(const std::string& path, uint32_t line) {
  const int rows = listing_.rowCount(), now = table_->currentIndex().row();
  for (int i = 1; i <= rows; ++i) {
    const int row = (now + i) % rows;  // `now` is -1 when no row is chosen
    const SourcePlace place = listing_.place_of(row);
    if (listing_.line_at(row) == nullptr || place.line != line ||
        listing_.sources().files[place.file] != path)
      continue;
    table_->setCurrentIndex(listing_.index(row, 0));
    return table_->scrollTo(table_->currentIndex(), QAbstractItemView::PositionAtCenter);
  }
  QToolTip::showText(QCursor::pos(), "this procedure has no code of the line", source_);
}

QString ProcedurePage::stamp() const {
  const ApplicationView* application = manager_.application(application_);
  if (application == nullptr || visited_.empty()) return {};
  for (const ImageView& view : application->images)
    if (view.image.path == visited_.back().image)
      return QString("%1 %2 %3")
          .arg(view.build ? view.build->id : 0)
          .arg(view.profile.version)
          .arg(view.optimized ? view.optimized->id : 0);
  return {};
}

void ProcedurePage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  take_snapshot();
}

/// Grown counts are shown when the page is shown: lifting a large image takes a second.
void ProcedurePage::take_snapshot() {
  if (!isVisible()) return;
  if (shows_hottest_) ask_hottest();
  if (!visited_.empty() && stamp() != shown_) ask();
}

void ProcedurePage::show(const ProcedureAnswer& answer) {
  const bool same = listing_.rowCount() != 0 && listing_.view().address == answer.view.address &&
                    listing_.view().name == answer.view.name;
  const int row = same ? table_->verticalScrollBar()->value() : 0;
  const BlockId chosen = same && table_->currentIndex().isValid()
                             ? listing_.block_at(table_->currentIndex().row())
                             : kNone;
  const QTransform zoom = graph_->transform();
  const QPoint place(graph_->horizontalScrollBar()->value(), graph_->verticalScrollBar()->value());
  counted_ = answer.counted;
  listing_.set(answer.view, counted_);
  if (sources_) listing_.set_sources(*sources_);
  QString title = QString("<b>%1</b> at %2: %3 bytes, %4 blocks")
                      .arg(QString::fromStdString(answer.view.name).toHtmlEscaped())
                      .arg(answer.view.address, 0, 16)
                      .arg(answer.view.size)
                      .arg(answer.view.blocks.size());
  if (!answer.view.left_alone.empty())
    title += ", left alone: " + QString::fromStdString(answer.view.left_alone).toHtmlEscaped();
  if (!answer.view.taken_out.empty())
    title += "<br>Hot-cold optimization took out of the hot part: " +
             QString::fromStdString(answer.view.taken_out).toHtmlEscaped() + ".";
  title_->setText(title);
  stack_->setCurrentIndex(1);
  draw();
  if (visited_.back().block != 0) return choose_block();
  if (!same) return;
  select(chosen, true, true);
  table_->verticalScrollBar()->setValue(row);
  graph_->setTransform(zoom);
  graph_->horizontalScrollBar()->setValue(place.x());
  graph_->verticalScrollBar()->setValue(place.y());
}

void ProcedurePage::draw() {
  if (listing_.rowCount() == 0) return;
  selecting_ = true;
  scene_.set(listing_.view(), counted_,
             {.hides_cold = hides_cold_->isChecked(), .dark = is_dark(this)});
  if (sources_) scene_.add_places(*sources_);
  graph_->setSceneRect(scene_.sceneRect());
  selecting_ = false;
  graph_->show_start(scene_.box(0));
}

void ProcedurePage::choose_block() {
  const uint64_t address = std::exchange(visited_.back().block, 0);
  const auto& blocks = listing_.view().blocks;
  const auto found = std::ranges::find(blocks, address, &CodeBlock::address);
  if (found != blocks.end() && version_->currentIndex() == 0)
    select(BlockId(found - blocks.begin()), true, true);
}

void ProcedurePage::select(BlockId block, bool in_graph, bool in_listing) {
  if (selecting_ || block == kNone) return;
  selecting_ = true;
  if (in_graph) {
    scene_.clearSelection();
    if (QGraphicsItem* box = scene_.box(block)) {
      box->setSelected(true);
      graph_->ensureVisible(box);
    }
  }
  if (in_listing) {
    const QModelIndex row = listing_.index(listing_.row_of(block), 0);
    table_->setCurrentIndex(row);
    table_->scrollTo(row, QAbstractItemView::PositionAtCenter);
    show_source();
  }
  selecting_ = false;
}

/// Goes to the block to which the line refers: here, or in another procedure.
void ProcedurePage::follow(const QModelIndex& index) {
  const CodeLine* line = listing_.line_at(index.row());
  if (visited_.empty() || line == nullptr || !line->place) return;
  if (line->place->block != kNone) return select(line->place->block, true, true);
  const QString name = QString::fromStdString(line->target).section(':', 0, 0);
  show_procedure(visited_.back().image, name, line->place->procedure);
}

void ProcedurePage::find_next() {
  const int rows = listing_.rowCount(), now = table_->currentIndex().row();
  const auto holds = [&](int row) {
    for (int column = ListingModel::address; column <= ListingModel::source; ++column)
      if (listing_.index(row, column)
              .data()
              .toString()
              .contains(find_->text(), Qt::CaseInsensitive))
        return true;
    return false;
  };
  for (int i = 1; i <= rows; ++i) {
    const int row = (now + i) % rows;  // `now` is -1 when no row is chosen
    if (!holds(row)) continue;
    table_->setCurrentIndex(listing_.index(row, 0));
    return table_->scrollTo(table_->currentIndex(), QAbstractItemView::PositionAtCenter);
  }
  QToolTip::showText(find_->mapToGlobal(QPoint(0, find_->height())),
                     "no line of the listing holds this text", find_);
}

void ProcedurePage::save() {
  if (listing_.rowCount() == 0) return;
  const QString name = QString::fromStdString(listing_.view().name);
  const QString path = QFileDialog::getSaveFileName(this, "Save the flow graph", name + ".svg",
                                                    "SVG (*.svg);;PNG (*.png)");
  if (path.isEmpty()) return;
  const QString failure = save_picture(scene_, path, "Flow graph of " + name);
  if (!failure.isEmpty()) QMessageBox::warning(this, "Save the flow graph", verbatim(failure));
}

}  // namespace respike::gui

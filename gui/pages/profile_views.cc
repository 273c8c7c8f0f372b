#include "gui/pages/profile_views.h"

#include <QSplitter>
#include <QVBoxLayout>

#include "gui/pages/controls.h"
#include "optimizer/base/number_text.h"

namespace respike::gui {

ProfilePart::ProfilePart(QWidget* parent) : QWidget(parent) {
  summary_ = new QLabel(this);
  summary_->setWordWrap(true);
  summary_->setTextFormat(Qt::PlainText);
  summary_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  empty_ = make_empty_state("", this);
  stack_ = new QStackedWidget(this);
  stack_->addWidget(empty_);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(summary_);
  layout->addWidget(stack_, 1);
}

void ProfilePart::show_nothing(const QString& text) {
  empty_->setText(text);
  stack_->setCurrentIndex(0);
  summary_->hide();
}

void ProfilePart::show_content(const QString& summary) {
  summary_->setText(summary);
  summary_->show();
  stack_->setCurrentIndex(1);
}

// ---- WhatRanView ----

WhatRanView::WhatRanView(QWidget* parent) : ProfilePart(parent) {
  constexpr int kName = 7;
  procedures_ = new TableBox("Procedures of the profile", kProfileProcedureTitles,
                             "Find a procedure of the profile", kName, this);
  blocks_ = new TableBox("Blocks of the procedure", kProfileBlockTitles, {}, -1, this);
  ways_ = new TableBox("Edges and calls of the procedure", kProfileWayTitles, {}, -1, this);
  auto* below = new QSplitter(this);
  below->addWidget(blocks_);
  below->addWidget(ways_);
  below->setSizes({500, 500});
  auto* splitter = new QSplitter(Qt::Vertical, this);
  splitter->addWidget(procedures_);
  splitter->addWidget(below);
  splitter->setSizes({300, 200});
  set_content(splitter);
  connect(procedures_, &TableBox::chosen_changed, this, &WhatRanView::show_procedure);
}

void WhatRanView::show(const ProfileContent& content) {
  content_ = content;
  procedures_->set(content_.rows);
  if (content_.figures.entered == 0)
    return show_nothing(
        "Nothing ran in this profile. Of a build it says so until a run is counted: "
        "<b>instrument</b> the application, and <b>run</b> it.");
  procedures_->choose_first();
  show_procedure();
  show_content(summary_of(content_));
}

void WhatRanView::show_procedure() {
  const int row = procedures_->chosen();
  if (row < 0) return;
  const ProcedureProfile& procedure = *content_.procedures[size_t(row)];
  blocks_->set(block_cells(procedure, content_.names));
  ways_->set(way_cells(procedure, content_.names));
}

// ---- SideBySideView ----

SideBySideView::SideBySideView(QWidget* parent) : ProfilePart(parent) {
  constexpr int kName = 8;
  differences_ =
      new TableBox("Differences", kDifferenceTitles, "Find a procedure of A or B", kName, this);
  set_content(differences_);
}

void SideBySideView::show(const QString& a, const QString& b,
                          std::shared_ptr<const CellRows> rows) {
  if (rows->empty()) return show_nothing("Nothing ran in either of the two profiles.");
  differences_->set(std::move(rows));
  show_content(
      QString("A: %1. B: %2. Procedures are paired as when a profile is carried over; "
              "what changed most comes first. What was carried over from older builds is left out.")
          .arg(a, b));
}

// ---- FoundAgainView ----

FoundAgainView::FoundAgainView(QWidget* parent) : ProfilePart(parent) {
  constexpr int kName = 7;
  losses_ = new TableBox("Losses", kLossTitles, "Find a procedure of the older build", kName, this);
  set_content(losses_);
}

void FoundAgainView::show(const LossAnswer& answer) {
  if (answer.summary.isEmpty())
    return show_nothing(
        "No older build was counted, so that nothing was carried over to this build. "
        "<b>Match…</b> says what of the profile fits another image.");
  losses_->set(answer.rows);
  show_content(answer.summary);
}

}  // namespace respike::gui

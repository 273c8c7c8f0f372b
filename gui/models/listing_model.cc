// Example: a procedure whose block 0 has two instructions and whose block 1 has one has the rows
// "block 0", instruction, instruction, "block 1", instruction.

#include "gui/models/listing_model.h"

#include <algorithm>

#include "optimizer/base/number_text.h"
#include "views/layout_view.h"

namespace respike::gui {
namespace {

QString edges_of(const CodeBlock& block, bool counted) {
  QStringList ways;
  for (const CodeEdge& edge : block.edges) {
    const char* kind = edge.kind == Edge::Kind::taken         ? "taken "
                       : edge.kind == Edge::Kind::indirect    ? "jump "
                       : edge.kind == Edge::Kind::landing_pad ? "exception "
                                                              : "";
    ways << kind + QString::number(edge.to) + (counted ? ": " + number(edge.count) : QString());
  }
  return ways.isEmpty() ? QString() : "goes on to " + ways.join(", ");
}

/// "block 3, hot part, runs block 3 of the original".
QString block_title(const CodeBlock& block, BlockId id) {
  QString text = QString("block %1").arg(id);
  if (block.part) text += ", " + QString::fromUtf8(name_of(*block.part).data());
  if (block.originals.empty()) return text;
  QStringList numbers;
  for (const BlockId original : block.originals) numbers << QString::number(original);
  return text + ", was " + numbers.join(", ");
}

}  // namespace

constexpr TableModel::Title kListingModelTitles[] = {
    {"Count", "How often the block ran, in all runs"},
    {"Address", "Address in the image's file"},
    {"Code", "Instructions as objdump prints them"},
    {"Leads or refers to", "Where control goes on, with counts; what an instruction refers to"},
    {"Source",
     "The source line of an instruction, and the lines of a block, by the image's debug "
     "information"}};

ListingModel::ListingModel(QObject* parent) : TableModel(kListingModelTitles, parent) {}

void ListingModel::set(CodeView view, bool counted) {
  beginResetModel();
  view_ = std::move(view);
  sources_ = {};
  counted_ = counted;
  hottest_ = 0;
  starts_.clear();
  rows_ = 0;
  for (const CodeBlock& block : view_.blocks) {
    starts_.push_back(rows_);
    rows_ += 1 + int(block.lines.size());
    hottest_ = std::max(hottest_, block.count);
  }
  endResetModel();
}

void ListingModel::set_sources(CodeSources sources) {
  sources_ = std::move(sources);
  if (rows_ != 0) Q_EMIT dataChanged(index(0, source), index(rows_ - 1, source));
}

SourcePlace ListingModel::place_of(int row) const {
  const BlockId block = block_at(row);
  if (block == kNone) return {};
  return row == starts_[block] ? sources_.of(block)
                               : sources_.of(block, size_t(row - starts_[block] - 1));
}

BlockId ListingModel::block_at(int row) const {
  const auto behind = std::ranges::upper_bound(starts_, row);
  return behind == starts_.begin() ? kNone : BlockId(behind - starts_.begin() - 1);
}

const CodeLine* ListingModel::line_at(int row) const {
  const BlockId block = block_at(row);
  if (block == kNone || row == starts_[block]) return nullptr;
  return &view_.blocks[block].lines[size_t(row - starts_[block] - 1)];
}

QVariant ListingModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const BlockId id = block_at(index.row());
  const CodeBlock& block = view_.blocks[id];
  if (role == block_role) return id;
  if (role == heat_role) return hottest_ == 0 ? 0.0 : double(block.count) / double(hottest_);
  if (role == Qt::TextAlignmentRole)
    return int(Qt::AlignVCenter | (index.column() <= address ? Qt::AlignRight : Qt::AlignLeft));
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole && role != taken_out_role) return {};
  const int line = index.row() - starts_[id] - 1;
  if (index.column() == source) {
    if (role == taken_out_role) return false;
    const SourcePlace place = place_of(index.row());
    if (role == Qt::ToolTipRole)
      return place.known() ? QString("%1:%2")
                                 .arg(QString::fromStdString(sources_.files[place.file]))
                                 .arg(place.line)
                           : QString();
    return QString::fromStdString(line < 0 ? lines_text(sources_, id)
                                           : place_text(sources_, place));
  }
  if (line < 0) {
    if (role == taken_out_role) return false;
    switch (index.column()) {
      case count:
        return counted_ ? number(block.count) : QString();
      case address:
        return QString::number(block.address, 16);
      case text:
        return block_title(block, id);
      case target:
        return edges_of(block, counted_);
      default:
        return {};
    }
  }
  const CodeLine& shown = block.lines[size_t(line)];
  if (role == taken_out_role) return !shown.taken_out.empty();
  switch (index.column()) {
    case address:
      return shown.address == CodeLine::kAdded ? "added" : QString::number(shown.address, 16);
    case text:
      return "    " + QString::fromStdString(shown.text);
    case target:
      return QString::fromStdString(shown.taken_out.empty() ? shown.target
                                                            : "taken out: " + shown.taken_out);
    default:
      return {};
  }
}

}  // namespace respike::gui

// Example: a block with code of line 7 of main.c ran 1,000 times; the line has the row 1,000,
// 4.20%, 7 and its text. Lines without code have no count.

#include "gui/models/source_model.h"

#include <algorithm>

#include "optimizer/base/number_text.h"

namespace respike::gui {
namespace {

constexpr size_t kLongestLine = 2000;  // bytes; longer lines are cut

/// Shows characters that cannot be printed in a line, such as a form feed, as blanks.
QString printable(const std::string& line) {
  QString text = QString::fromStdString(line.substr(0, kLongestLine));
  for (QChar& c : text)
    if (!c.isPrint() && !c.isSurrogate()) c = ' ';
  return line.size() > kLongestLine ? text + " …" : text;
}

}  // namespace

constexpr TableModel::Title kSourceModelTitles[] = {
    {"Count", "How often the block ran that ran most often, of those with code of the line"},
    {"Share", "Share of all executed instructions of the image that are of the line"},
    {"Line", "Number of the line"},
    {"Source", "The line; those with code of the chosen block are marked"}};

SourceModel::SourceModel(QObject* parent) : TableModel(kSourceModelTitles, parent) {}

void SourceModel::set(const SourceAnswer& answer) {
  beginResetModel();
  answer_ = answer;
  lines_.clear();
  chosen_.clear();
  hottest_ = 0;
  for (const auto& [number, counts] : answer_.counts)
    if (number != 0) hottest_ = std::max(hottest_, counts.instructions);
  if (answer_.text)
    for (uint32_t i = 1; i <= answer_.text->size(); ++i) lines_.push_back(i);
  else
    lines_ = answer_.coded;
  endResetModel();
}

void SourceModel::choose(std::set<uint32_t> lines) {
  if (lines == chosen_) return;
  chosen_ = std::move(lines);
  if (!lines_.empty())
    Q_EMIT dataChanged(index(0, 0), index(int(lines_.size()) - 1, text), {chosen_role});
}

int SourceModel::row_of(uint32_t number) const {
  const auto found = std::ranges::lower_bound(lines_, number);
  return found != lines_.end() && *found == number ? int(found - lines_.begin()) : -1;
}

QVariant SourceModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const uint32_t number = lines_[size_t(index.row())];
  const auto found = answer_.counts.find(number);
  const SourceLine* counts =
      found == answer_.counts.end() || !answer_.counted ? nullptr : &found->second;
  switch (role) {
    case heat_role:
      return counts == nullptr || hottest_ == 0 ? 0.0
                                                : double(counts->instructions) / double(hottest_);
    case chosen_role:
      return chosen_.contains(number);
    case Qt::TextAlignmentRole:
      return int(Qt::AlignVCenter | (index.column() == text ? Qt::AlignLeft : Qt::AlignRight));
    case Qt::ToolTipRole:  // a line may be cut
      if (index.column() != text) return {};
      break;
    case Qt::DisplayRole:
      break;
    default:
      return {};
  }
  switch (index.column()) {
    case count:
      return counts == nullptr ? QString() : gui::number(counts->count);
    case share:
      if (counts == nullptr || answer_.instructions == 0) return {};
      return QString::fromStdString(
          percent(double(counts->instructions), double(answer_.instructions)));
    case line:
      return QString::number(number);
    case text:
      return answer_.text ? printable((*answer_.text)[number - 1]) : QString();
    default:
      return {};
  }
}

}  // namespace respike::gui

// Example: qsort was called 3 times, by main: its callers are the row 3, 100.00%, 1, main.

#include "gui/models/calls_model.h"

#include <algorithm>

#include "optimizer/base/number_text.h"

namespace respike::gui {

constexpr TableModel::Title kCallerTitles[] = {
    {"Calls", "How often the caller called this procedure, or jumped to it"},
    {"Share", "Share of the entries of this procedure"},
    {"Places", "How many places of the caller call this procedure"},
    {"Caller", "A double click, or Enter, goes there"}};
constexpr TableModel::Title kCalleeTitles[] = {
    {"Calls", "How often this procedure called the callee, or jumped to it"},
    {"Share", "Share of the calls of this procedure"},
    {"Places", "How many places of this procedure call the callee"},
    {"Callee", "A double click, or Enter, goes there"}};

CallsModel::CallsModel(Direction direction, QObject* parent)
    : TableModel(direction == Direction::callers ? std::span<const Title>(kCallerTitles)
                                                 : std::span<const Title>(kCalleeTitles),
                 parent),
      direction_(direction) {}

void CallsModel::clear() {
  beginResetModel();
  rows_.clear();
  endResetModel();
}

void CallsModel::set(const std::vector<ProcedureRow>& rows, const std::vector<CallCount>& calls,
                     uint32_t of) {
  beginResetModel();
  rows_.clear();
  double all = 0;
  for (const CallCount& call : calls) {
    if ((direction_ == Direction::callers ? call.callee : call.caller) != of) continue;
    Row row{.call = call,
            .other = direction_ == Direction::callers ? call.caller : call.callee,
            .name = {}};
    if (row.other != kNone)
      row.name = rows[row.other].name;
    else
      row.name = direction_ == Direction::callers ? "another image, a pointer, or the system"
                                                  : "another image, or through a pointer";
    if (!call.at_most) all += double(call.count);
    rows_.push_back(std::move(row));
  }
  for (Row& row : rows_) row.share = all == 0 ? 0 : double(row.call.count) / all;
  // Certain counts come first.
  std::ranges::stable_sort(rows_, [](const Row& a, const Row& b) {
    return a.call.at_most != b.call.at_most ? b.call.at_most : a.call.count > b.call.count;
  });
  endResetModel();
}

QVariant CallsModel::text(const Row& row, int column) const {
  const QString number = QString::fromStdString(grouped(row.call.count));
  switch (column) {
    case count:
      return row.call.at_most ? "at most " + number : number;
    case share:
      return row.call.at_most ? QVariant() : QString::fromStdString(percent(row.share, 1));
    case places:
      return row.call.places == 0 ? QVariant() : QVariant(row.call.places);
    case name:
      return row.call.at_most ? row.name + " (a pointer)" : row.name;
    default:
      return {};
  }
}

QVariant CallsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Row& row = rows_[size_t(index.row())];
  switch (role) {
    case row_role:
      return row.other == kNone ? -1 : int(row.other);
    case Qt::TextAlignmentRole:
      return int(Qt::AlignVCenter | (index.column() < name ? Qt::AlignRight : Qt::AlignLeft));
    case Qt::ToolTipRole:
      return row.call.at_most
                 ? QVariant(
                       "Called through a pointer that had several targets: the number says how "
                       "often the pointer was called, whatever the target.")
                 : QVariant();
    case Qt::DisplayRole:
      return text(row, index.column());
    default:
      return {};
  }
}

}  // namespace respike::gui

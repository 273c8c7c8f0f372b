// Example: the loop of memcpy that was entered 300 times, and turned 12 times each time, has the
// row 4.20%, 108,000 instructions, 300 entries, 12.0.

#include "gui/models/loop_model.h"

#include <algorithm>

#include "optimizer/base/number_text.h"
#include "views/code_sources.h"

namespace respike::gui {
namespace {

/// The value by which a column is sorted.
QVariant value_of(const LoopRow& row, int column) {
  switch (column) {
    case LoopModel::share:
    case LoopModel::instructions:
      return qulonglong(row.loop.executed);
    case LoopModel::entries:
      return qulonglong(row.loop.entries);
    case LoopModel::trip_count:
      return row.loop.trip_count();
    case LoopModel::depth:
      return row.loop.depth;
    case LoopModel::blocks:
      return row.loop.blocks;
    case LoopModel::procedure:
      return row.procedure;
    case LoopModel::address:
      return qulonglong(row.loop.address);
    case LoopModel::source:
      return row.source;
    case LoopModel::image:
      return row.image;
    default:
      return {};
  }
}

QVariant text_of(const LoopRow& row, int column) {
  switch (column) {
    case LoopModel::share:
      return QString::fromStdString(percent(row.share, 1));
    case LoopModel::instructions:
      return number(row.loop.executed);
    case LoopModel::entries:
      return number(row.loop.entries);
    case LoopModel::trip_count: {
      const double trips = row.loop.trip_count();
      return trips < 1000 ? QString::number(trips, 'f', 1) : number(uint64_t(trips));
    }
    case LoopModel::address:
      return QString::number(row.loop.address, 16);
    default:
      return value_of(row, column);
  }
}

}  // namespace

std::vector<LoopRow> read_loops(Environment& environment, CodeCache& cache,
                                const std::string& application,
                                const std::vector<std::string>& images) {
  std::vector<LoopRow> rows;
  double executed = 0;
  for (const ImageView& view : environment.show(application).images) {
    if (!is_counted(view, images)) continue;
    HotLoops found = find_hot_loops(cache.counted(environment, application, view.image.path));
    executed += double(found.executed);
    const SourceLines& lines = cache.lines(environment, application, view.image.path);
    const auto file = std::filesystem::path(view.image.path).filename().string();
    for (HotLoop& loop : found.loops) {
      LoopRow& row = rows.emplace_back();
      row.procedure = QString::fromStdString(loop.procedure);
      row.image = QString::fromStdString(file);
      row.image_path = view.image.path;
      row.source = QString::fromStdString(place_text(lines, loop.address));
      row.loop = std::move(loop);
    }
  }
  for (LoopRow& row : rows) row.share = executed == 0 ? 0 : double(row.loop.executed) / executed;
  return rows;
}

constexpr TableModel::Title kLoopModelTitles[] = {
    {"Share",
     "Share of all executed instructions that were executed in the loop, with inner loops"},
    {"Instructions", "Instructions executed in the loop, with inner loops"},
    {"Entries", "How often control came into the loop"},
    {"Trip count", "How often the loop turned for each entry, on average"},
    {"Depth", "1: not inside of another loop"},
    {"Blocks", "Basic blocks of the loop that ran, with inner loops"},
    {"Procedure", "The procedure that holds the loop"},
    {"Address", "Of the block that all ways into the loop lead to, in the original image"},
    {"Source", "The source line of that block, by the image's debug information, if it has some"},
    {"Image", "The image that holds the loop"}};

LoopModel::LoopModel(QObject* parent) : TableModel(kLoopModelTitles, parent) {}

void LoopModel::set(std::vector<LoopRow> rows) {
  beginResetModel();
  rows_ = std::move(rows);
  endResetModel();
}

QVariant LoopModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const LoopRow& row = rows_[size_t(index.row())];
  const int column = index.column();
  switch (role) {
    case Qt::TextAlignmentRole:
      return int(Qt::AlignVCenter |
                 (column == procedure || column == source || column == image ? Qt::AlignLeft
                                                                             : Qt::AlignRight));
    case Qt::DisplayRole:
      return text_of(row, column);
    case sort_role:
      return value_of(row, column);
    default:
      return {};
  }
}

}  // namespace respike::gui

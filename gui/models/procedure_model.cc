// Example: a profile in which `main` executed 300 of 1,000 instructions has the row 30.00%, 300.

#include "gui/models/procedure_model.h"

#include <QRegularExpression>

#include <algorithm>
#include <functional>
#include <numeric>

#include "optimizer/base/number_text.h"

namespace respike::gui {
namespace {

/// Adds the procedures of an image, and its calls.
void add_image(const Profile& profile, const ImageRow& image, TimeData& data) {
  for (CallCount call : count_calls(profile)) {
    for (uint32_t* procedure : {&call.caller, &call.callee})
      if (*procedure != kNone) *procedure += uint32_t(data.rows.size());
    data.calls.push_back(call);
  }
  const QString file =
      QString::fromStdString(std::filesystem::path(image.path).filename().string());
  for (const ProcedureProfile& procedure : profile.procedures) {
    ProcedureRow row;
    row.name = QString::fromStdString(procedure.name);
    row.image = file;
    row.image_path = image.path;
    row.address = procedure.address;
    row.instructions = procedure.instructions();
    row.entries = procedure.entries();
    row.blocks = uint32_t(procedure.blocks.size());
    for (const auto& block : procedure.blocks) {
      row.size += block.size;
      row.executed_blocks += block.count != 0;
    }
    row.exact = procedure.exact;
    data.rows.push_back(std::move(row));
  }
}

void sort_by_instructions(TimeData& data) {
  std::vector<uint32_t> order(data.rows.size()), place(data.rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(),
                           [&](uint32_t row) { return data.rows[row].instructions; });
  std::vector<ProcedureRow> rows;
  for (const uint32_t row : order) {
    place[row] = uint32_t(rows.size());
    rows.push_back(std::move(data.rows[row]));
  }
  data.rows = std::move(rows);
  for (CallCount& call : data.calls)
    for (uint32_t* procedure : {&call.caller, &call.callee})
      if (*procedure != kNone) *procedure = place[*procedure];
}

}  // namespace

TimeData read_times(Environment& environment, const std::string& application,
                    const std::vector<std::string>& images) {
  TimeData data;
  for (const ImageView& view : environment.show(application).images)
    if (view.build &&
        (images.empty() || std::ranges::find(images, view.image.path) != images.end()))
      add_image(environment.database().profile(view.build->id), view.image, data);
  double all = 0;
  for (const ProcedureRow& row : data.rows) all += double(row.instructions);
  for (ProcedureRow& row : data.rows) row.share = all == 0 ? 0 : double(row.instructions) / all;
  sort_by_instructions(data);
  return data;
}

// ---- ProcedureModel ----

constexpr TableModel::Title kProcedureModelTitles[] = {
    {"Share", "Share of all executed instructions in this table"},
    {"Instructions", "Instructions that the procedure itself executed"},
    {"Entries", "How often control came in other than by a call's return"},
    {"Per entry", "Executed instructions for each entry"},
    {"Blocks run", "Basic blocks that ran at least once, of all"},
    {"Bytes",
     "Sum of the sizes of its basic blocks in the original image, in bytes; the page Procedure "
     "says how far the procedure reaches, with what lies between"},
    {"Procedure", "Name, by the symbol table"},
    {"Image", "The image that holds the procedure"}};

ProcedureModel::ProcedureModel(QObject* parent) : TableModel(kProcedureModelTitles, parent) {}

void ProcedureModel::set(std::vector<ProcedureRow> rows) {
  beginResetModel();
  rows_ = std::move(rows);
  endResetModel();
}

QVariant ProcedureModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const ProcedureRow& row = rows_[size_t(index.row())];
  const double per_entry_value =
      row.entries == 0 ? 0 : double(row.instructions) / double(row.entries);
  switch (role) {
    case image_path_role:
      return QString::fromStdString(row.image_path);
    case address_role:
      return qulonglong(row.address);
    case Qt::TextAlignmentRole:
      return int(Qt::AlignVCenter | (index.column() < name ? Qt::AlignRight : Qt::AlignLeft));
    case Qt::ToolTipRole:
      return QString("%1 at %2 in %3%4")
          .arg(row.name, QString::number(row.address, 16), QString::fromStdString(row.image_path),
               row.exact ? ""
                         : "\nNot exact: a call did not return, and it is not known which one.");
    case sort_role:
      switch (index.column()) {
        case share:
        case instructions:
          return qulonglong(row.instructions);
        case entries:
          return qulonglong(row.entries);
        case per_entry:
          return per_entry_value;
        case blocks:
          return row.blocks;
        case size:
          return qulonglong(row.size);
        default:
          return data(index, Qt::DisplayRole);
      }
    case Qt::DisplayRole:
      switch (index.column()) {
        case share:
          return QString::fromStdString(percent(row.share, 1));
        case instructions:
          return number(row.instructions);
        case entries:
          return number(row.entries);
        case per_entry:
          if (row.entries == 0) return {};
          return per_entry_value < 1000 ? QString::number(per_entry_value, 'f', 1)
                                        : number(uint64_t(per_entry_value));
        case blocks:
          return QString("%1 of %2").arg(row.executed_blocks).arg(row.blocks);
        case size:
          return number(row.size);
        case name:
          return row.exact ? row.name : row.name + " (not exact)";
        case image:
          return row.image;
        default:
          return {};
      }
    default:
      return {};
  }
}

// ---- ProcedureFilter ----

ProcedureFilter::ProcedureFilter(QObject* parent) : QSortFilterProxyModel(parent) {
  setSortRole(ProcedureModel::sort_role);
  setSortCaseSensitivity(Qt::CaseInsensitive);
}

void ProcedureFilter::set_text(const QString& text) {
  text_ = text;
  invalidateFilter();
}

void ProcedureFilter::set_only_executed(bool only) {
  only_executed_ = only;
  invalidateFilter();
}

bool ProcedureFilter::filterAcceptsRow(int row, const QModelIndex&) const {
  const auto& rows = static_cast<const ProcedureModel*>(sourceModel())->rows();
  const ProcedureRow& procedure = rows[size_t(row)];
  if (only_executed_ && procedure.instructions == 0) return false;
  return text_.isEmpty() || procedure.name.contains(text_, Qt::CaseInsensitive);
}

/// Children in a tree follow their parent row.
QString csv_of(const QAbstractItemModel& model) {
  QString csv;
  const auto add_line = [&](auto cell) {
    for (int column = 0; column < model.columnCount(); ++column) {
      QString text = cell(column);
      if (text.contains(QRegularExpression("[\",\r\n]")))
        text = '"' + text.replace("\"", "\"\"") + '"';
      csv += (column == 0 ? "" : ",") + text;
    }
    csv += "\r\n";
  };
  const std::function<void(const QModelIndex&)> add_rows = [&](const QModelIndex& parent) {
    for (int row = 0; row < model.rowCount(parent); ++row) {
      add_line([&](int column) { return model.index(row, column, parent).data().toString(); });
      add_rows(model.index(row, 0, parent));
    }
  };
  add_line([&](int column) { return model.headerData(column, Qt::Horizontal).toString(); });
  add_rows({});
  return csv;
}

}  // namespace respike::gui

// Example: a program that executes 69% of its instructions in procedures whose loops turn less than
// twice has the row "loops turn less than", 2, 69.00%.

#include "gui/models/character_model.h"

#include "optimizer/base/number_text.h"

namespace respike::gui {

Characteristics read_characteristics(Environment& environment, CodeCache& cache,
                                     const std::string& application,
                                     const std::vector<std::string>& images) {
  Characteristics sum;
  for (const ImageView& view : environment.show(application).images)
    if (is_counted(view, images))
      sum.add(characterize(cache.counted(environment, application, view.image.path)));
  return sum;
}

constexpr TableModel::Title kCharacterModelTitles[] = {
    {"Of procedures", "Which procedures, or which instructions"},
    {"Bound", "Times a loop turns, or basic blocks"},
    {"Share", "Share of the executed instructions"}};

CharacterModel::CharacterModel(QObject* parent) : TableModel(kCharacterModelTitles, parent) {}

void CharacterModel::set(const Characteristics& program) {
  beginResetModel();
  rows_.clear();
  const auto add = [&](const QString& name, const Distribution& shares) {
    for (size_t i = 0; i < kBounds.size(); ++i) rows_.push_back({name, kBounds[i], shares[i]});
  };
  if (program.executed != 0) {
    add("loops turn less than", by_trip_count(program));
    add("nonlooping, blocks at most", by_blocks(program, false));
    add("nonlooping, hot blocks at most", by_blocks(program, true));
    const CallOverhead overhead = call_overhead(program);
    rows_.push_back({"nonlooping: loops turn less than 4 times", 0, nonlooping_share(program)});
    rows_.push_back({"the entry block runs most", 0, entry_hottest_share(program)});
    if (program.knows_frames) {
      rows_.push_back({"stack adjustments", 0, overhead.adjustments});
      rows_.push_back({"saves of registers", 0, overhead.saves});
      rows_.push_back({"restores of registers", 0, overhead.restores});
    }
  }
  endResetModel();
}

QVariant CharacterModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Row& row = rows_[size_t(index.row())];
  if (role == Qt::TextAlignmentRole)
    return int(Qt::AlignVCenter | (index.column() == measure ? Qt::AlignLeft : Qt::AlignRight));
  if (role != Qt::DisplayRole) return {};
  switch (index.column()) {
    case measure:
      return row.measure;
    case bound:
      return row.bound == 0 ? QVariant() : QVariant(row.bound);
    case share:
      return QString::fromStdString(percent(row.share, 1));
    default:
      return {};
  }
}

}  // namespace respike::gui

// Example: 321 M cycles before and 232 M after are the row "cycles", 321,…, 232,…, "-27.73%".

#include "gui/models/gain_model.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "optimizer/base/error.h"
#include "optimizer/base/number_text.h"

namespace respike::gui {

StopFile::StopFile() : number_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (number_ < 0) throw Error(std::strerror(errno));
}

StopFile::~StopFile() {
  close(number_);
}

void StopFile::stop() {
  const uint64_t one = 1;
  static_cast<void>(!write(number_, &one, sizeof one));
}

Action compare_action(const GainRequest& request, std::shared_ptr<simulator::Comparison> result,
                      std::shared_ptr<StopFile> stop) {
  Action action{.title = "Compare " + request.application, .command = {}, .work = {}};
  action.work = [request, result, stop](Environment& environment) {
    const ApplicationView application = environment.show(request.application.toStdString());
    const ImageView* main = application.images.empty() ? nullptr : &application.images.front();
    if (main == nullptr || !main->optimized)
      throw Error("its program has not been optimized", application.name);
    const auto optimized = environment.database().store().path(main->optimized->content);
    const std::string input = request.input.isEmpty() ? "/dev/null" : request.input.toStdString();
    const int file = open(input.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw Error(std::strerror(errno), input);
    const auto close_file =
        std::unique_ptr<const int, void (*)(const int*)>(&file, [](const int* f) { close(*f); });
    simulator::Workload workload;
    workload.folder = request.folder.toStdString();
    workload.input = file;
    workload.stop = stop->number();
    for (const QString& argument : request.arguments)
      workload.arguments.push_back(argument.toStdString());
    if (environment.progress) environment.progress(main->image.path, "run both versions", 0.0);
    *result = simulator::compare(simulator::model_for(main->image.path), main->image.path,
                                 optimized, workload);
    const double speedup =
        double(result->before.cycles) / double(std::max<uint64_t>(1, result->after.cycles));
    QStringList said = {QString("%1 times as fast on a model of the %2")
                            .arg(speedup, 0, 'f', 3)
                            .arg(QString::fromStdString(result->before.model))};
    if (!result->difference.empty())
      throw Error("the optimized program does not behave like the original: " + result->difference,
                  main->image.path);
    return said;
  };
  return action;
}

constexpr TableModel::Title kGainModelTitles[] = {
    {"Figure", "What is counted on the model of the processor"},
    {"Original", "The original program"},
    {"Optimized", "The optimized program"},
    {"Change", "From the original to the optimized program"}};

GainModel::GainModel(QObject* parent) : TableModel(kGainModelTitles, parent) {}

void GainModel::set(const simulator::Comparison& comparison) {
  beginResetModel();
  rows_.clear();
  const auto& [first, second, difference] = comparison;
  for (size_t i = 0; i < first.figures.size() && i < second.figures.size(); ++i)
    rows_.push_back(
        {QString::fromUtf8(first.figures[i].label.data(), qsizetype(first.figures[i].label.size())),
         first.figures[i].number, second.figures[i].number});
  for (size_t i = 0; i < first.components.size() && i < second.components.size(); ++i)
    rows_.push_back({"cycles: " + QString::fromUtf8(first.components[i].name.data(),
                                                    qsizetype(first.components[i].name.size())),
                     first.components[i].cycles, second.components[i].cycles});
  endResetModel();
}

QVariant GainModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  if (role == Qt::TextAlignmentRole)
    return int(Qt::AlignVCenter | (index.column() == name ? Qt::AlignLeft : Qt::AlignRight));
  if (role != Qt::DisplayRole) return {};
  const Row& row = rows_[size_t(index.row())];
  switch (index.column()) {
    case name:
      return row.name;
    case before:
      return QString::fromStdString(grouped(row.before));
    case after:
      return QString::fromStdString(grouped(row.after));
    case change:
      if (row.before == 0) return row.after == 0 ? "" : "new";
      return QString::asprintf("%+.2f%%", 100 * (double(row.after) / double(row.before) - 1));
    default:
      return {};
  }
}

}  // namespace respike::gui

// Example: 321 M cycles before and 232 M after are the row "cycles", 321,…, 232,…, "-27.73%".

#include "gui/models/gain_model.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <QDateTime>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "optimizer/base/error.h"
#include "optimizer/base/number_text.h"
#include "simulator/run.h"

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

namespace {

/// The workload as a line of a shell.
QString workload_of(const GainRequest& request) {
  QString line = shell_line(request.arguments);
  if (!request.input.isEmpty())
    line += (line.isEmpty() ? "< " : " < ") + shell_line({request.input});
  return line;
}

ComparisonFacts facts_of(const simulator::Comparison& comparison) {
  const auto& [before, after, difference] = comparison;
  ComparisonFacts facts;
  facts.model = before.model;
  facts.difference = difference;
  for (size_t i = 0; i < before.figures.size() && i < after.figures.size(); ++i)
    facts.figures.push_back(
        {std::string(before.figures[i].label), before.figures[i].number, after.figures[i].number});
  facts.figures.push_back({"processes", before.processes, after.processes});
  facts.figures.push_back(
      {"exit status", uint64_t(before.exit_status), uint64_t(after.exit_status)});
  for (size_t i = 0; i < before.components.size() && i < after.components.size(); ++i)
    facts.cycles.push_back({std::string(before.components[i].name), before.components[i].cycles,
                            after.components[i].cycles});
  return facts;
}

uint64_t sum_of(const ComparisonRow& row, uint64_t ComparedNumber::*side) {
  uint64_t sum = 0;
  for (const ComparedNumber& number : row.cycles) sum = saturating_add(sum, number.*side);
  return sum;
}

/// The original program and the optimized one.
using Files = std::pair<std::string, std::filesystem::path>;
struct Versions {
  ImageView image;
  Files files;
};

Versions versions_of(Environment& environment, const GainRequest& request) {
  ApplicationView application = environment.show(request.application.toStdString());
  if (application.images.empty() || !application.images.front().optimized)
    throw Error("its program has not been optimized", application.name);
  ImageView& main = application.images.front();
  Files files = {main.image.path, environment.database().store().path(main.optimized->content)};
  return {std::move(main), std::move(files)};
}

uint64_t size_of(const std::filesystem::path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  return error ? 0 : size;
}

}  // namespace

uint64_t cycles_before(const ComparisonRow& row) {
  return sum_of(row, &ComparedNumber::original);
}

uint64_t cycles_after(const ComparisonRow& row) {
  return sum_of(row, &ComparedNumber::optimized);
}

std::vector<ComparisonRow> read_comparisons(Environment& environment,
                                            const std::string& application) {
  const ApplicationView view = environment.show(application);
  const auto image = environment.database().find_image(view.main);
  return image ? environment.database().comparisons(image->id) : std::vector<ComparisonRow>();
}

QStringList compare_command(Environment& environment, const GainRequest& request) {
  const auto [original, optimized] = versions_of(environment, request).files;
  return QStringList{"respike", "compare", QString::fromStdString(original),
                     QString::fromStdString(optimized.string()), "--"} +
         request.arguments;
}

Action compare_action(const GainRequest& request, std::shared_ptr<StopFile> stop) {
  Action action{
      .title = "Compare " + request.application, .command = {}, .work = {}, .stop = [stop] {
        stop->stop();
      }};
  action.work = [request, stop](Environment& environment) {
    const auto [main, files] = versions_of(environment, request);
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
    if (!workload.folder.empty() && !std::filesystem::is_directory(workload.folder))
      throw Error("there is no such folder", workload.folder);
    if (environment.progress) environment.progress(files.first, "run both versions", 0.0);
    const simulator::Comparison result =
        simulator::compare(simulator::model_for(files.first), files.first, files.second, workload);
    ComparisonFacts facts = facts_of(result);
    facts.figures.push_back({"bytes of the file", size_of(files.first), size_of(files.second)});
    facts.optimized = main.optimized->content;
    facts.options = main.optimized->options;
    facts.workload = workload_of(request).toStdString();
    environment.database().add_comparison(main.build->id, facts);
    if (!result.difference.empty())
      throw Error("the optimized program does not behave like the original: " + result.difference,
                  files.first);
    const double speedup =
        double(result.before.cycles) / double(std::max<uint64_t>(1, result.after.cycles));
    return QStringList{QString("%1 times as fast on a model of the %2")
                           .arg(speedup, 0, 'f', 3)
                           .arg(QString::fromStdString(result.before.model))};
  };
  return action;
}

// ---- ComparisonModel ----

constexpr TableModel::Title kComparisonModelTitles[] = {
    {"When", "When both programs ran"},
    {"Build", "The build of the program, counted from 1"},
    {"Workload", "Arguments and input of both programs"},
    {"Original", "Cycles of the original on the model of the processor"},
    {"Optimized", "Cycles of the optimized program"},
    {"Speedup", "Cycles of the original for each cycle of the optimized program"},
    {"Alike", "Whether output and exit status were the same"}};

ComparisonModel::ComparisonModel(QObject* parent) : TableModel(kComparisonModelTitles, parent) {}

void ComparisonModel::set(std::vector<ComparisonRow> rows) {
  beginResetModel();
  rows_ = std::move(rows);
  endResetModel();
}

QVariant ComparisonModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const int column = index.column();
  const ComparisonRow& row = rows_[size_t(index.row())];
  if (role == Qt::TextAlignmentRole)
    return int(Qt::AlignVCenter |
               (column >= before && column <= speedup ? Qt::AlignRight : Qt::AlignLeft));
  if (role == Qt::ToolTipRole)
    return QString("made with: %1\nmodel: %2")
        .arg(QString::fromStdString(row.options), QString::fromStdString(row.model));
  if (role != Qt::DisplayRole) return {};
  switch (column) {
    case made:
      return QDateTime::fromSecsSinceEpoch(row.made).toString("yyyy-MM-dd HH:mm");
    case build:
      return row.build_number;
    case workload:
      return row.workload.empty() ? QString("no arguments") : QString::fromStdString(row.workload);
    case before:
      return QString::fromStdString(grouped(cycles_before(row)));
    case after:
      return QString::fromStdString(grouped(cycles_after(row)));
    case speedup:
      return QString::number(
          double(cycles_before(row)) / double(std::max<uint64_t>(1, cycles_after(row))), 'f', 3);
    case alike:
      return row.difference.empty() ? QString("yes") : QString::fromStdString(row.difference);
    default:
      return {};
  }
}

// ---- GainModel ----

constexpr TableModel::Title kGainModelTitles[] = {
    {"Figure", "What is counted on the model of the processor"},
    {"Original", "The original program"},
    {"Optimized", "The optimized program"},
    {"Change", "From the original to the optimized program"}};

GainModel::GainModel(QObject* parent) : TableModel(kGainModelTitles, parent) {}

void GainModel::set(const ComparisonRow& comparison) {
  beginResetModel();
  rows_ = comparison.figures;
  for (const ComparedNumber& number : comparison.cycles)
    rows_.push_back({"cycles: " + number.name, number.original, number.optimized});
  endResetModel();
}

QVariant GainModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  if (role == Qt::TextAlignmentRole)
    return int(Qt::AlignVCenter | (index.column() == name ? Qt::AlignLeft : Qt::AlignRight));
  if (role != Qt::DisplayRole) return {};
  const ComparedNumber& row = rows_[size_t(index.row())];
  switch (index.column()) {
    case name:
      return QString::fromStdString(row.name);
    case before:
      return QString::fromStdString(grouped(row.original));
    case after:
      return QString::fromStdString(grouped(row.optimized));
    case change:
      if (row.original == 0) return row.optimized == 0 ? "" : "new";
      return QString::asprintf("%+.2f%%", 100 * (double(row.optimized) / double(row.original) - 1));
    default:
      return {};
  }
}

}  // namespace respike::gui

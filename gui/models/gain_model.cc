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

#include "applications/comparison.h"
#include "optimizer/base/error.h"
#include "optimizer/base/number_text.h"
#include "optimizer/base/saturating.h"

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

// Replaces a model's name for measurements without a model.
constexpr const char* kTimed = "none: processor time on this computer";
constexpr const char* kTimedAlike =
    "none: processor time on this computer, which varies more than it differs";

bool is_timed(const ComparisonRow& row) {
  return row.model == kTimed || row.model == kTimedAlike;
}

/// The workload as a shell command line.
QString workload_of(const GainRequest& request) {
  QString line = shell_line(request.arguments);
  if (!request.input.isEmpty())
    line += (line.isEmpty() ? "< " : " < ") + shell_line({request.input});
  return line;
}

ComparisonFacts facts_of(const measure::Comparison& comparison) {
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

/// The facts of a comparison without a model: processor times in place of cycles.
ComparisonFacts facts_of(const measure::TimeComparison& comparison) {
  const auto &before = comparison.before, &after = comparison.after;
  ComparisonFacts facts;
  facts.model = comparison.beyond_noise() ? kTimed : kTimedAlike;
  facts.difference = comparison.difference;
  facts.figures = {
      {"least processor time, µs", before.least(), after.least()},
      {"a quarter takes less, µs", before.lower(), after.lower()},
      {"a quarter takes more, µs", before.upper(), after.upper()},
      {"runs", before.runs(), after.runs()},
      {"faster in pairs of runs", comparison.pairs() - comparison.faster, comparison.faster},
      {"exit status", uint64_t(before.exit_status), uint64_t(after.exit_status)}};
  facts.cycles = {{"processor time", before.median(), after.median()}};
  return facts;
}

uint64_t sum_of(const ComparisonFacts& facts, uint64_t ComparedNumber::*side) {
  uint64_t sum = 0;
  for (const ComparedNumber& number : facts.cycles) sum = saturating_add(sum, number.*side);
  return sum;
}

double speedup_of(const ComparisonFacts& facts) {
  return double(sum_of(facts, &ComparedNumber::original)) /
         double(std::max<uint64_t>(1, sum_of(facts, &ComparedNumber::optimized)));
}

/// The result of a comparison, in one sentence.
QString verdict_of(const ComparisonFacts& facts) {
  if (facts.model == kTimedAlike) return "no gain: the processor time varies more than it differs";
  const QString speedup = QString("%1 times as fast").arg(speedup_of(facts), 0, 'f', 3);
  return speedup + (facts.model == kTimed
                        ? " by processor time on this computer"
                        : " on a model of the " + QString::fromStdString(facts.model));
}

/// The figures of a comparison, with the cycles of each image that used any.
ComparisonFacts facts_of(const ApplicationComparison& comparison) {
  if (comparison.timed) return facts_of(*comparison.timed);
  ComparisonFacts facts = facts_of(*comparison.modelled);
  for (const ComparedImage& image : comparison.images)
    if (image.before != 0 || image.after != 0)
      facts.figures.push_back(
          {"cycles in " +
               (image.path.empty() ? std::string("code without a file")
                                   : std::filesystem::path(image.path).filename().string()) +
               (image.optimized || image.path.empty() ? "" : ", left alone"),
           image.before, image.after});
  return facts;
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

QStringList compare_command(const GainRequest& request) {
  return QStringList{"respike", "compare", request.application, "--"} + request.arguments;
}

Action compare_action(const GainRequest& request, std::shared_ptr<StopFile> stop) {
  Action action{
      .title = "Compare " + request.application, .command = {}, .work = {}, .stop = [stop] {
        stop->stop();
      }};
  action.work = [request, stop](Environment& environment) {
    const std::string name = request.application.toStdString();
    const ApplicationView application = environment.show(name);
    if (application.programs().empty())
      throw Error("it is a library, which does nothing by itself", name);
    if (!application.images.front().optimized)
      throw Error("its program has not been optimized", name);
    const ImageView& main = application.images.front();
    const std::string input = request.input.isEmpty() ? "/dev/null" : request.input.toStdString();
    const int number = open(input.c_str(), O_RDONLY | O_CLOEXEC);
    if (number < 0) throw Error(std::strerror(errno), input);
    const auto close_file =
        std::unique_ptr<const int, void (*)(const int*)>(&number, [](const int* f) { close(*f); });
    measure::Workload workload;
    workload.folder = request.folder.toStdString();
    workload.input = number;
    workload.stop = stop->number();
    for (const QString& argument : request.arguments)
      workload.arguments.push_back(argument.toStdString());
    if (!workload.folder.empty() && !std::filesystem::is_directory(workload.folder))
      throw Error("there is no such folder", workload.folder);
    ComparisonFacts facts = facts_of(compare_application(environment, name, workload));
    const auto file = environment.database().store().path(main.optimized->content);
    facts.figures.push_back({"bytes of the file", size_of(main.image.path), size_of(file)});
    facts.optimized = main.optimized->content;
    facts.options = main.optimized->options;
    facts.workload = workload_of(request).toStdString();
    environment.database().add_comparison(main.build->id, facts);
    if (!facts.difference.empty())
      throw Error("the optimized program does not behave like the original: " + facts.difference,
                  main.image.path);
    return QStringList{verdict_of(facts)};
  };
  return action;
}

// ---- ComparisonModel ----

namespace {

QString cost_text(const ComparisonRow& row, uint64_t cost) {
  return QString::fromStdString(grouped(cost)) + (is_timed(row) ? " µs" : "");
}

}  // namespace

QString unit_of(const ComparisonRow& row) {
  return is_timed(row) ? "µs" : "cycles";
}

constexpr TableModel::Title kComparisonModelTitles[] = {
    {"When", "When both programs ran"},
    {"Build", "The build of the program, counted from 1"},
    {"Workload", "Arguments and input of both programs"},
    {"Original",
     "Cycles of the original on the model of the processor; without a model, processor time"},
    {"Optimized", "The same of the optimized program"},
    {"Speedup", "The cost of the original, divided by that of the optimized program"},
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
      return cost_text(row, cycles_before(row));
    case after:
      return cost_text(row, cycles_after(row));
    case speedup:
      return row.model == kTimedAlike ? QString("none") : QString::number(speedup_of(row), 'f', 3);
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
    rows_.push_back(
        {is_timed(comparison) ? "median " + number.name + ", µs" : "cycles: " + number.name,
         number.original, number.optimized});
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

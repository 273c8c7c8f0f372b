// respike measure.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/measuring.h"
#include "measure/attribution.h"
#include "measure/symbol_names.h"
#include "optimizer/base/error.h"

namespace respike::cli {
namespace {

using measure::Measurement;
using measure::ModelInfo;
using measure::Share;
using measure::Times;

constexpr size_t kProcedures = 20;  // procedures in the table

struct MeasureArguments {
  std::string model;               // empty: chosen by the program; or measure::kNative
  std::vector<std::string> words;  // the program and its arguments
  std::string by;                  // image, procedure or empty
  bool json = false;
};

void print_measurement(const Measurement& m) {
  fmt::print("{:<22}  {}\n", "model", m.model);
  const double instructions = static_cast<double>(m.events.instructions);
  for (const measure::Figure& figure : m.figures)
    fmt::print("{:<22}  {:>17}  {:>8.2f} per 100 instructions\n", figure.label,
               grouped(figure.number), 100.0 * static_cast<double>(figure.number) / instructions);
  fmt::print("\n");
  for (const measure::Component& component : m.components)
    fmt::print("{:<22}  {:>17}  {:>8} of the cycles\n", component.name, grouped(component.cycles),
               percent(static_cast<double>(component.cycles), static_cast<double>(m.cycles)));
}

void print_times(const Times& times) {
  fmt::print("{:<22}  {:>17}\n", "runs", times.runs());
  fmt::print("{:<22}  {:>17}  microseconds of processor time\n", "least", grouped(times.least()));
  fmt::print("{:<22}  {:>17}  half of the runs: {} to {}\n", "median", grouped(times.median()),
             grouped(times.lower()), grouped(times.upper()));
  const auto events = measure::hardware_events();
  for (size_t i = 0; i < events.size(); ++i)
    if (const auto median = measure::median_of(times.counts, i))
      fmt::print("{:<22}  {:>17}  counted by the processor, median\n", events[i].label,
                 grouped(*median));
}

// ---- where the cycles go ----

/// The parts of a measurement that were asked for.
struct Shares {
  std::vector<Share> images, procedures;
};

Shares shares_of(const MeasureArguments& arguments, const ModelInfo& model, const Measurement& m) {
  Shares shares;
  if (arguments.by.empty()) return shares;
  shares.images = shares_by_image(model, m);
  if (arguments.by == "procedure")
    shares.procedures = shares_by_procedure(model, m, measure::SymbolsOfImages());
  return shares;
}

void print_shares(const Shares& shares, uint64_t cycles) {
  const auto print = [&](const Share& share, const std::string& name) {
    fmt::print("{:>17}  {:>8} of the cycles  {}\n", grouped(share.cycles),
               percent(static_cast<double>(share.cycles), static_cast<double>(cycles)),
               printable(name));
  };
  if (!shares.images.empty()) fmt::print("\n");
  for (const Share& share : shares.images)
    print(share, share.image.empty() ? kNoFile : share.image);
  if (!shares.procedures.empty()) fmt::print("\n");
  for (size_t i = 0; i < std::min(kProcedures, shares.procedures.size()); ++i) {
    const Share& share = shares.procedures[i];
    const std::string image = std::filesystem::path(share.image).filename();
    print(share, share.image.empty() ? kNoFile : fmt::format("{}  {}", share.procedure, image));
  }
}

Json json_of(const Measurement& m, const Shares& shares) {
  Json result = to_json(m);
  const auto add = [&](const char* key, const std::vector<Share>& list) {
    for (const Share& share : list) {
      Json row = {{"image", share.image}};
      if (!share.procedure.empty()) row["procedure"] = share.procedure;
      row["cycles"] = share.cycles;
      row["instructions"] = share.events.instructions;
      result[key].push_back(std::move(row));
    }
  };
  add("images", shares.images);
  add("procedures", shares.procedures);
  return result;
}

// ---- the command ----

void run_measure(const MeasureArguments& arguments) {
  const std::string& program = arguments.words.front();
  const measure::ProgramRun run{.program = program,
                                .argv0 = program,
                                .arguments = {arguments.words.begin() + 1, arguments.words.end()},
                                .enter = measure_originals(),
                                .places = !arguments.by.empty()};
  std::string why_timed;
  const ModelInfo* model = measure::model_for(program, arguments.model, &why_timed);
  int exit_status = 0;
  if (model != nullptr) {
    const Measurement measured = measure::measure_run(*model, run);
    const Shares shares = shares_of(arguments, *model, measured);
    exit_status = measured.exit_status;
    if (arguments.json) {
      fmt::print("{}\n", text_of(json_of(measured, shares)));
    } else {
      print_measurement(measured);
      print_shares(shares, measured.cycles);
    }
  } else {
    if (!arguments.by.empty())
      throw Error(fmt::format("{}, which would tell where cycles go",
                              why_timed.empty() ? "--native leaves out the model" : why_timed),
                  program);
    const Times times = measure::time_runs(run);
    exit_status = times.exit_status;
    note_times(why_timed, times.uncounted);
    if (arguments.json)
      fmt::print("{}\n", text_of(to_json(times)));
    else
      print_times(times);
  }
  if (!arguments.json) note_exit_status("the program's exit status", exit_status);
}

}  // namespace

void add_measure_command(CLI::App& app, const std::vector<std::string>& words) {
  CLI::App* measure = app.add_subcommand(
      "measure",
      "Run a program and say what it would cost on a model of a processor, or takes here");
  measure->footer("The program stands behind --: respike measure [OPTIONS] -- PROGRAM [ARGS...]");
  auto arguments = std::make_shared<MeasureArguments>();
  measure->callback([arguments, &words] {
    if (words.empty())
      throw CLI::ValidationError(
          "the program stands behind --: respike measure -- PROGRAM [ARGS...]");
    arguments->words = words;
    run_measure(*arguments);
  });
  add_model_options(*measure, arguments->model);
  measure->add_option("--by", arguments->by, "also say where the cycles go: image or procedure")
      ->check(one_of({"image", "procedure"}));
  measure->add_flag("--json", arguments->json, "print JSON");
}

}  // namespace respike::cli

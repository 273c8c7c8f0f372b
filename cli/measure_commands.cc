// respike measure and respike compare.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/messages.h"
#include "optimizer/base/error.h"
#include "simulator/run.h"
#include "simulator/timing.h"
#include "tas/libraries.h"

namespace respike::cli {
namespace {

using simulator::Comparison;
using simulator::Measurement;
using simulator::ModelInfo;
using simulator::TimeComparison;
using simulator::Times;

constexpr const char* kNoModel =
    "note: there is no model of this machine's processors yet: these are processor times on this "
    "host";

struct MeasureArguments {
  std::string model;               // empty: by the program
  std::string before, after;       // compare
  std::vector<std::string> words;  // measure: the program and its arguments; compare: arguments
  bool json = false;
  bool explain = false;  // compare: all figures, not only the main ones
};

/// Null: the program can be timed on this host.
const ModelInfo* model_of(const MeasureArguments& arguments, const std::string& program) {
  return arguments.model.empty() ? simulator::model_for(program)
                                 : simulator::find_model(arguments.model);
}

Json to_json(const Measurement& m) {
  Json result = {{"model", m.model}};
  for (const simulator::Figure& figure : m.figures) result[std::string(figure.key)] = figure.number;
  Json breakdown = Json::object();
  for (const simulator::Component& component : m.components)
    breakdown[std::string(component.name)] = component.cycles;
  result["breakdown"] = std::move(breakdown);
  result["processes"] = m.processes;
  result["exit_status"] = m.exit_status;
  return result;
}

Json to_json(const Times& times) {
  return {{"runs", times.runs()},
          {"least_microseconds", times.least()},
          {"median_microseconds", times.median()},
          {"lower_quartile_microseconds", times.lower()},
          {"upper_quartile_microseconds", times.upper()},
          {"exit_status", times.exit_status}};
}

void note_exit_status(const char* whose, int status) {
  if (status != 0) complain(fmt::format("note: {} was {}", whose, status));
}

// ---- measure ----

void print_measurement(const Measurement& m) {
  fmt::print("{:<22}  {}\n", "model", m.model);
  const double instructions = static_cast<double>(m.events.instructions);
  for (const simulator::Figure& figure : m.figures)
    fmt::print("{:<22}  {:>17}  {:>8.2f} per 100 instructions\n", figure.label,
               grouped(figure.number), 100.0 * static_cast<double>(figure.number) / instructions);
  fmt::print("\n");
  for (const simulator::Component& component : m.components)
    fmt::print("{:<22}  {:>17}  {:>8} of the cycles\n", component.name, grouped(component.cycles),
               percent(static_cast<double>(component.cycles), static_cast<double>(m.cycles)));
}

void print_times(const Times& times) {
  fmt::print("{:<22}  {:>17}\n", "runs", times.runs());
  fmt::print("{:<22}  {:>17}  microseconds of processor time\n", "least", grouped(times.least()));
  fmt::print("{:<22}  {:>17}  half of the runs: {} to {}\n", "median", grouped(times.median()),
             grouped(times.lower()), grouped(times.upper()));
}

void run_measure(const MeasureArguments& arguments) {
  const std::string& program = arguments.words.front();
  const simulator::ProgramRun run{
      .program = program,
      .argv0 = program,
      .arguments = {arguments.words.begin() + 1, arguments.words.end()}};
  const auto report = [&](const auto& measured, auto print) {
    if (arguments.json) return fmt::print("{}\n", text_of(to_json(measured)));
    print(measured);
    note_exit_status("the program's exit status", measured.exit_status);
  };
  if (const ModelInfo* model = model_of(arguments, program))
    return report(simulator::measure(*model, run), print_measurement);
  const Times times = simulator::time_runs(run);
  complain(kNoModel);
  report(times, print_times);
}

// ---- compare ----

/// The change from the first number to the second, as a share of the first.
std::string change(uint64_t before, uint64_t after) {
  if (before == 0) return after == 0 ? "" : "new";
  const double share = static_cast<double>(after) / static_cast<double>(before) - 1;
  return fmt::format("{:+.2f}%", 100 * share);
}

void print_row(std::string_view label, uint64_t before, uint64_t after) {
  fmt::print("{:<22}  {:>17}  {:>17}  {:>9}\n", label, grouped(before), grouped(after),
             change(before, after));
}

/// The speedup by the model's cycles; with `explain` also by model C, if its cycles are there.
std::string speedups(const Comparison& c, bool explain) {
  const auto speedup = [](uint64_t before, uint64_t after) {
    return static_cast<double>(before) / static_cast<double>(after);
  };
  std::string text = fmt::format("{:.3f}", speedup(c.before.cycles, c.after.cycles));
  if (!explain) return text;
  for (size_t i = 0; i < c.before.figures.size(); ++i)
    if (c.before.figures[i].key == "cycles_c")
      text += fmt::format(", by model C {:.3f}",
                          speedup(c.before.figures[i].number, c.after.figures[i].number));
  return text;
}

/// Whether a figure is one of those that every model has and that explain most of a difference.
bool is_main_figure(const simulator::Figure& figure) {
  constexpr std::string_view kMain[] = {"instructions", "cycles",        "taken_branches",
                                        "mispredicts",  "icache_misses", "itb_misses"};
  return std::ranges::find(kMain, figure.key) != std::end(kMain);
}

void print_comparison(const Comparison& c, bool explain) {
  fmt::print("{:<22}  {:>17}  {:>17}  {:>9}\n", "", "before", "after", "change");
  for (size_t i = 0; i < c.before.figures.size(); ++i)
    if (explain || is_main_figure(c.before.figures[i]))
      print_row(c.before.figures[i].label, c.before.figures[i].number, c.after.figures[i].number);
  if (explain) fmt::print("\ncycles\n");
  for (size_t i = 0; explain && i < c.before.components.size(); ++i)
    print_row(fmt::format("  {}", c.before.components[i].name), c.before.components[i].cycles,
              c.after.components[i].cycles);
  fmt::print("\nspeedup                 {}\n", speedups(c, explain));
  fmt::print("same output             {}\n", c.difference.empty() ? "yes" : "no");
}

void print_comparison(const TimeComparison& c) {
  const auto &before = c.before, &after = c.after;
  fmt::print("{:<22}  {:>17}  {:>17}  {:>9}\n", "microseconds", "before", "after", "change");
  print_row("least", before.least(), after.least());
  print_row("median", before.median(), after.median());
  print_row("a quarter takes less", before.lower(), after.lower());
  print_row("a quarter takes more", before.upper(), after.upper());
  fmt::print("\nfaster                  in {} of {} pairs of runs\n", c.faster, c.pairs());
  if (c.beyond_noise())
    fmt::print("speedup                 {:.3f}\n", c.speedup());
  else
    fmt::print("speedup                 none: the times vary more than they differ\n");
  fmt::print("same output             {}\n", c.difference.empty() ? "yes" : "no");
}

Json to_json(const TimeComparison& c) {
  return {{"before", to_json(c.before)},
          {"after", to_json(c.after)},
          {"pairs", c.pairs()},
          {"faster_pairs", c.faster},
          {"beyond_noise", c.beyond_noise()},
          {"same_output", c.difference.empty()}};
}

Json to_json(const Comparison& c) {
  return {{"before", to_json(c.before)},
          {"after", to_json(c.after)},
          {"same_output", c.difference.empty()}};
}

/// Says on stderr how the programs behaved; throws Error when they did not behave alike.
template <typename Compared>
void judge(const Compared& c, const MeasureArguments& arguments) {
  if (!c.difference.empty())
    throw Error(fmt::format("it does not behave like {}: {}", arguments.before, c.difference),
                arguments.after);
  if (!arguments.json) note_exit_status("the exit status of both programs", c.before.exit_status);
}

void run_compare(const MeasureArguments& arguments) {
  const std::string &before = arguments.before, &after = arguments.after;
  const ModelInfo* const model = model_of(arguments, before);
  const simulator::Workload workload{.arguments = arguments.words,
                                     .variables = variables_to_find_libraries(after, before)};
  if (model != nullptr) {
    const Comparison c = simulator::compare(*model, before, after, workload);
    if (arguments.json)
      fmt::print("{}\n", text_of(to_json(c)));
    else
      print_comparison(c, arguments.explain);
    return judge(c, arguments);
  }
  const TimeComparison c = simulator::compare_times(before, after, workload);
  complain(kNoModel);
  if (arguments.json)
    fmt::print("{}\n", text_of(to_json(c)));
  else
    print_comparison(c);
  judge(c, arguments);
}

// ---- the commands ----

void add_common_options(CLI::App& command, MeasureArguments& arguments) {
  std::vector<std::string> names;
  for (const ModelInfo& info : simulator::models()) names.emplace_back(info.name);
  command
      .add_option("--model", arguments.model,
                  "the processor that is modelled; by default one of the program's machine")
      ->check(CLI::IsMember(names));
  command.add_flag("--json", arguments.json, "print JSON");
}

}  // namespace

void add_measure_commands(CLI::App& app, const std::vector<std::string>& words) {
  CLI::App* measure = app.add_subcommand(
      "measure",
      "Run a program and say what it would cost on a model of a processor, or takes here");
  measure->footer("The program stands behind --: respike measure [OPTIONS] -- PROGRAM [ARGS...]");
  auto one = std::make_shared<MeasureArguments>();
  measure->callback([one, &words] {
    if (words.empty()) throw CLI::RequiredError("PROGRAM");
    one->words = words;
    run_measure(*one);
  });
  add_common_options(*measure, *one);

  CLI::App* compare = app.add_subcommand(
      "compare", "Run two versions of a program alike, measure both, and compare what they print");
  compare->footer(
      "The arguments stand behind --: respike compare BEFORE AFTER [OPTIONS] -- ARGS...");
  auto two = std::make_shared<MeasureArguments>();
  compare->callback([two, &words] {
    two->words = words;
    run_compare(*two);
  });
  add_common_options(*compare, *two);
  compare->add_flag("--explain", two->explain, "print all figures and where the cycles go");
  compare->add_option("BEFORE", two->before, "program")->required();
  compare->add_option("AFTER", two->after, "another version of it")->required();
}

}  // namespace respike::cli

// respike measure and respike compare.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/messages.h"
#include "optimizer/base/error.h"
#include "simulator/run.h"

namespace respike::cli {
namespace {

using simulator::Comparison;
using simulator::Events;
using simulator::Measurement;
using simulator::ModelInfo;

struct MeasureArguments {
  std::string model{simulator::models().front().name};
  std::string before, after;       // compare
  std::vector<std::string> words;  // measure: the program and its arguments; compare: arguments
  bool json = false;
};

const ModelInfo& model_of(const MeasureArguments& arguments) {
  return *simulator::find_model(arguments.model);
}

/// What the tables show of a run, line by line.
struct Line {
  std::string_view label;
  uint64_t number;
};

std::vector<Line> lines_of(const Measurement& m) {
  const Events& e = m.events;
  return {{"instructions", e.instructions},
          {"cycles", m.cycles},
          {"cycles by model C", m.cycles_c},
          {"taken branches", e.taken_branches},
          {"  of them jumps", e.taken_jumps},
          {"mispredicts", e.mispredicts},
          {"icache misses", e.icache_misses},
          {"  refill buffer hits", e.refill_hits},
          {"  second level misses", e.l2_icache_misses},
          {"itb misses", e.itb_misses}};
}

Json to_json(const Measurement& m) {
  const Events& e = m.events;
  Json breakdown = Json::object();
  for (const simulator::Component& component : m.components)
    breakdown[std::string(component.name)] = component.cycles;
  return {{"model", m.model},
          {"instructions", e.instructions},
          {"cycles", m.cycles},
          {"cycles_c", m.cycles_c},
          {"taken_branches", e.taken_branches},
          {"taken_jumps", e.taken_jumps},
          {"conditional_branches", e.conditional_branches},
          {"mispredicts", e.mispredicts},
          {"icache_misses", e.icache_misses},
          {"refill_hits", e.refill_hits},
          {"l2_icache_misses", e.l2_icache_misses},
          {"itb_misses", e.itb_misses},
          {"breakdown", std::move(breakdown)},
          {"processes", m.processes},
          {"exit_status", m.exit_status}};
}

// ---- measure ----

void run_measure(const MeasureArguments& arguments) {
  const std::string& program = arguments.words.front();
  const Measurement m = simulator::measure(
      model_of(arguments), {.program = program,
                            .argv0 = program,
                            .arguments = {arguments.words.begin() + 1, arguments.words.end()}});
  if (arguments.json) {
    fmt::print("{}\n", text_of(to_json(m)));
    return;
  }
  fmt::print("{:<22}  {}\n", "model", m.model);
  const double instructions = static_cast<double>(m.events.instructions);
  for (const Line& line : lines_of(m))
    fmt::print("{:<22}  {:>17}  {:>8.2f} per 100 instructions\n", line.label, grouped(line.number),
               100.0 * static_cast<double>(line.number) / instructions);
  fmt::print("\n");
  for (const simulator::Component& component : m.components)
    fmt::print("{:<22}  {:>17}  {:>8} of the cycles\n", component.name, grouped(component.cycles),
               percent(static_cast<double>(component.cycles), static_cast<double>(m.cycles)));
  if (m.exit_status != 0)
    complain(fmt::format("note: the program's exit status was {}", m.exit_status));
}

// ---- compare ----

/// How much less the second number is, or more, as a share of the first.
std::string change(uint64_t before, uint64_t after) {
  if (before == 0) return after == 0 ? "" : "new";
  const double share = static_cast<double>(after) / static_cast<double>(before) - 1;
  return fmt::format("{:+.2f}%", 100 * share);
}

void print_row(std::string_view label, uint64_t before, uint64_t after) {
  fmt::print("{:<22}  {:>17}  {:>17}  {:>9}\n", label, grouped(before), grouped(after),
             change(before, after));
}

void print_comparison(const Comparison& c) {
  fmt::print("{:<22}  {:>17}  {:>17}  {:>9}\n", "", "before", "after", "change");
  const std::vector<Line> before = lines_of(c.before), after = lines_of(c.after);
  for (size_t i = 0; i < before.size(); ++i)
    print_row(before[i].label, before[i].number, after[i].number);
  fmt::print("\ncycles\n");
  for (size_t i = 0; i < c.before.components.size(); ++i)
    print_row(fmt::format("  {}", c.before.components[i].name), c.before.components[i].cycles,
              c.after.components[i].cycles);
  const auto speedup = [](uint64_t a, uint64_t b) {
    return static_cast<double>(a) / static_cast<double>(b);
  };
  fmt::print("\nspeedup                 {:.3f}, by model C {:.3f}\n",
             speedup(c.before.cycles, c.after.cycles),
             speedup(c.before.cycles_c, c.after.cycles_c));
  fmt::print("same output             {}\n", c.difference.empty() ? "yes" : "no");
}

void run_compare(const MeasureArguments& arguments) {
  const Comparison c =
      simulator::compare(model_of(arguments), arguments.before, arguments.after, arguments.words);
  if (arguments.json)
    fmt::print("{}\n", text_of(Json{{"before", to_json(c.before)},
                                    {"after", to_json(c.after)},
                                    {"same_output", c.difference.empty()}}));
  else
    print_comparison(c);
  if (!c.difference.empty())
    throw Error(fmt::format("it does not behave like {}: {}", arguments.before, c.difference),
                arguments.after);
  if (c.before.exit_status != 0 && !arguments.json)
    complain(fmt::format("note: the exit status of both programs was {}", c.before.exit_status));
}

// ---- the commands ----

void add_common_options(CLI::App& command, MeasureArguments& arguments) {
  std::vector<std::string> names;
  for (const ModelInfo& info : simulator::models()) names.emplace_back(info.name);
  command.add_option("--model", arguments.model, "the processor that is modelled")
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  command.add_flag("--json", arguments.json, "print JSON");
}

}  // namespace

void add_measure_commands(CLI::App& app, const std::vector<std::string>& words) {
  CLI::App* measure = app.add_subcommand(
      "measure", "Run a program and say what it would cost on a model of a processor");
  measure->footer("The program stands behind --: respike measure [OPTIONS] -- PROGRAM [ARGS...]");
  auto one = std::make_shared<MeasureArguments>();
  measure->callback([one, &words] {
    if (words.empty()) throw CLI::RequiredError("-- PROGRAM");
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
  compare->add_option("BEFORE", two->before, "program")->required();
  compare->add_option("AFTER", two->after, "another version of it")->required();
}

}  // namespace respike::cli

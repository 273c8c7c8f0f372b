// Example of a row: "cycles", 321,345,678, 232,111,222, "-27.77%".

#include "cli/measuring.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "cli/arguments.h"
#include "optimizer/base/error.h"
#include "tas/interception.h"
#include "tas/private_mounts.h"

namespace respike::cli {

using measure::Comparison;
using measure::TimeComparison;

// ---- JSON ----

Json to_json(const measure::Measurement& m) {
  Json result = {{"model", m.model}};
  for (const measure::Figure& figure : m.figures) result[std::string(figure.key)] = figure.number;
  Json breakdown = Json::object();
  for (const measure::Component& component : m.components)
    breakdown[std::string(component.name)] = component.cycles;
  result["breakdown"] = std::move(breakdown);
  result["processes"] = m.processes;
  result["exit_status"] = m.exit_status;
  return result;
}

Json to_json(const measure::Times& times) {
  Json result = {{"runs", times.runs()},
                 {"least_microseconds", times.least()},
                 {"median_microseconds", times.median()},
                 {"lower_quartile_microseconds", times.lower()},
                 {"upper_quartile_microseconds", times.upper()},
                 {"exit_status", times.exit_status}};
  const auto events = measure::hardware_events();
  for (size_t i = 0; i < events.size(); ++i)
    if (const auto median = measure::median_of(times.counts, i))
      result["counted"][std::string(events[i].key)] = *median;
  return result;
}

Json to_json(const TimeComparison& c) {
  return {{"before", to_json(c.before)},
          {"after", to_json(c.after)},
          {"pairs", c.pairs()},
          {"faster_pairs", c.faster},
          {"cost", c.by_cycles ? "cycles" : "microseconds"},
          {"speedup", c.speedup()},
          {"speedup_low", c.speedup_interval().low},
          {"speedup_high", c.speedup_interval().high},
          {"beyond_noise", c.beyond_noise()},
          {"same_output", c.difference.empty()},
          {"output_compared", !c.output_varies}};
}

Json to_json(const Comparison& c) {
  return {{"before", to_json(c.before)},
          {"after", to_json(c.after)},
          {"same_output", c.difference.empty()}};
}

// ---- tables ----

std::string change(uint64_t before, uint64_t after) {
  if (before == 0) return after == 0 ? "" : "new";
  const double share = static_cast<double>(after) / static_cast<double>(before) - 1;
  return fmt::format("{:+.2f}%", 100 * share);
}

void print_heading(std::string_view label) {
  fmt::print("{:<22}  {:>17}  {:>17}  {:>9}\n", label, "before", "after", "change");
}

void print_row(std::string_view label, uint64_t before, uint64_t after) {
  fmt::print("{:<22}  {:>17}  {:>17}  {:>9}\n", label, grouped(before), grouped(after),
             change(before, after));
}

namespace {

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

/// Whether a figure is a main figure: every model has it, and it explains much of a difference.
bool is_main_figure(const measure::Figure& figure) {
  constexpr std::string_view kMain[] = {"instructions", "cycles",        "taken_branches",
                                        "mispredicts",  "icache_misses", "itb_misses"};
  return std::ranges::find(kMain, figure.key) != std::end(kMain);
}

}  // namespace

void print_comparison(const Comparison& c, bool explain) {
  print_heading("");
  for (size_t i = 0; i < c.before.figures.size(); ++i)
    if (explain || is_main_figure(c.before.figures[i]))
      print_row(c.before.figures[i].label, c.before.figures[i].number, c.after.figures[i].number);
  if (explain) fmt::print("\ncycles\n");
  for (size_t i = 0; explain && i < c.before.components.size(); ++i)
    print_row(fmt::format("  {}", c.before.components[i].name), c.before.components[i].cycles,
              c.after.components[i].cycles);
  fmt::print("\nmodel                   {}\n", c.before.model);
  fmt::print("speedup                 {}\n", speedups(c, explain));
  fmt::print("same output             {}\n", c.difference.empty() ? "yes" : "no");
}

void print_comparison(const TimeComparison& c) {
  const auto &before = c.before, &after = c.after;
  print_heading("microseconds");
  print_row("least", before.least(), after.least());
  print_row("median", before.median(), after.median());
  print_row("a quarter takes less", before.lower(), after.lower());
  print_row("a quarter takes more", before.upper(), after.upper());
  const auto events = measure::hardware_events();
  bool has_counts = false;
  for (size_t i = 0; i < events.size(); ++i) {
    const auto first = measure::median_of(before.counts, i);
    const auto second = measure::median_of(after.counts, i);
    if (!first || !second) continue;
    if (!std::exchange(has_counts, true)) fmt::print("\nmedians of what the processor counted\n");
    print_row(events[i].label, *first, *second);
  }
  fmt::print("\nfaster                  in {} of {} pairs of runs{}\n", c.faster, c.pairs(),
             c.by_cycles ? ", by cycles" : "");
  if (c.beyond_noise())
    fmt::print("speedup                 {:.3f}, with 95% confidence {:.3f} to {:.3f}\n",
               c.speedup(), c.speedup_interval().low, c.speedup_interval().high);
  else
    fmt::print("speedup                 none: the {} vary more than they differ\n",
               c.by_cycles ? "cycles" : "times");
  fmt::print("same output             {}\n",
             !c.difference.empty() ? "no"
             : c.output_varies     ? "not compared: the driver prints something else each time"
                                   : "yes");
}

void note_times(const std::string& why_timed, const std::string& uncounted) {
  if (!why_timed.empty())
    complain(fmt::format("note: {}: these are processor times on this host", why_timed));
  else if (!uncounted.empty())
    complain(fmt::format("note: {}: these are processor times", uncounted));
}

void note_exit_status(const char* whose, int status) {
  if (status != 0) complain(fmt::format("note: {} was {}", whose, status));
}

std::function<void()> measure_originals() {
  Interception::forget_libraries();
  if (!Interception::holds()) return {};
  return [] {
    if (const auto why = mount_unintercepted({}, nullptr))
      throw Error(fmt::format("programs cannot be executed as they are here: {}", *why));
  };
}

void add_model_options(CLI::App& command, std::string& model) {
  std::vector<std::string> names;
  for (const measure::ModelInfo& info : measure::models()) names.emplace_back(info.name);
  CLI::Option* named =
      command
          .add_option("--model", model,
                      "the processor that is modelled; by default one of the program's machine")
          ->check(one_of(names));
  command
      .add_flag_callback(
          "--native", [&model] { model = measure::kNative; },
          "no model: run on this host's processor, several times, and read its counters or time it")
      ->excludes(named);
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace respike::cli

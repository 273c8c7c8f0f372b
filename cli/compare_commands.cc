// respike compare, of two files or of an application; and respike check, of an application.
//
// Example: `respike compare a b -- x` runs the files a and b, each with the argument x; `respike
// compare app -- x` runs the registered program app twice, unchanged and with its optimized images
// in place.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "applications/comparison.h"
#include "cli/application_commands.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/measuring.h"
#include "measure/windows_program.h"
#include "optimizer/base/error.h"
#include "tas/interception.h"
#include "tas/libraries.h"

namespace respike::cli {
namespace {

using measure::Comparison;
using measure::ModelInfo;
using measure::TimeComparison;
using measure::Trials;

constexpr size_t kProcedures = 10;  // number of the largest gains, and of the largest losses

struct CompareArguments {
  std::string model;               // empty: chosen by the program; or measure::kNative
  std::string before, after;       // `after` empty: `before` is an application
  std::vector<std::string> words;  // arguments of both
  bool json = false;
  bool csv = false;
  bool explain = false;  // all figures, not only the main ones
  measure::Driver driver;
};

// ---- two files ----

/// Says on stderr how the programs behaved; throws Error when they behaved differently.
template <typename Compared>
void judge(const Compared& c, const CompareArguments& arguments) {
  if (!c.difference.empty())
    throw Error(fmt::format("it does not behave like {}: {}", arguments.before, c.difference),
                arguments.after);
  if (!arguments.json) note_exit_status("the exit status of both programs", c.before.exit_status);
}

void compare_files(const CompareArguments& arguments) {
  const std::string &before = arguments.before, &after = arguments.after;
  std::string why_timed;
  const bool driven = !arguments.driver.command.empty();
  const ModelInfo* const model =
      driven ? nullptr : measure::model_for(before, arguments.model, &why_timed);
  measure::Workload workload{.arguments = arguments.words, .driver = arguments.driver};
  if (!measure::is_for_windows(before))  // the test world has no libraries beside the program
    workload.variables = variables_to_find_libraries(after, before);
  const auto enter = measure_originals();
  if (model != nullptr) {
    const Comparison c = measure::compare(*model, {.program = before, .enter = enter},
                                          {.program = after, .enter = enter}, workload);
    if (arguments.json)
      fmt::print("{}\n", text_of(to_json(c)));
    else
      print_comparison(c, arguments.explain);
    return judge(c, arguments);
  }
  const TimeComparison c = measure::compare_times({.program = before, .enter = enter},
                                                  {.program = after, .enter = enter}, workload);
  note_times(why_timed, c.before.uncounted);
  if (arguments.json)
    fmt::print("{}\n", text_of(to_json(c)));
  else
    print_comparison(c);
  judge(c, arguments);
}

// ---- an application ----

std::string file_name(const std::string& path) {
  return path.empty() ? kNoFile : std::filesystem::path(path).filename().string();
}

/// "left alone (system library without relocations)", or nothing.
std::string left_alone(const ComparedImage& image) {
  return image.left_alone.empty() ? "" : fmt::format("left alone ({})", image.left_alone);
}

/// A row of the tables by image and by procedure.
struct Row {
  std::string name;
  uint64_t before = 0, after = 0;
  std::string rest;  // printed after the numbers
};

void print_rows(std::string_view title, std::string_view rest, const std::vector<Row>& rows) {
  size_t width = 22;
  for (const Row& row : rows) width = std::max(width, row.name.size());
  fmt::print("\n{:<{}}  {:>17}  {:>17}  {:>9}{}\n", title, width, "before", "after", "change",
             rest);
  for (const Row& row : rows)
    fmt::print("{:<{}}  {:>17}  {:>17}  {:>9}{}\n", row.name, width, grouped(row.before),
               grouped(row.after), change(row.before, row.after), row.rest);
}

void print_images(const std::vector<ComparedImage>& images, const Comparison& c) {
  std::vector<Row> rows;
  for (const ComparedImage& image : images) {
    if (image.before == 0 && image.after == 0) continue;
    const std::string note = left_alone(image);
    const std::string share =
        percent(static_cast<double>(image.before), static_cast<double>(c.before.cycles));
    rows.push_back({printable(file_name(image.path)), image.before, image.after,
                    fmt::format("  {:>7}{}{}", share, note.empty() ? "" : "  ", note)});
  }
  print_rows("cycles by image", "    share", rows);
}

/// The first procedures, in the order of the iterators, for which the predicate holds.
template <typename Iterator, typename Predicate>
void print_procedures(const char* title, Iterator from, Iterator to, Predicate is_shown) {
  std::vector<Row> rows;
  for (; from != to && rows.size() < kProcedures && is_shown(*from); ++from)
    rows.push_back({shown_name(from->name), from->before, from->after,
                    "  " + printable(file_name(from->image))});
  if (!rows.empty()) print_rows(title, "", rows);
}

void print_left_alone(const std::vector<ComparedImage>& images) {
  fmt::print("\n");
  for (const ComparedImage& image : images)
    fmt::print("{:<22}  {}\n", printable(file_name(image.path)),
               image.optimized ? "optimized" : left_alone(image));
}

void print(const ApplicationComparison& c, bool explain) {
  if (c.timed) {
    print_comparison(*c.timed);
    return print_left_alone(c.images);
  }
  print_comparison(*c.modelled, explain);
  print_images(c.images, *c.modelled);
  const auto gains = [](const ComparedProcedure& p) { return p.change() < 0; };
  const auto loses = [](const ComparedProcedure& p) { return p.change() > 0; };
  print_procedures("largest gains", c.procedures.begin(), c.procedures.end(), gains);
  print_procedures("largest losses", c.procedures.rbegin(), c.procedures.rend(), loses);
}

void print_csv(const ApplicationComparison& c) {
  fmt::print("kind,name,image,before,after\n");
  const auto print_line = [](const char* kind, std::string_view name, const std::string& image,
                             uint64_t before, uint64_t after) {
    fmt::print("{},{},{},{},{}\n", kind, csv_cell(name), csv_cell(image), before, after);
  };
  if (c.timed) {
    print_line("time", "least", "", c.timed->before.least(), c.timed->after.least());
    print_line("time", "median", "", c.timed->before.median(), c.timed->after.median());
    return;
  }
  const auto &before = c.modelled->before.figures, &after = c.modelled->after.figures;
  for (size_t i = 0; i < before.size(); ++i)
    print_line("figure", before[i].key, "", before[i].number, after[i].number);
  for (const ComparedImage& image : c.images)
    print_line("image", file_name(image.path), image.path, image.before, image.after);
  for (const ComparedProcedure& p : c.procedures)
    print_line("procedure", p.name, p.image, p.before, p.after);
}

Json json_of(const std::vector<ComparedImage>& images, bool cycles) {
  Json result = Json::array();
  for (const ComparedImage& image : images) {
    Json row = {
        {"path", image.path}, {"optimized", image.optimized}, {"left_alone", image.left_alone}};
    if (cycles) {
      row["cycles_before"] = image.before;
      row["cycles_after"] = image.after;
    }
    result.push_back(std::move(row));
  }
  return result;
}

Json json_of(const ApplicationComparison& c, const CompareArguments& arguments) {
  Json result = {{"application", arguments.before},
                 {"program", c.program},
                 {"driver", arguments.driver.command}};
  result.update(c.modelled ? to_json(*c.modelled) : to_json(*c.timed));
  result["images"] = json_of(c.images, c.modelled.has_value());
  if (c.timed) return result;
  result["procedures"] = Json::array();
  for (const ComparedProcedure& p : c.procedures)
    result["procedures"].push_back({{"name", p.name},
                                    {"image", p.image},
                                    {"cycles_before", p.before},
                                    {"cycles_after", p.after},
                                    {"instructions_before", p.instructions_before},
                                    {"instructions_after", p.instructions_after}});
  return result;
}

void compare_versions(const CompareArguments& arguments, const DatabaseOption& database) {
  const std::string& name = arguments.before;
  Interception::forget_libraries();
  ApplicationComparison c;
  with_environment(database, [&](Environment& environment) {
    c = compare_application(environment, name,
                            {.arguments = arguments.words, .driver = arguments.driver},
                            arguments.model);
  });
  if (c.timed) note_times(c.why_timed, c.timed->before.uncounted);
  if (arguments.json)
    fmt::print("{}\n", text_of(json_of(c, arguments)));
  else if (arguments.csv)
    print_csv(c);
  else
    print(c, arguments.explain);
  if (!c.difference().empty())
    throw Error(
        fmt::format("the optimized version does not behave like the original: {}", c.difference()),
        name);
  if (!arguments.json)
    note_exit_status("the exit status of both versions",
                     c.timed ? c.timed->before.exit_status : c.modelled->before.exit_status);
}

// ---- check ----

struct CheckArguments {
  std::string name;
  std::string model;  // as in CompareArguments
  std::vector<std::string> words;
  size_t runs = 0;
  bool json = false;
  measure::Driver driver;
};

/// For a server the names are about the driver; the server's end was compared as well.
std::string_view name_of(Trials::Compared compared) {
  switch (compared) {
    case Trials::Compared::output:
      return "output and exit status";
    case Trials::Compared::output_at_first:
      return "output at fixed addresses, and exit status";
    case Trials::Compared::end:
      return "exit status";
    case Trials::Compared::nothing:
      return "nothing";
  }
  return {};
}

void print(const ApplicationCheck& check, const measure::Driver& driver) {
  const Trials& trials = check.trials;
  const measure::Costs& costs = trials.costs;
  print_heading(trials.modelled ? "cycles" : "microseconds");
  print_row("least", std::ranges::min(costs.before), std::ranges::min(costs.after));
  print_row("median", costs.median_before(), costs.median_after());
  print_row("most", std::ranges::max(costs.before), std::ranges::max(costs.after));
  fmt::print("\n");
  if (trials.modelled) fmt::print("{:<22}  {}\n", "model", trials.model);
  fmt::print("{:<22}  {} of each version\n", "runs", trials.runs);
  if (trials.driven) fmt::print("{:<22}  {}\n", "driver", printable(driver.command));
  fmt::print("{:<22}  {}{}\n", "compared", trials.driven ? "driver's " : "",
             name_of(trials.compared));
  print_left_alone(check.images);
  fmt::print("\n{}\n", check.verdict);
}

Json json_of(const ApplicationCheck& check, const CheckArguments& arguments) {
  const Trials& trials = check.trials;
  return {{"application", arguments.name},
          {"program", check.program},
          {"driver", arguments.driver.command},
          {"ship", check.ship},
          {"verdict", check.verdict},
          {"model", trials.model},
          {"runs", trials.runs},
          {"compared", name_of(trials.compared)},
          {"difference", trials.difference},
          {"cost", trials.modelled ? "cycles" : "microseconds"},
          {"before", trials.costs.before},
          {"after", trials.costs.after},
          {"median_before", trials.costs.median_before()},
          {"median_after", trials.costs.median_after()},
          {"measurable", trials.measurable},
          {"exit_status", trials.exit_status},
          {"images", json_of(check.images, false)}};
}

void run_check(const CheckArguments& arguments, const DatabaseOption& database) {
  Interception::forget_libraries();
  ApplicationCheck check;
  with_environment(database, [&](Environment& environment) {
    check = check_application(environment, arguments.name,
                              {.arguments = arguments.words, .driver = arguments.driver},
                              arguments.runs, arguments.model);
  });
  if (arguments.json)
    fmt::print("{}\n", text_of(json_of(check, arguments)));
  else
    print(check, arguments.driver);
  if (!check.ship) throw Exit{1};
}

}  // namespace

// ---- the commands ----

CLI::Validator shell_command() {
  return CLI::Validator(
      [](const std::string& text) { return text.empty() ? "the command is empty" : ""; },
      "COMMAND");
}

/// For servers.
void add_driver_options(CLI::App& command, measure::Driver& driver) {
  CLI::Option* with =
      command
          .add_option("--driver", driver.command,
                      "of a server: a shell command that puts the load on it; runs beside the "
                      "server, which is stopped by SIGTERM when the command ends")
          ->check(shell_command())
          ->excludes(command.get_option("--model"));
  command
      .add_option("--before", driver.before,
                  "a shell command that runs before each start of the server, to reset state")
      ->check(shell_command())
      ->needs(with);
  command
      .add_option("--stop-within", driver.seconds, "the seconds that the server may take to stop")
      ->check(whole_number_between(1, 86400))
      ->capture_default_str()
      ->needs(with);
}

void add_compare_commands(CLI::App& app, const SharedDatabase& database,
                          const std::vector<std::string>& words) {
  CLI::App* compare = app.add_subcommand(
      "compare",
      "Run two versions of a program alike, or an application and its optimized version, measure "
      "both, and compare what they print");
  compare->footer(
      "The arguments stand behind --: respike compare BEFORE AFTER [OPTIONS] -- ARGS...\n"
      "or, of a registered application: respike compare NAME [OPTIONS] -- ARGS...");
  auto compared = std::make_shared<CompareArguments>();
  compare->callback([compared, database, &words] {
    compared->words = words;
    std::error_code error;
    // A name without '/' is an application's, if there are applications.
    const bool is_path = compared->before.find('/') != std::string::npos || !database->exists();
    if (compared->after.empty() && is_path && std::filesystem::exists(compared->before, error))
      throw CLI::ValidationError(
          "give two programs: respike compare BEFORE AFTER; the name of an application stands "
          "alone");
    if (compared->after.empty())
      compare_versions(*compared, *database);
    else
      compare_files(*compared);
  });
  add_model_options(*compare, compared->model);
  add_driver_options(*compare, compared->driver);
  CLI::Option* json = compare->add_flag("--json", compared->json, "print JSON");
  add_demangle_option(*compare);
  compare
      ->add_flag(
          "--csv", compared->csv,
          "of an application: print figures, images and procedures as comma-separated values")
      ->excludes(json);
  compare->add_flag("--explain", compared->explain, "print all figures and where the cycles go");
  compare->add_option("BEFORE", compared->before, "program, or the name of an application")
      ->required();
  compare->add_option("AFTER", compared->after, "another version of the program");

  CLI::App* check = app.add_subcommand(
      "check",
      "Run an application and its optimized version several times, and say whether to ship");
  check->footer(
      "The arguments stand behind --: respike check NAME [OPTIONS] -- ARGS...\n"
      "Exit status: 0 ship; 1 do not ship, or it could not be found out.");
  auto checked = std::make_shared<CheckArguments>();
  check->callback([checked, database, &words] {
    checked->words = words;
    run_check(*checked, *database);
  });
  check->add_option("NAME", checked->name, "application")->required();
  check
      ->add_option(
          "--runs", checked->runs,
          "of each version, at least 2; by default 3 on a model, 15 to 25 without one, 10 to "
          "25 with --driver")
      ->check(whole_number_between(2, 100'000));
  add_model_options(*check, checked->model);
  add_driver_options(*check, checked->driver);
  check->add_flag("--json", checked->json, "print JSON");
  add_demangle_option(*check);
}

}  // namespace respike::cli

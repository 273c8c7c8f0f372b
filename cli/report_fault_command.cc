// respike report-fault: the known facts about the fault that killed an optimized version.
//
// Example: `respike report-fault app --run -- x` lets the optimized version run once more, with the
// argument x, and says in which procedure of the original it dies.

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <memory>
#include <optional>

#include "applications/descriptions.h"
#include "cli/application_commands.h"
#include "cli/arguments.h"
#include "tas/interception.h"

namespace respike::cli {

Json json_of(const FaultRow& fault) {
  return {{"program", fault.program},
          {"signal", signal_name(fault.signal)},
          {"original_too", fault.original_too},
          {"noted", fault.noted}};
}

namespace {

struct ReportArguments {
  std::string name, program;
  bool json = false, run = false;
};

Json to_json(const FaultAgain& again) {
  Json registers = Json::object();
  for (const auto& [name, value] : again.place.registers)
    registers[name] = fmt::format("{:#x}", value);
  return {{"signal", signal_name(again.place.signal)},
          {"image", again.image},
          {"procedure", again.procedure},
          {"file", again.place.file.string()},
          {"offset", again.place.offset},
          {"registers", std::move(registers)}};
}

void print_place(const std::optional<FaultAgain>& again) {
  if (!again) {
    fmt::print("\nThis time the optimized version has not died of a fault.\n");
    return;
  }
  const FaultPlace& place = again->place;
  fmt::print("\nran again    died of {}{}\n", signal_name(place.signal),
             place.accessed ? fmt::format(", accessing {:#x}", *place.accessed) : "");
  fmt::print("in           {}, offset {:#x}\n",
             place.file.empty() ? "no file" : printable(place.file.string()), place.offset);
  if (!again->procedure.empty()) fmt::print("procedure    {}\n", printable(again->procedure));
  size_t column = 0;
  for (const auto& [name, value] : place.registers) {
    fmt::print("{}{:>6} {:016x}", column % 3 == 0 ? "\n" : "   ", name, value);
    ++column;
  }
  fmt::print("\n");
}

void run_report_fault(const ReportArguments& arguments, const std::vector<std::string>& words,
                      const DatabaseOption& database) {
  const std::string& name = arguments.name;
  FaultReport report;
  std::optional<FaultAgain> again;
  if (arguments.run) Interception::forget_libraries();
  with_environment(database, [&](Environment& environment) {
    report = environment.report_fault(name);
    RunOptions options;
    options.program = arguments.program;
    options.arguments = words;
    if (arguments.run) again = environment.run_to_fault(name, options);
  });
  if (arguments.json) {
    Json images = Json::array();
    for (const FaultReport::Image& image : report.images)
      images.push_back({{"path", image.path},
                        {"original", image.original},
                        {"optimized", image.optimized},
                        {"options", image.options},
                        {"verdict", image.verdict}});
    Json result = json_of(report.fault);
    result["guarded"] = report.guarded;
    result["images"] = std::move(images);
    if (arguments.run) result["again"] = again ? to_json(*again) : Json();
    fmt::print("{}\n", text_of(result));
    return;
  }
  const auto noted = static_cast<std::time_t>(report.fault.noted);
  fmt::print(
      "application  {}\nprogram      {}\ndied of      {}\nnoted        {:%Y-%m-%d %H:%M:%S}\n",
      printable(name), printable(report.fault.program), signal_name(report.fault.signal),
      fmt::localtime(noted));
  fmt::print("since then   {}\n",
             report.fault.original_too
                 ? "the original died of the same signal; the optimized version runs"
             : report.guarded ? "the original runs in mode optimized"
                              : "the images that ran are not used any more");
  for (const FaultReport::Image& image : report.images)
    fmt::print(
        "\nimage        {}\noriginal     {}\noptimized    {}\nmade with    {}\nverify       {}\n",
        printable(image.path), image.original, image.optimized, image.options,
        printable(image.verdict));
  if (arguments.run) print_place(again);
  if (report.fault.original_too) return;
  if (report.guarded)
    fmt::print("\nrespike mode {} optimized --again lets the optimized version run again.\n",
               printable(name));
  fmt::print(
      "\nWhich procedures it takes, scripts/bisect-procedures.sh finds out: give it the image and "
      "a "
      "command that fails.\n");
}

}  // namespace

void add_report_fault_command(CLI::App& app, const SharedDatabase& database,
                              const std::vector<std::string>& words) {
  CLI::App* command = app.add_subcommand(
      "report-fault", "Say what is known of the last fault of an application's optimized version");
  command->footer("With --run, the program's arguments stand behind --.");
  auto reported = std::make_shared<ReportArguments>();
  command->add_option("NAME", reported->name, "application")->required();
  command->add_flag("--json", reported->json, "print JSON");
  command->add_flag("--run", reported->run,
                    "run the optimized version once more, and say where it dies");
  command->add_option("--program", reported->program, "which of several programs, by path or name")
      ->check(name_of("FILE"))
      ->type_name("FILE");
  command->callback(
      [reported, database, &words] { run_report_fault(*reported, words, *database); });
}

}  // namespace respike::cli

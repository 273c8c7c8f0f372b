// The command run: starts an application in its mode and passes the program's status through. When
// Respike itself fails, the status is 125, as with `env` and similar commands.

#include <fmt/format.h>

#include "cli/application_commands.h"
#include "cli/commands.h"

namespace respike::cli {
namespace {

struct RunArguments {
  std::string name;
  std::vector<std::string> environment;
};

std::string assignment_problem(const std::string& text) {
  return text.find('=') == text.npos || text.starts_with('=') ? "\"" + text + "\" is not VAR=VALUE"
                                                              : std::string();
}

ProgramEnd run(const RunArguments& arguments, const DatabaseOption& database,
               const std::vector<std::string>& words) {
  RunOptions options;
  options.arguments = words;
  options.environment = arguments.environment;
  options.warn = [](const std::string& text) { complain("warning: " + std::string(text)); };
  Environment environment(database.database());
  return environment.run(arguments.name, options);
}

}  // namespace

void add_run_command(CLI::App& app, const SharedDatabase& database,
                     const std::vector<std::string>& words) {
  CLI::App* command = app.add_subcommand(
      "run", "Run an application in its mode; what follows NAME is the program's");
  command->footer("The exit status is the program's; 125 when it could not be run.");
  auto arguments = std::make_shared<RunArguments>();
  command->add_option("NAME", arguments->name, "application")->required();
  command->add_option("--env", arguments->environment, "set VAR=VALUE for the program (repeatable)")
      ->type_name("VAR=VALUE")
      ->allow_extra_args(false)
      ->check(CLI::Validator(assignment_problem, ""));
  command->callback([arguments, database, &words] {
    ProgramEnd end;
    try {
      end = run(*arguments, *database, words);
    } catch (const std::exception& error) {
      complain(error.what());
      throw Exit{125};
    }
    end_as(end);
  });
}

}  // namespace respike::cli

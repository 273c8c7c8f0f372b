// The commands that start programs: `run`, an application in its mode, whose status is passed
// through; `exec` and `session`, any command, which may start applications; `manager`, the window;
// and `report`, which the window's program writes. When Respike itself fails to run an application
// or command, the status is 125, as with `env` and similar commands.

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/application_commands.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "host/platform.h"
#include "optimizer/base/error.h"

namespace respike::cli {
namespace {

struct RunArguments {
  std::string name, program;
  std::vector<std::string> environment;
  bool guard = false;
};

std::string assignment_problem(const std::string& text) {
  return text.find('=') == text.npos || text.starts_with('=') ? "\"" + text + "\" is not VAR=VALUE"
                                                              : std::string();
}

void print_warning(const std::string& text) {
  complain("warning: " + text);
}

ProgramEnd run(const RunArguments& arguments, const DatabaseOption& database,
               const std::vector<std::string>& words) {
  RunOptions options;
  options.program = arguments.program;
  options.arguments = words;
  options.environment = arguments.environment;
  options.warn = print_warning;
  options.guard = arguments.guard;
  Environment environment = open_environment(database);
  return environment.run(arguments.name, options);
}

/// Becomes the program of the window, with these options.
[[noreturn]] void become_manager(const DatabaseOption& database, std::vector<std::string> options) {
  const std::filesystem::path window = find_command("respike-manager", true);
  if (window.empty())
    throw Error(
        "the window is not installed: Respike was built without Qt 6 (docs/manager.md says how to "
        "build it)");
  const bool shows = options.empty();
  const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
  if (shows && !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY") && !is_set("QT_QPA_PLATFORM"))
    throw Error("the window needs a display, and neither DISPLAY nor WAYLAND_DISPLAY is set");
  if (!database.path.empty()) options.insert(options.end(), {"--db", database.path});
  std::vector<char*> words = {const_cast<char*>(window.c_str())};
  for (std::string& option : options) words.push_back(option.data());
  words.push_back(nullptr);
  execv(window.c_str(), words.data());
  throw Error(fmt::format("the window cannot be started: {}", std::strerror(errno)), window);
}

}  // namespace

void add_manager_command(CLI::App& app, const SharedDatabase& database) {
  app.add_subcommand("manager", "Open a window in which all of this is done")->callback([database] {
    become_manager(*database, {});
  });

  CLI::App* report = app.add_subcommand(
      "report", "Write a page of HTML about an application, with pictures; needs no display");
  auto words = std::make_shared<std::pair<std::string, std::string>>();  // application, file
  report->add_option("NAME", words->first, "application")->required();
  add_output_option(*report, words->second, "file to write");
  report->callback([words, database] {
    static_cast<void>(open_environment(*database).find(words->first));
    become_manager(*database, {"--report", words->first, "--output", words->second});
  });
}

void add_run_command(CLI::App& app, const SharedDatabase& database,
                     const std::vector<std::string>& words) {
  CLI::App* command = app.add_subcommand(
      "run", "Run an application in its mode; what follows NAME is the program's");
  command->footer("The exit status is the program's; 125 when it could not be run.");
  auto arguments = std::make_shared<RunArguments>();
  command->add_option("NAME", arguments->name, "application")->required();
  command->add_option("--program", arguments->program, "which of several programs, by path or name")
      ->check(name_of("FILE"))
      ->type_name("FILE");
  command->add_option("--env", arguments->environment, "set VAR=VALUE for the program (repeatable)")
      ->type_name("VAR=VALUE")
      ->allow_extra_args(false)
      ->check(CLI::Validator(assignment_problem, ""));
  command->add_flag("--guard", arguments->guard,
                    "if the optimized version dies of a fault, run the original from then on");
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

void add_exec_command(CLI::App& app, const SharedDatabase& database,
                      const std::vector<std::string>& words) {
  CLI::App* command = app.add_subcommand(
      "exec",
      "Run any command; applications that it executes, anywhere below it, run in their modes");
  command->footer(
      "The command stands behind --: respike exec NAME[,NAME...] -- COMMAND [ARGS...]\n"
      "The exit status is the command's; 125 when it could not be run.");
  auto names = std::make_shared<std::string>();
  command->add_option("NAME", *names, "applications, with commas between")
      ->required()
      ->type_name("NAME[,NAME...]");
  command->callback([names, database, &words] {
    if (words.empty()) {
      complain(
          fmt::format("the command stands behind --: respike exec {} -- COMMAND [ARGS...]; --help "
                      "says more",
                      *names));
      throw Exit{2};
    }
    try {
      RunOptions options;
      options.arguments = words;
      options.warn = print_warning;
      open_environment(*database).exec(CLI::detail::split(*names, ','), options);
    } catch (const std::exception& error) {
      complain(error.what());
      throw Exit{125};
    }
  });
}

void add_session_command(CLI::App& app, const SharedDatabase& database,
                         const std::vector<std::string>& words) {
  CLI::App* command = app.add_subcommand(
      "session", "Run a shell, or another command; all applications below it run in their modes");
  command->footer(
      "Usage: respike session [OPTIONS] [COMMAND [ARGS...]]; without COMMAND $SHELL.\n"
      "The exit status is the command's; 125 when it could not be run.");
  struct Options {
    bool list = false, leave = false;
  };
  auto options = std::make_shared<Options>();
  CLI::Option* list = command->add_flag("--list", options->list, "print the sessions that run");
  command->add_flag("--leave", options->leave, "from now on, applications run as originals here")
      ->excludes(list);
  command->callback([options, database, &words] {
    if (options->list) {
      for (const LiveSession& session : open_environment(*database).sessions())
        fmt::print("{}{}\n", session.process, session.is_own ? "  this one" : "");
    } else if (options->leave) {
      open_environment(*database).leave_session();
    } else {
      try {
        RunOptions run;
        run.arguments = words;
        run.warn = print_warning;
        const char* shell = std::getenv("SHELL");
        if (words.empty()) run.arguments = {shell && *shell ? shell : "/bin/sh"};
        open_environment(*database).session(run);
      } catch (const std::exception& error) {
        complain(error.what());
        throw Exit{125};
      }
    }
  });
}

}  // namespace respike::cli

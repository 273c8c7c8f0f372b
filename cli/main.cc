// The respike command: parses the command line, runs one subcommand, turns errors into one sentence
// and an exit status (0 done, 1 could not be done, 2 wrong usage).
//
// The status tells the truth whatever becomes of the streams: results that cannot be printed are a
// failure, messages that nobody can read are none.

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/messages.h"
#include "optimizer/base/error.h"
#include "optimizer/base/files.h"

namespace {

void set_signals() {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too big is a write that fails
  std::signal(SIGCHLD, SIG_DFL);  // ends of children are waited for, even if nobody did before
}

/// Whether the option takes the next word as its value.
bool takes_value(std::string_view option) {
  return option == "--db" || option == "--env";
}

/// Where the command stands among the arguments; argc: nowhere.
int place_of_command(int argc, char** argv) {
  int at = 1;
  while (at < argc && argv[at][0] == '-') at += takes_value(argv[at]) ? 2 : 1;
  return std::min(at, argc);
}

/// Cuts off the words of another program's command line, which the parser would read as options or,
/// "[a,b]", as lists: what follows the application's name behind `run`, and what stands behind "--"
/// of `measure` and `compare`.
std::vector<std::string> take_words(int& argc, char** argv) {
  int at = place_of_command(argc, argv);
  const std::string_view command = at < argc ? argv[at] : "";
  int end = argc, begin = argc;  // of our words; of theirs
  if (command == "run") {
    for (++at; at < argc && argv[at][0] == '-' && std::string_view(argv[at]) != "--";)
      at += takes_value(argv[at]) ? 2 : 1;
    if (at < argc && std::string_view(argv[at]) == "--") ++at;
    end = begin = std::min(at + 1, argc);
  } else if (command == "measure" || command == "compare") {
    end = int(std::find(argv, argv + argc, std::string_view("--")) - argv);
    begin = std::min(end + 1, argc);
  }
  std::vector<std::string> words(argv + begin, argv + argc);
  argc = end;
  return words;
}

/// What is wrong with the command line. The parser asks for a command before it looks at what
/// stands in its place, and lists extra words backwards.
std::string usage_problem(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* group = &app;
  while (!group->get_subcommands().empty()) group = group->get_subcommands().back();
  const std::vector<std::string> extra = app.remaining(true);
  if (group->get_require_subcommand_min() != 0) {
    std::string known;
    for (const CLI::App* command : group->get_subcommands([](const CLI::App*) { return true; }))
      known += (known.empty() ? "" : ", ") + command->get_name();
    const std::string found =
        extra.empty() ? "no command"
                      : fmt::format("unknown {} {}",
                                    extra[0].starts_with('-') ? "option" : "command", extra[0]);
    return fmt::format("{}: the commands are {}", found, known);
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !extra.empty())
    return fmt::format("not expected: {}", fmt::join(extra, " "));
  return error.what();
}

/// Runs the command that the arguments ask for and returns the exit status.
int run(int argc, char** argv) {
  const std::vector<std::string> words = take_words(argc, argv);
  CLI::App app("Respike rewrites linked executables and shared libraries so that they run faster.",
               "respike");
  app.require_subcommand(1);
  app.set_version_flag("--version", "respike 0.1.0");
  respike::cli::add_image_commands(app);
  respike::cli::add_instrument_command(*app.get_subcommand("image"));
  respike::cli::add_collect_command(*app.get_subcommand("image"));
  respike::cli::add_profile_commands(app);
  respike::cli::add_measure_commands(app, words);
  respike::cli::add_application_commands(app, words);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // help, version
    respike::cli::complain(usage_problem(app, error) + "; --help says more");
    return 2;
  } catch (const respike::cli::Exit& exit) {
    return exit.status;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  using respike::cli::complain;
  respike::occupy_closed_standard_files();
  const int command = place_of_command(argc, argv);
  // The program that `run` starts gets signals as they were.
  if (command == argc || argv[command] != std::string_view("run")) set_signals();
  int status = 1;
  try {
    status = run(argc, argv);
  } catch (const std::bad_alloc&) {
    complain("out of memory");
  } catch (const std::filesystem::filesystem_error& error) {
    complain(error.path1().empty()
                 ? std::string(error.what())
                 : fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::exception& error) {
    if (std::ferror(stdout) == 0) complain(error.what());
  }
  const bool printed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!printed) complain("standard output cannot be written");
  return printed ? status : 1;
}

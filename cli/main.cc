// The respike command: parses the command line, runs one subcommand, turns errors into one sentence
// and an exit status (0 done, 1 could not be done, 2 wrong usage).
//
// The status is right even if a stream is closed: it is a failure if results cannot be printed to
// stdout, but not if messages cannot be printed to stderr.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <initializer_list>
#include <new>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/messages.h"
#include "cli/time_limit.h"
#include "cli/usage.h"
#include "optimizer/base/error.h"
#include "optimizer/base/files.h"
#include "respike_version.h"

namespace {

void set_signals() {
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the file size limit fails instead of killing
  std::signal(SIGCHLD, SIG_DFL);  // if the parent ignored SIGCHLD, children could not be waited for
}

/// The size of the files that the words name.
uint64_t size_of_files(std::span<char* const> words) {
  uint64_t sum = 0;
  for (const char* word : words) {
    std::error_code error;
    if (const uint64_t size = std::filesystem::file_size(word, error); !error) sum += size;
  }
  return sum;
}

/// The index of the first word, from `at` on, that is neither an option nor the value of an option;
/// argc: there is none. The options of `commands` say which take a value.
int skip_options(std::initializer_list<const CLI::App*> commands, int at, int argc, char** argv) {
  const auto takes_value = [&](const char* word) {
    return std::ranges::any_of(commands, [&](const CLI::App* command) {
      const CLI::Option* option = command->get_option_no_throw(word);
      return option != nullptr && option->get_items_expected_max() > 0;
    });
  };
  while (at < argc && argv[at][0] == '-' && std::string_view(argv[at]) != "--")
    at += takes_value(argv[at]) ? 2 : 1;
  return std::min(at, argc);
}

/// Cuts off and returns the words of another program's command line, which the parser would read as
/// options or, "[a,b]", as lists: the words after `run NAME`, `session` and `complete`, and after
/// "--" of `exec`, `measure`, `compare`, `check` and `report-fault`. `at`: the index of the
/// command. Example: `run app -o x` gives {"-o", "x"}.
std::vector<std::string> take_words(const CLI::App& app, int at, int& argc, char** argv) {
  const std::string_view command = at < argc ? argv[at] : "";
  int end = argc, begin = argc;  // end of Respike's words; start of the program's words
  if (command == "run") {
    at = skip_options({&app, app.get_subcommand("run")}, at + 1, argc, argv);
    if (at < argc && std::string_view(argv[at]) == "--") ++at;
    end = begin = std::min(at + 1, argc);
  } else if (command == "complete") {
    end = begin = std::min(at + 1, argc);
  } else if (command == "session") {
    at = skip_options({&app, app.get_subcommand("session")}, at + 1, argc, argv);
    end = at;
    begin = std::min(at + (at < argc && std::string_view(argv[at]) == "--"), argc);
  } else if (command == "exec" || command == "measure" || command == "compare" ||
             command == "check" || command == "report-fault") {
    end = int(std::find(argv, argv + argc, std::string_view("--")) - argv);
    begin = std::min(end + 1, argc);
  }
  std::vector<std::string> words(argv + begin, argv + argc);
  argc = end;
  return words;
}

/// Runs the command that the arguments ask for and returns the exit status.
int run(int argc, char** argv) {
  std::vector<std::string> words;  // words of the program that the command runs
  CLI::App app("Respike rewrites linked executables and shared libraries so that they run faster.",
               "respike");
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("respike {}\nbuilt with {}", respike::kVersion,
                                                respike::kBuiltWith));
  respike::cli::add_image_commands(app);
  respike::cli::add_instrument_command(*app.get_subcommand("image"));
  respike::cli::add_collect_command(*app.get_subcommand("image"));
  respike::cli::add_profile_commands(app);
  respike::cli::add_measure_command(app, words);
  respike::cli::add_application_commands(app, words);
  respike::cli::add_help_commands(app, words);
  const int command = skip_options({&app}, 1, argc, argv);
  // Programs that `run`, `exec` and `session` start inherit signal actions, so these commands leave
  // them alone.
  const std::string_view name = command < argc ? argv[command] : "";
  const std::set<std::string_view> starting = {
      "run", "exec", "session", "measure", "compare", "check", "attend", "manager", "report-fault"};
  if (name != "run" && name != "exec" && name != "session") set_signals();
  if (!starting.contains(name)) respike::cli::limit_time(size_of_files({argv, size_t(argc)}));
  words = take_words(app, command, argc, argv);
  if (argc == 1 && isatty(STDOUT_FILENO) != 0) {
    respike::cli::print_next_steps(app);
    return 0;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // help, version
    respike::cli::complain(respike::cli::usage_problem(app, error) + "; --help says more");
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

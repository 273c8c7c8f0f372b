// The respike command: parses the command line, runs one subcommand, turns errors into one sentence
// and an exit status (0 done, 1 could not be done, 2 wrong usage).

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.h"
#include "optimizer/base/error.h"

namespace {

/// Whether the option takes the next word as its value.
bool takes_value(std::string_view option) {
  return option == "--db" || option == "--env";
}

/// Cuts off the words of another program's command line, which the parser would read as options or,
/// "[a,b]", as lists: what follows the application's name behind `run`, and what stands behind "--"
/// of `measure` and `compare`.
std::vector<std::string> take_words(int& argc, char** argv) {
  int at = 1;
  while (at < argc && argv[at][0] == '-') at += takes_value(argv[at]) ? 2 : 1;
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

}  // namespace

int main(int argc, char** argv) {
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
    const int status = app.exit(error);
    return status == 0 ? 0 : 2;
  } catch (const respike::cli::Exit& exit) {
    return exit.status;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "respike: out of memory\n");
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "respike: {}\n", error.what());
    return 1;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    fmt::print(stderr, "respike: cannot write to standard output\n");
    return 1;
  }
  return 0;
}

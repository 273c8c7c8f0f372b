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

/// Cuts off what stands behind "--" where it is another program's command line: the parser would
/// read "[a,b]" as a list.
std::vector<std::string> take_words(int& argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command != "measure" && command != "compare") return {};
  char** dashes = std::find(argv, argv + argc, std::string_view("--"));
  if (dashes == argv + argc) return {};
  std::vector<std::string> words(dashes + 1, argv + argc);
  argc = static_cast<int>(dashes - argv);
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
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? 0 : 2;
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

// The respike command: parses the command line, runs one subcommand, turns errors into one sentence
// and an exit status (0 done, 1 could not be done, 2 wrong usage).

#include <cstdio>
#include <exception>
#include <new>

#include <fmt/format.h>

#include "cli/commands.h"
#include "optimizer/base/error.h"

int main(int argc, char** argv) {
  CLI::App app("Respike rewrites linked executables and shared libraries so that they run faster.",
               "respike");
  app.require_subcommand(1);
  app.set_version_flag("--version", "respike 0.1.0");
  respike::cli::add_image_commands(app);
  respike::cli::add_instrument_command(*app.get_subcommand("image"));
  respike::cli::add_collect_command(*app.get_subcommand("image"));
  respike::cli::add_profile_commands(app);
  respike::cli::add_measure_commands(app);
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

// The respike command: parses the command line, runs one subcommand, turns errors into one sentence
// and an exit status (0 done, 1 could not be done, 2 wrong usage).
//
// The status tells the truth whatever becomes of the streams: results that cannot be printed are a
// failure, messages that nobody can read are none.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

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

namespace {

/// A stream that was closed when the command started stays unusable, but its number is taken: no
/// output file gets it.
void occupy_closed_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(number, F_GETFD) < 0) open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void set_signals() {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too big is a write that fails
  std::signal(SIGCHLD, SIG_DFL);  // ends of children are waited for, even if nobody did before
}

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
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // help, version
    respike::cli::complain(usage_problem(app, error) + "; --help says more");
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  using respike::cli::complain;
  occupy_closed_streams();
  set_signals();
  int status = 1;
  try {
    status = run(argc, argv);
  } catch (const std::bad_alloc&) {
    complain("out of memory");
  } catch (const std::filesystem::filesystem_error& error) {
    complain(fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::exception& error) {
    if (std::ferror(stdout) == 0) complain(error.what());
  }
  const bool printed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!printed) complain("standard output cannot be written");
  return printed ? status : 1;
}

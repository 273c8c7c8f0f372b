// help, the next steps, and two commands for installers and shells: manual pages and completions.
//
// All of them come from the parser (description.h), so that none can be out of date.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "applications/descriptions.h"
#include "applications/environment.h"
#include "applications/life.h"
#include "cli/application_commands.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/completing.h"
#include "cli/description.h"
#include "cli/manual.h"
#include "cli/messages.h"
#include "optimizer/base/error.h"
#include "optimizer/profile/profile_set.h"

namespace respike::cli {
namespace {

namespace fs = std::filesystem;

/// Lets the help of a command list hidden options and commands.
void show_hidden(CLI::App& command) {
  for (CLI::Option* option : command.get_options([](CLI::Option*) { return true; }))
    if (option->get_group() == kHidden) option->group("Options of tests and benches");
  for (CLI::App* below : command.get_subcommands([](CLI::App*) { return true; }))
    if (below->get_group() == kHidden)
      below->group("Commands of shells, installers and Respike itself");
}

void print_help(CLI::App& app, const std::vector<std::string>& words, bool all) {
  CLI::App* command = &app;
  std::string name = app.get_name();
  for (const std::string& word : words) {
    const auto found = command->get_subcommands([&](CLI::App* c) { return c->get_name() == word; });
    if (found.empty())
      throw CLI::ValidationError(fmt::format("unknown command {}", fmt::join(words, " ")));
    command = found.front();
    name += " " + command->get_name();
  }
  if (all) show_hidden(*command);
  // App::help() would print the help of the running command.
  fmt::print("{}", command->get_formatter()->make_help(command, name, CLI::AppFormatMode::Normal));
}

// ---- the next step ----

bool has_counter_files(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".counts") return true;
  return false;
}

/// The next step with an application, one line.
std::string next_line(const Database& database, const ApplicationView& view) {
  const std::string name = shell_word(view.name);
  const bool waiting = std::ranges::any_of(view.images, [&](const ImageView& image) {
    return image.build && has_counter_files(database.spool() / image.build->content.hex());
  });
  const Life life = life_of(view, waiting);
  const std::string line = fmt::format("{} {}", name, life.next.why);
  if (!life.next.step) return line;
  switch (*life.next.step) {
    case Step::registering:
    case Step::instrumenting:
      return fmt::format("{}: respike instrument {}", line, name);
    case Step::running:
      if (view.programs().empty()) return fmt::format("{}: respike exec {} -- COMMAND", line, name);
      return fmt::format("{}: respike run {}{} ARGS", line, name,
                         view.programs().size() > 1 ? " --program FILE" : "");
    case Step::optimizing:
      return fmt::format("{}: respike optimize {}", line, name);
    case Step::checking:
      return fmt::format("{}: respike check {} -- ARGS", line, name);
    case Step::exporting:
      return fmt::format("{}: respike export {} DIR", line, name);
  }
  return line;
}

/// Completions never wait long: the user of the shell waits for them.
[[noreturn]] void give_up(int) {
  _exit(0);
}

std::vector<std::string> procedures_of(const std::string& file, const fs::path& database) {
  std::set<std::string> names;
  try {
    for (const ImageProfile& entry : read_profile_set(file))
      for (const ProcedureProfile& procedure : entry.profile.procedures)
        names.insert(procedure.name);
  } catch (const Error&) {
    if (!fs::exists(database)) return {};
    const Database opened(database, Access::read);
    if (const auto image = opened.find_image(fs::canonical(file)))
      if (const auto builds = opened.builds(image->id); !builds.empty())
        for (const auto& procedure : opened.profile(builds.front().id).procedures)
          names.insert(procedure.name);
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> images_of(const std::string& application, const fs::path& database) {
  std::vector<std::string> names;
  const Database opened(database, Access::read);
  for (const ApplicationRow& row : opened.applications())
    if (row.name == application)
      for (const ApplicationImage& used : opened.images_of(row.id))
        if (used.image.optimizable) names.push_back(fs::path(used.image.path).filename());
  return names;
}

std::vector<std::string> applications_of(const fs::path& database) {
  std::vector<std::string> names;
  const Database opened(database, Access::read);
  for (const ApplicationRow& row : opened.applications()) names.push_back(row.name);
  return names;
}

/// Returns what `f` returns; an empty value when `f` fails: completions do not report errors.
template <typename F>
std::vector<std::string> or_none(F f) {
  try {
    return f();
  } catch (const std::exception&) {
    return {};
  }
}

/// The database that the words name, or the default.
fs::path database_of(const std::vector<std::string>& words) {
  DatabaseOption option;
  for (size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "--db") option.path = words[i + 1];
  return option.place();
}

void print_completions(const CLI::App& app, const std::vector<std::string>& words) {
  std::signal(SIGALRM, give_up);
  ualarm(180'000, 0);
  const fs::path database = database_of(words);
  const auto known = [&](auto ask) {
    std::error_code error;
    return fs::exists(database, error) ? or_none(ask) : std::vector<std::string>();
  };
  const NameSource names = {
      .applications = [&] { return known([&] { return applications_of(database); }); },
      .images = [&](const auto& of) { return known([&] { return images_of(of, database); }); },
      .procedures =
          [&](const auto& of) { return or_none([&] { return procedures_of(of, database); }); }};
  const Completions found = complete(describe(app), words, names);
  fmt::print("{}\n", found.files ? "files" : "words");
  for (const auto& [word, text] : found.words)
    if (word == printable(word)) fmt::print("{}\t{}\n", word, printable(text));
}

void write_pages(const CommandDescription& command, const CommandDescription& root,
                 const fs::path& folder) {
  const std::string text = manual_page(command, root);
  write_file(folder / (page_name(command) + ".1"), bytes_of(text), {});
  for (const CommandDescription& each : command.commands) write_pages(each, root, folder);
}

}  // namespace

void print_next_steps(const CLI::App& app) {
  constexpr size_t kMost = 3;
  std::vector<std::string> lines;
  // As for completions, the database is only read: asking for the next step must not change it.
  if (const DatabaseOption database; database.exists()) {
    Environment environment(database.place(), Access::read);
    const std::vector<ApplicationRow> rows = environment.database().applications();
    const size_t said = rows.size() > kMost ? kMost - 1 : rows.size();
    for (size_t i = 0; i < said; ++i)
      lines.push_back(next_line(environment.database(), environment.show(rows[i].name)));
    if (said < rows.size())
      lines.push_back(fmt::format("and {} more: respike list", rows.size() - said));
  }
  fmt::print("{}\n", app.get_description());
  if (lines.empty())
    fmt::print(
        "1. link a program with -Wl,-q, and register it: respike register PROGRAM\n"
        "2. let it count how it runs: respike instrument PROGRAM; respike run PROGRAM ARGS\n"
        "3. make it faster, and write the file: respike optimize PROGRAM; respike export PROGRAM "
        "DIR\n");
  for (const std::string& line : lines) fmt::print("{}\n", printable(line));
  fmt::print("respike help lists all commands; respike manager opens the window\n");
}

void add_help_commands(CLI::App& app, const std::vector<std::string>& words) {
  CLI::App* help = app.add_subcommand("help", "Say what a command does, and its options");
  auto asked = std::make_shared<std::vector<std::string>>();
  help->add_option("COMMAND", *asked, "command, of one word or two; none: all");
  auto all = std::make_shared<bool>(false);
  help->add_flag("--all", *all, "also what only tests, benches, shells and installers need");
  help->callback([&app, asked, all] { print_help(app, *asked, *all); });

  CLI::App* completing = app.add_subcommand("complete", "For completions of shells");
  completing->group(kHidden);
  completing->callback([&app, &words] { print_completions(app, words); });

  CLI::App* manual = app.add_subcommand("manual", "Write all manual pages into a folder");
  manual->group(kHidden);
  auto folder = std::make_shared<std::string>();
  manual->add_option("DIR", *folder, "folder")->required();
  manual->callback([&app, folder] {
    const CommandDescription root = describe(app);
    fs::create_directories(*folder);
    write_pages(root, root, *folder);
  });
}

}  // namespace respike::cli

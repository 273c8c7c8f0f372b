// help, what to do next, and two commands for installers and shells: manual pages and completions.
//
// All of them say what the parser knows (description.h), so that none can be out of date.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "cli/application_commands.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/completing.h"
#include "cli/description.h"
#include "cli/manual.h"
#include "cli/messages.h"
#include "environment/describing.h"
#include "optimizer/base/error.h"
#include "optimizer/profile/profile_set.h"

namespace respike::cli {
namespace {

namespace fs = std::filesystem;

/// Lets the help of a command list what is hidden.
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
  // App::help() would print that of the command that is running.
  fmt::print("{}", command->get_formatter()->make_help(command, name, CLI::AppFormatMode::Normal));
}

// ---- what to do next ----

/// What the database has of an application.
struct Progress {
  ApplicationRow application;
  bool counting = false;   // an image that counts was made
  double runs = 0;         // that were counted
  bool waiting = false;    // counter files wait to be merged
  bool optimized = false;  // an image was optimized
  bool faulty = false;     // the optimized version died
};

bool has_counter_files(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".counts") return true;
  return false;
}

Progress progress_of(const Database& database, const ApplicationRow& application) {
  Progress result{.application = application};
  result.faulty =
      application.mode == Mode::optimized && database.fault_of(application.id).has_value();
  for (const ApplicationImage& used : database.images_of(application.id)) {
    const std::vector<BuildRow> builds = database.builds(used.image.id);
    if (builds.empty()) continue;
    const BuildRow& build = builds.front();  // the newest
    for (const DerivedRow& derived : database.derived(build.id))
      (derived.kind == DerivedKind::optimized ? result.optimized : result.counting) = true;
    const ProfileSummary summary = database.summary(build.id);
    result.runs = std::max(result.runs, summary.runs + summary.carried_runs);
    result.waiting = result.waiting || has_counter_files(database.spool() / build.content.hex());
  }
  return result;
}

/// What to do with an application next, a line.
std::string next_step(const Progress& progress) {
  const std::string name = shell_word(progress.application.name);
  if (progress.faulty)
    return fmt::format(
        "{} has died of a fault, and its original runs: respike report-fault {} says more", name,
        name);
  if (progress.optimized && !progress.waiting)
    return fmt::format(
        "{} is optimized: respike check {} -- ARGS says what it gains, and respike export {} DIR "
        "writes the files",
        name, name, name);
  if (progress.runs > 0 || progress.waiting)
    return fmt::format("{} has {}: respike optimize {} makes it faster", name,
                       progress.waiting ? "new counts" : "counts of " + runs_text(progress.runs),
                       name);
  if (progress.counting)
    return fmt::format("{} counts and has not run: respike run {} ARGS, with typical work", name,
                       name);
  return fmt::format("{} is registered: respike instrument {} makes it count how it runs", name,
                     name);
}

/// Completions wait for nothing: a shell's user does.
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

/// What `f` returns; nothing when it fails: completions say nothing of errors.
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
  std::vector<Progress> applications;
  // As for completions, the database is only read: who asks what to do next has changed nothing.
  if (const DatabaseOption database; database.exists()) {
    const Database opened(database.place(), Access::read);
    for (const ApplicationRow& row : opened.applications())
      applications.push_back(progress_of(opened, row));
  }
  fmt::print("{}\n", app.get_description());
  if (applications.empty())
    fmt::print(
        "1. link a program with -Wl,-q, and register it: respike register PROGRAM\n"
        "2. let it count how it runs: respike instrument PROGRAM; respike run PROGRAM ARGS\n"
        "3. make it faster, and write the file: respike optimize PROGRAM; respike export PROGRAM "
        "DIR\n");
  constexpr size_t kMost = 3;
  for (size_t i = 0; i < std::min(applications.size(), kMost); ++i)
    fmt::print("{}\n", printable(next_step(applications[i])));
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

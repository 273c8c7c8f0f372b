// The commands register, list, show, mode, unregister and prune: they manage applications.

#include "cli/application_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "applications/descriptions.h"
#include "applications/image_content.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/progress_bar.h"
#include "cli/time_limit.h"
#include "optimizer/base/error.h"

namespace respike::cli {

bool DatabaseOption::is_default() const {
  const char* variable = std::getenv("RESPIKE_DB");
  return path.empty() && (variable == nullptr || *variable == '\0');
}

bool DatabaseOption::exists() const {
  std::error_code error;
  return std::filesystem::status(place(), error).type() != std::filesystem::file_type::not_found;
}

std::filesystem::path DatabaseOption::place() const {
  return path.empty() ? default_database_path() : std::filesystem::path(path);
}

std::filesystem::path DatabaseOption::database() const {
  if (!exists()) throw Error("there is no database: respike register makes one", place());
  return place();
}

Environment open_environment(const DatabaseOption& database) {
  return Environment(database.database(), Access::write_if_possible);
}

void with_environment(const DatabaseOption& database,
                      const std::function<void(Environment&)>& action, Absent absent) {
  Environment environment =
      absent == Absent::make ? Environment(database.place()) : open_environment(database);
  ProgressBar bar;
  std::string current;
  environment.progress = [&](std::string_view image, std::string_view step, double done) {
    if (current != image) {
      bar.begin(printable(current = image));
      std::error_code error;
      const uint64_t size = std::filesystem::file_size(current, error);
      if (!error) limit_time(size);  // each image has its own
    }
    const std::string name = printable(std::filesystem::path(image).filename().string());
    bar.show(fmt::format("{}: {}", name, step), done);
  };
  std::exception_ptr failure;
  try {
    action(environment);
  } catch (...) {
    failure = std::current_exception();
  }
  bar.clear();
  for (const std::string& note : environment.notes()) complain("note: " + note);
  if (const std::string reason = environment.database().why_not_written();
      !reason.empty() && !failure)
    complain("note: nothing was collected: " + reason);
  print_warnings(environment.warnings());
  if (failure) std::rethrow_exception(failure);
}

namespace {

// ---- tables ----

/// Prints columns as wide as their widest cell; the last column is not padded.
void print_table(std::vector<std::vector<std::string>> rows) {
  std::vector<size_t> widths;
  for (auto& row : rows)
    for (std::string& cell : row) cell = printable(cell);
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i + 1 < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i)
      line += i + 1 < row.size() ? fmt::format("{:<{}}  ", row[i], widths[i]) : row[i];
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  }
}

/// Why an image is left alone; "likewise" if the previous row gave the same reason.
std::string left_alone(const ImageRow& image, std::string& last_reason) {
  const bool again = !image.reason.empty() && image.reason == last_reason;
  if (is_system_library(image)) return left_alone_text(image);
  last_reason = image.reason;
  return again ? "left alone likewise" : left_alone_text(image);
}

// ---- register ----

struct RegisterArguments {
  std::vector<std::string> images;
  std::string name;
  std::string root;  // a folder; empty: none
  bool json = false;
};

void run_register(const RegisterArguments& arguments, const DatabaseOption& database) {
  if (arguments.images.size() > 1 && arguments.name.empty())
    throw CLI::ValidationError("an application of several programs needs a name: --name NAME");
  const std::vector<std::filesystem::path> files(arguments.images.begin(), arguments.images.end());
  RegisterResult result;
  with_environment(
      database,
      [&](Environment& environment) {
        result = environment.register_application(files, arguments.name, arguments.root);
      },
      Absent::make);
  if (arguments.json) {
    Json images = Json::array();
    for (const auto& [image, role] : result.images)
      images.push_back({{"path", image.path},
                        {"role", name_of(role)},
                        {"program", image.program},
                        {"machine", image.machine},
                        {"optimizable", image.optimizable},
                        {"reason", image.reason}});
    fmt::print("{}\n", text_of(Json{{"name", result.name},
                                    {"added", result.added},
                                    {"images", images},
                                    {"missing", result.missing}}));
    return;
  }
  fmt::print("{}\n", printable(registered_text(result)));
  std::vector<std::vector<std::string>> rows;
  std::string reason;
  for (const auto& [image, role] : result.images)
    rows.push_back({"  " + std::string(name_of(role)), image.path,
                    image.optimizable ? "can be optimized" : left_alone(image, reason)});
  print_table(rows);
}

// ---- list and show ----

Json to_json(const ImageView& view) {
  Json age = nullptr;
  if (view.profile.age_days) age = *view.profile.age_days;
  return {{"path", view.image.path},
          {"role", name_of(view.role)},
          {"program", view.image.program},
          {"loaded_as", view.loaded_as},
          {"soname", view.image.soname},
          {"machine", view.image.machine},
          {"optimizable", view.image.optimizable},
          {"reason", view.image.reason},
          {"problem", view.problem},
          {"builds", view.builds},
          {"build", view.build ? view.build->number : 0},
          {"build_id", view.build ? view.build->build_id : ""},
          {"profile",
           {{"runs", view.profile.runs},
            {"coverage", view.profile.coverage},
            {"confidence", view.profile.confidence},
            {"carried_runs", view.profile.carried_runs},
            {"carried_confidence", view.profile.carried_confidence},
            {"age_days", age}}},
          {"instrumented", view.instrumented.has_value()},
          {"optimized", view.optimized.has_value()},
          {"profile_grew", view.profile_grew}};
}

Json to_json(const ApplicationView& view) {
  Json images = Json::array();
  for (const ImageView& image : view.images) images.push_back(to_json(image));
  Json programs = Json::array();
  for (const ImageView* program : view.programs()) programs.push_back(program->image.path);
  return {{"name", view.name},
          {"main", view.main},
          {"programs", std::move(programs)},
          {"mode", name_of(view.mode)},
          {"fault", view.fault ? json_of(*view.fault) : Json()},
          {"guarded", view.guarded},
          {"images", std::move(images)}};
}

/// The main image, with its problem and the number of other programs.
std::string main_text(const ApplicationView& view) {
  const size_t programs = view.programs().size();
  std::string text = view.main;
  if (!view.images.empty() && !view.images[0].problem.empty())
    text += fmt::format(" ({})", view.images[0].problem);
  if (programs > 1) text += fmt::format(" and {} more", programs - 1);
  return text;
}

void run_list(bool json, const DatabaseOption& database) {
  std::vector<ApplicationView> views;
  if (database.exists() || !database.is_default())
    with_environment(database, [&](Environment& environment) { views = environment.list(); });
  if (json) {
    Json applications = Json::array();
    for (const ApplicationView& view : views) applications.push_back(to_json(view));
    fmt::print("{}\n", text_of(Json{{"applications", std::move(applications)}}));
    return;
  }
  if (views.empty()) fmt::print("no applications\n");
  std::vector<std::vector<std::string>> rows = {
      {"name", "mode", "images", "optimized", "profile", "main image"}};
  for (const ApplicationView& view : views) {
    const auto can = std::count_if(view.images.begin(), view.images.end(),
                                   [](const ImageView& i) { return i.image.optimizable; });
    const auto done = std::count_if(view.images.begin(), view.images.end(),
                                    [](const ImageView& i) { return i.optimized.has_value(); });
    const bool grew = std::any_of(view.images.begin(), view.images.end(),
                                  [](const ImageView& i) { return i.profile_grew; });
    const std::string mode(view.guarded ? "original (guard)" : name_of(view.mode));
    rows.push_back({view.name, mode, std::to_string(view.images.size()),
                    fmt::format("{} of {}{}", done, can, grew ? ", before the latest runs" : ""),
                    view.images.empty() ? "none" : short_profile_text(view.images[0].profile),
                    main_text(view)});
  }
  if (!views.empty()) print_table(rows);
}

std::vector<std::string> show_row(const ImageView& view, std::string& last_reason) {
  const ImageRow& image = view.image;
  std::vector<std::string> row = {std::string(name_of(view.role)), image.path, image.machine};
  if (!view.problem.empty()) {
    row.push_back(view.problem);
  } else if (!image.optimizable) {
    row.push_back(left_alone(image, last_reason));
  } else {
    row.push_back(fmt::format("build {}; {}; {}", view.build ? view.build->number : 0,
                              profile_text(view.profile), made_text(view)));
  }
  return row;
}

void run_show(const std::string& name, bool json, const DatabaseOption& database) {
  ApplicationView view;
  with_environment(database, [&](Environment& environment) { view = environment.show(name); });
  if (json) {
    fmt::print("{}\n", text_of(to_json(view)));
    return;
  }
  fmt::print("application  {}\nmode         {}\n", printable(view.name), name_of(view.mode));
  if (view.guarded)
    fmt::print("guard        the original runs: the optimized version died of {}\n",
               signal_name(view.fault->signal));
  else if (view.fault && view.fault->original_too)
    fmt::print("guard        off for {}: the original died of it, too\n",
               signal_name(view.fault->signal));
  fmt::print("\n");
  std::vector<std::vector<std::string>> rows = {{"role", "image", "machine", "state"}};
  std::string reason;
  for (const ImageView& image : view.images) rows.push_back(show_row(image, reason));
  print_table(rows);
}

// ---- prune ----

struct PruneArguments {
  unsigned keep = 3;
  bool dry_run = false;
};

void run_prune(const PruneArguments& arguments, const DatabaseOption& database) {
  PruneResult result;
  with_environment(database, [&](Environment& environment) {
    result = environment.prune(arguments.keep, arguments.dry_run);
  });
  for (const std::string& row : result.rows) fmt::print("{}\n", printable(row));
  fmt::print("{}\n", pruned_text(result, arguments.dry_run));
}

}  // namespace

void add_setup_commands(CLI::App& app, const SharedDatabase& database) {
  CLI::App* command = app.add_subcommand(
      "register", "Register programs, or a library, and the libraries they load");
  auto registration = std::make_shared<RegisterArguments>();
  command
      ->add_option("MAIN_IMAGE", registration->images, "programs of one application, or a library")
      ->required()
      ->check(name_of("FILE"));
  command
      ->add_option("--name", registration->name,
                   "the application's name; by default the file's, if there is only one")
      ->type_name("NAME");
  command
      ->add_option(
          "--root", registration->root,
          "take the files from this staged tree (like DESTDIR): MAIN_IMAGE is the path that "
          "the program will have, and libraries are looked for in the tree first")
      ->check(name_of("DESTDIR"))
      ->type_name("DESTDIR");
  command->add_flag("--json", registration->json, "print JSON");
  command->callback([registration, database] { run_register(*registration, *database); });

  command = app.add_subcommand("list", "List the registered applications");
  auto list_json = std::make_shared<bool>(false);
  command->add_flag("--json", *list_json, "print JSON, with all images and their profiles");
  command->callback([list_json, database] { run_list(*list_json, *database); });

  command = app.add_subcommand("show", "Show an application, its images and their profiles");
  auto shown = std::make_shared<RegisterArguments>();
  command->add_option("NAME", shown->name, "application")->required();
  command->add_flag("--json", shown->json, "print JSON");
  command->callback([shown, database] { run_show(shown->name, shown->json, *database); });

  command = app.add_subcommand("mode", "Set which images of an application `run` runs");
  auto moded = std::make_shared<std::pair<std::string, std::string>>();
  auto again = std::make_shared<bool>(false);
  command->add_option("NAME", moded->first, "application")->required();
  command->add_option("MODE", moded->second, "original, instrumented or optimized")
      ->required()
      ->check(one_of({"original", "instrumented", "optimized"}));
  command->add_flag("--again", *again, "forget that the optimized version has died of a fault");
  command->callback([moded, again, database] {
    if (*again && moded->second != "optimized")
      throw CLI::ValidationError("--again is about the mode optimized");
    with_environment(*database, [&](Environment& environment) {
      environment.set_mode(moded->first, *parse_mode(moded->second), *again);
    });
  });
}

void add_forgetting_commands(CLI::App& app, const SharedDatabase& database) {
  CLI::App* command =
      app.add_subcommand("unregister", "Forget an application; its images' profiles stay");
  auto forgotten = std::make_shared<std::string>();
  command->add_option("NAME", *forgotten, "application")->required();
  command->callback([forgotten, database] {
    with_environment(*database,
                     [&](Environment& environment) { environment.unregister(*forgotten); });
  });

  command = app.add_subcommand(
      "prune", "Remove old builds, and images that no application uses, with their profiles");
  command->footer("Files go at the earliest an hour after they were made.");
  auto pruned = std::make_shared<PruneArguments>();
  command->add_flag("--dry-run", pruned->dry_run, "say what would be removed, and remove nothing");
  command->add_option("--keep", pruned->keep, "how many builds of each image to keep")
      ->check(whole_number_between(1, 1'000'000))
      ->capture_default_str();
  command->callback([pruned, database] { run_prune(*pruned, *database); });
}

void add_application_commands(CLI::App& app, const std::vector<std::string>& words) {
  auto database = std::make_shared<DatabaseOption>();
  app.add_option("--db", database->path,
                 "the database of applications; default $RESPIKE_DB, else respike/respike.db in "
                 "$XDG_DATA_HOME")
      ->check(name_of("FILE"));
  const auto all = [](const CLI::App*) { return true; };
  const size_t others = app.get_subcommands(all).size();
  add_setup_commands(app, database);
  add_report_fault_command(app, database, words);
  add_run_command(app, database, words);
  add_exec_command(app, database, words);
  add_session_command(app, database, words);
  add_making_commands(app, database);
  add_profile_export_command(app, database);
  add_compare_commands(app, database, words);
  add_forgetting_commands(app, database);
  add_manager_command(app, database);
  add_attend_command(app, database);
  app.fallthrough();
  const std::vector<CLI::App*> commands = app.get_subcommands(all);
  for (CLI::App* command : commands) command->fallthrough();
  for (size_t i = others; i < commands.size(); ++i) {
    const std::string footer = commands[i]->get_footer();
    if (commands[i]->get_group().empty()) continue;  // hidden
    commands[i]->group("Applications");
    commands[i]->footer(
        footer + (footer.empty() ? "" : "\n") +
        "--db FILE names the database; `respike --help` says which is the default.");
  }
}

}  // namespace respike::cli

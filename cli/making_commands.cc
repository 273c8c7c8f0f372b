// The commands instrument, collect, optimize and export: they work on an application's images.

#include <fmt/format.h>

#include "applications/descriptions.h"
#include "cli/application_commands.h"
#include "cli/arguments.h"

namespace respike::cli {
namespace {

struct MakingArguments {
  std::string name, folder, root;
  std::string profiles;  // a file
  std::string into;      // a folder
  bool no_relocations = false, dynamic_fragments = false;
  std::string counters = "shared";
  std::vector<std::string> images;
  ProfileOptions profile;
  bool json = false;
};

std::string state_name(const ImageOutcome& outcome) {
  switch (outcome.state) {
    case ImageOutcome::State::made:
      return "made";
    case ImageOutcome::State::up_to_date:
      return "up to date";
    case ImageOutcome::State::left_out:
    case ImageOutcome::State::not_optimizable:
      return "left out";
  }
  return "";
}

/// Prints what happened to each image (outcome_lines()).
void print_outcomes(const std::vector<ImageOutcome>& outcomes, const MakingArguments& arguments,
                    std::string (*made)(const ImageOutcome&)) {
  if (arguments.json) {
    Json images = Json::array();
    for (const ImageOutcome& outcome : outcomes) {
      images.push_back({{"path", outcome.path},
                        {"state", state_name(outcome)},
                        {"reason", outcome.reason},
                        {"procedures", outcome.procedures},
                        {"runs", outcome.runs},
                        {"confidence", outcome.confidence},
                        {"carried_runs", outcome.carried_runs},
                        {"carried_confidence", outcome.carried_confidence}});
      if (!outcome.file.empty()) {
        images.back()["file"] = outcome.file;
        images.back()["links"] = outcome.links;
      }
    }
    fmt::print("{}\n", text_of(Json{{"images", std::move(images)}}));
    return;
  }
  for (const std::string& line : outcome_lines(outcomes, !arguments.images.empty(), made))
    fmt::print("{}\n", printable(line));
  if (const std::string others = left_alone_line(outcomes, !arguments.images.empty());
      !others.empty())
    fmt::print("{} (respike show says why)\n", others);
}

void run_instrument(const MakingArguments& arguments, const DatabaseOption& database) {
  std::vector<ImageOutcome> outcomes;
  with_environment(database, [&](Environment& environment) {
    outcomes =
        environment.instrument(arguments.name, arguments.images,
                               counters_named(arguments.counters).value_or(Counters::shared));
  });
  print_outcomes(outcomes, arguments, instrumented_text);
}

void run_optimize(const MakingArguments& arguments, const DatabaseOption& database) {
  std::vector<ImageOutcome> outcomes;
  OptimizeRequest request = {.images = arguments.images,
                             .profile = arguments.profile,
                             .given = {},
                             .dynamic_fragments = arguments.dynamic_fragments};
  if (!arguments.profiles.empty())
    request.given = {arguments.profiles, read_profile_set(arguments.profiles)};
  with_environment(database, [&](Environment& environment) {
    outcomes = environment.optimize(arguments.name, request);
  });
  print_outcomes(outcomes, arguments, optimized_text);
}

void run_export(const MakingArguments& arguments, const DatabaseOption& database) {
  ExportPlace place = {.folder = arguments.folder, .relocations = !arguments.no_relocations};
  if (!arguments.root.empty())
    place = {arguments.root, ExportPlace::Names::paths, true, place.relocations};
  if (!arguments.into.empty())
    place = {arguments.into, ExportPlace::Names::replaced, true, place.relocations};
  if (place.folder.empty())
    throw CLI::ValidationError("where to is missing: DIR, --root DESTDIR or --into DESTDIR");
  std::vector<ImageOutcome> outcomes;
  with_environment(database, [&](Environment& environment) {
    outcomes = environment.export_images(arguments.name, arguments.images, place);
  });
  print_outcomes(outcomes, arguments, exported_text);
}

void run_collect(const MakingArguments& arguments, const DatabaseOption& database) {
  MergeResult result;
  with_environment(database, [&](Environment& environment) {
    if (!arguments.name.empty()) static_cast<void>(environment.find(arguments.name));
    result = environment.collect();
    environment.database().require_writable();
  });
  if (arguments.json)
    fmt::print("{}\n", text_of(Json{{"finished", result.finished},
                                    {"running", result.running + result.unchanged},
                                    {"damaged", result.damaged},
                                    {"unknown", result.unknown}}));
  else
    fmt::print("{}\n", collected_text(result));
}

void run_profile_export(const MakingArguments& arguments, const DatabaseOption& database) {
  ProfileSet set;
  with_environment(database, [&](Environment& environment) {
    set = environment.export_profiles(arguments.name, arguments.images, arguments.profile);
  });
  // The profile of a single image is a file that all other profile commands can read.
  if (!arguments.images.empty() && set.size() == 1)
    write_profile(arguments.folder, set.front().profile);
  else
    write_profile_set(arguments.folder, set);
  for (const ImageProfile& entry : set)
    fmt::print("{}: {}\n", printable(entry.profile.image_path), runs_text(entry.profile.runs));
}

constexpr const char* kOnlyImages =
    "only this image, by its path, or those of this file name or SONAME (repeatable)";

void add_images_option(CLI::App& command, MakingArguments& arguments, const char* text) {
  command.add_option("--image", arguments.images, text)
      ->check(name_of("IMAGE"))
      ->type_name("IMAGE")
      ->allow_extra_args(false);
}

}  // namespace

std::vector<CLI::Option*> add_profile_options(CLI::App& command, ProfileOptions& use) {
  return {command
              .add_option("--half-life", use.half_life_days,
                          "counts weigh half after so many days, seen from the newest ones")
              ->check(positive_number())
              ->type_name("DAYS"),
          command
              .add_option("--older-weight", use.carried_weight,
                          "of the profiles of older builds; 0: without them")
              ->check(number_up_to(1e6))
              ->type_name("WEIGHT")
              ->capture_default_str()};
}

void add_profile_export_command(CLI::App& app, const SharedDatabase& database) {
  CLI::App* profile = app.get_subcommand("profile");
  profile->fallthrough();
  CLI::App* command = profile->add_subcommand(
      "export", "Write the profiles that an application has in the database to a file");
  command->fallthrough();
  auto arguments = std::make_shared<MakingArguments>();
  command->callback([arguments, database] { run_profile_export(*arguments, *database); });
  command->add_option("NAME", arguments->name, "application")->required();
  add_images_option(*command, *arguments,
                    "only this image, by its path, file name or SONAME (repeatable); of a single "
                    "one, the file is a profile like those of `image collect`");
  add_profile_options(*command, arguments->profile);
  add_output_option(*command, arguments->folder, "file to write");
}

void add_making_commands(CLI::App& app, const SharedDatabase& database) {
  const auto add = [&](const char* name, const char* text, auto run) {
    CLI::App* command = app.add_subcommand(name, text);
    auto arguments = std::make_shared<MakingArguments>();
    command->add_flag("--json", arguments->json, "print JSON");
    command->callback([arguments, run, database] { run(*arguments, *database); });
    return std::pair(command, arguments);
  };
  auto [instrument, instrumented] = add(
      "instrument", "Make images that count what runs, and run these from now on", run_instrument);
  instrument->add_option("NAME", instrumented->name, "application")->required();
  add_images_option(*instrument, *instrumented, kOnlyImages);
  add_counters_option(*instrument, instrumented->counters);

  auto [collect, collected] =
      add("collect", "Merge what runs have counted; every other command does so first, too",
          run_collect);
  collect->add_option("NAME", collected->name, "application");

  auto [optimize, optimized] = add(
      "optimize", "Make images by the profiles collected, and run these from now on", run_optimize);
  optimize->add_option("NAME", optimized->name, "application")->required();
  add_images_option(*optimize, *optimized, kOnlyImages);
  CLI::Option* given =
      optimize
          ->add_option("--profile", optimized->profiles,
                       "by the profiles in this file, not by those collected: the same images and "
                       "file make the same images anywhere")
          ->check(name_of("FILE"))
          ->type_name("FILE");
  for (CLI::Option* option : add_profile_options(*optimize, optimized->profile))
    option->excludes(given);
  add_dynamic_fragments_option(*optimize, optimized->dynamic_fragments);

  auto [exporting, exported] =
      add("export",
          "Copy the optimized images into a folder, named as their originals, with symbolic links",
          run_export);
  exporting->add_option("NAME", exported->name, "application")->required();
  CLI::Option* folder = exporting->add_option("DIR", exported->folder,
                                              "folder, made if there is none, for all of them");
  exporting
      ->add_option("--root", exported->root,
                   "below this folder instead, each under its original's path (like DESTDIR)")
      ->check(name_of("DESTDIR"))
      ->type_name("DESTDIR")
      ->excludes(folder);
  exporting
      ->add_option("--into", exported->into,
                   "in the places of the copies of their originals below this folder, which is a "
                   "staged tree for a package")
      ->check(name_of("DESTDIR"))
      ->type_name("DESTDIR")
      ->excludes(folder)
      ->excludes("--root");
  exporting->add_flag("--no-relocations", exported->no_relocations,
                      "leave out what the linker kept for Respike; `strip --strip-unneeded` does "
                      "not, and the images cannot be optimized again");
  add_images_option(*exporting, *exported, kOnlyImages);
}

}  // namespace respike::cli

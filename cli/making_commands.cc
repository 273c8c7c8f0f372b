// The commands instrument, collect, optimize and export: they work on an application's images.

#include <fmt/format.h>

#include "cli/application_commands.h"
#include "cli/arguments.h"
#include "environment/describing.h"

namespace respike::cli {
namespace {

struct MakingArguments {
  std::string name, folder, root;
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
  with_environment(database, [&](Environment& environment) {
    outcomes = environment.optimize(arguments.name, arguments.images, arguments.profile);
  });
  print_outcomes(outcomes, arguments, optimized_text);
}

void run_export(const MakingArguments& arguments, const DatabaseOption& database) {
  if (arguments.folder.empty() && arguments.root.empty())
    throw CLI::RequiredError("a folder, DIR or --root DESTDIR,");
  const bool keeps_paths = !arguments.root.empty();
  std::vector<ImageOutcome> outcomes;
  with_environment(database, [&](Environment& environment) {
    outcomes =
        environment.export_images(arguments.name, arguments.images,
                                  {keeps_paths ? arguments.root : arguments.folder, keeps_paths});
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

}  // namespace

void add_making_commands(CLI::App& app, const SharedDatabase& database) {
  const auto add = [&](const char* name, const char* text, auto run) {
    CLI::App* command = app.add_subcommand(name, text);
    auto arguments = std::make_shared<MakingArguments>();
    command->add_flag("--json", arguments->json, "print JSON");
    command->callback([arguments, run, database] { run(*arguments, *database); });
    return std::pair(command, arguments);
  };
  const auto add_images = [](CLI::App* command, MakingArguments& arguments) {
    command
        ->add_option(
            "--image", arguments.images,
            "only this image, by its path, or those of this file name or SONAME (repeatable)")
        ->check(name_of("IMAGE"))
        ->type_name("IMAGE")
        ->allow_extra_args(false);
  };

  auto [instrument, instrumented] = add(
      "instrument", "Make images that count what runs, and run these from now on", run_instrument);
  instrument->add_option("NAME", instrumented->name, "application")->required();
  add_images(instrument, *instrumented);
  add_counters_option(*instrument, instrumented->counters);

  auto [collect, collected] =
      add("collect", "Merge what runs have counted; every other command does so first, too",
          run_collect);
  collect->add_option("NAME", collected->name, "application");

  auto [optimize, optimized] = add(
      "optimize", "Make images by the profiles collected, and run these from now on", run_optimize);
  optimize->add_option("NAME", optimized->name, "application")->required();
  add_images(optimize, *optimized);
  optimize
      ->add_option("--half-life", optimized->profile.half_life_days,
                   "counts weigh half after so many days, seen from the newest ones")
      ->check(positive_number())
      ->type_name("DAYS");
  optimize
      ->add_option("--older-weight", optimized->profile.carried_weight,
                   "of the profiles of older builds; 0: without them")
      ->check(CLI::Range(0.0, 1e6))
      ->type_name("WEIGHT")
      ->capture_default_str();

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
  add_images(exporting, *exported);
}

}  // namespace respike::cli

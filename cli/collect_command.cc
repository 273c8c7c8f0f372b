// respike image collect.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "applications/file_checks.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/messages.h"
#include "instrument/collect.h"

namespace respike::cli {
namespace {

struct CollectArguments {
  std::vector<std::string> files;
  std::string output, image;
};

void run_collect(const CollectArguments& arguments) {
  const std::vector<std::filesystem::path> all(arguments.files.begin(), arguments.files.end());
  refuse_overwriting(arguments.output, arguments.files);
  Diagnostics diagnostics;
  const auto files = files_with_headers(all, diagnostics);
  const std::string named = read_counter_file(files.front()).image_path;
  refuse_overwriting(arguments.output, {arguments.image.empty() ? named : arguments.image});
  std::optional<std::filesystem::path> image;
  if (!arguments.image.empty()) image = arguments.image;
  const Profile profile = collect(files, image, &diagnostics);
  write_profile(arguments.output, profile);
  const auto doubtful =
      std::count_if(profile.procedures.begin(), profile.procedures.end(),
                    [](const ProcedureProfile& procedure) { return !procedure.exact; });
  if (doubtful != 0)
    diagnostics.warn(
        fmt::format("the counts of {} of {} procedures are not exact: it is not sure which of "
                    "their calls did not return",
                    doubtful, profile.procedures.size()));
  print_warnings(diagnostics);
}

}  // namespace

void add_collect_command(CLI::App& image) {
  CLI::App* command = image.add_subcommand("collect", "Make a profile of counter files");
  auto arguments = std::make_shared<CollectArguments>();
  command->callback([arguments] { run_collect(*arguments); });
  command
      ->add_option("COUNTERFILE", arguments->files,
                   "what an instrumented image left in its spool; all of one image")
      ->required();
  add_output_option(*command, arguments->output, "profile to write");
  command->add_option("--image", arguments->image,
                      "the instrumented image, if it is not where it was when it ran");
}

}  // namespace respike::cli

// `respike profile ...`: commands that work on profiles.

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "applications/file_checks.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/messages.h"
#include "optimizer/profile/matching/carried_profile.h"
#include "optimizer/profile/profile_set.h"
#include "views/profile_figures.h"
#include "views/profile_losses.h"

namespace respike::cli {
namespace {

// ---- show ----

struct ShowArguments {
  std::string profile;
  std::string image;  // image in a set of profiles
  std::vector<std::string> procedures;
  uint64_t top = 30;
  bool json = false;
};

Json to_json(const ProcedureProfile& procedure) {
  const auto address = [&](BlockId block) { return procedure.blocks[block].address; };
  Json blocks = Json::array(), edges = Json::array(), calls = Json::array(),
       indirect = Json::array();
  for (const auto& block : procedure.blocks)
    blocks.push_back({{"address", block.address},
                      {"count", block.count},
                      {"size", block.size},
                      {"instructions", block.instructions}});
  for (const auto& edge : procedure.edges)
    edges.push_back({{"from", address(edge.from)},
                     {"to", address(edge.to)},
                     {"count", edge.count},
                     {"kind", name_of(edge.kind)}});
  for (const auto& call : procedure.calls)
    calls.push_back(
        {{"from", address(call.block)}, {"callee", call.callee}, {"count", call.count}});
  for (const auto& site : procedure.indirect)
    indirect.push_back(
        {{"from", address(site.block)}, {"target", site.target}, {"changes", site.changes}});
  return {{"name", procedure.name},
          {"address", procedure.address},
          {"signature", fmt::format("{:016x}", procedure.signature)},
          {"exact", procedure.exact},
          {"entries", procedure.entries()},
          {"instructions", procedure.instructions()},
          {"blocks", std::move(blocks)},
          {"edges", std::move(edges)},
          {"calls", std::move(calls)},
          {"indirect", std::move(indirect)}};
}

Json profile_to_json(const Profile& profile, const ShowArguments& arguments) {
  Json procedures = Json::array();
  for (const ProcedureProfile* procedure :
       hottest_first(profile, arguments.procedures, arguments.profile))
    procedures.push_back(to_json(*procedure));
  return {{"image", profile.image_path},
          {"build_id", profile.image_build_id},
          {"hash", fmt::format("{:016x}", profile.image_hash)},
          {"runs", profile.runs},
          {"procedures", std::move(procedures)}};
}

void print_summary(const Profile& profile) {
  const ProfileFigures figures = figures_of(profile);
  fmt::print("image         {}\n", printable(profile.image_path));
  if (!profile.image_build_id.empty())
    fmt::print("build id      {}\n", printable(profile.image_build_id));
  fmt::print("runs          {:g}\n", profile.runs);
  fmt::print("procedures    {}, {} executed, {} not exact\n", grouped(figures.procedures),
             grouped(figures.entered), grouped(figures.not_exact));
  fmt::print("instructions  {} executed\n", grouped(figures.instructions));
}

void print_table(const Profile& profile, const ShowArguments& arguments) {
  const double all = static_cast<double>(figures_of(profile).instructions);
  const auto procedures = hottest_first(profile, arguments.procedures, arguments.profile);
  fmt::print("\n{:>8} {:>8} {:>20} {:>16}  {}\n", "share", "sum", "instructions", "entries",
             "procedure");
  double sum = 0;
  uint64_t rows = 0, left = 0;
  for (const ProcedureProfile* procedure : procedures) {
    if (!procedure->entered()) continue;
    if (arguments.top != 0 && rows == arguments.top) {
      ++left;
      continue;
    }
    ++rows;
    const uint64_t instructions = procedure->instructions();
    sum += static_cast<double>(instructions);
    fmt::print("{:>8} {:>8} {:>20} {:>16}  {}{}\n", percent(static_cast<double>(instructions), all),
               percent(sum, all), grouped(instructions), grouped(procedure->entries()),
               shown_name(procedure->name), procedure->exact ? "" : "  (not exact)");
  }
  if (left != 0) fmt::print("{} more; --top 0 shows all\n", grouped(left));
}

void print_procedure(const ProcedureProfile& procedure, const ProcedureNames& names) {
  fmt::print("\n{} at {:x}: {} instructions executed{}, signature {:016x}\n",
             shown_name(procedure.name), procedure.address, grouped(procedure.instructions()),
             procedure.exact ? "" : ", not exact", procedure.signature);
  fmt::print("{:>7} {:>12} {:>12} {:>16}  {}\n", "block", "address", "instructions", "count",
             "goes on to");
  const std::vector<std::string> ways = ways_on(procedure, names);
  for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
    const auto& block = procedure.blocks[b];
    fmt::print("{:>7} {:>12x} {:>12} {:>16}  {}\n", b, block.address, block.instructions,
               grouped(block.count), printable(ways[b]));
  }
}

/// Shows the contents of a set of profiles.
void show_set(const ProfileSet& set, const ShowArguments& arguments) {
  if (!arguments.procedures.empty())
    throw CLI::ValidationError("of which image: --image is one of " + images_of(set));
  if (arguments.json) {
    Json images = Json::array();
    for (const ImageProfile& entry : set) {
      images.push_back(profile_to_json(entry.profile, arguments));
      images.back()["soname"] = entry.soname;
      images.back()["machine"] = entry.machine;
    }
    fmt::print("{}\n", text_of(Json{{"images", std::move(images)}}));
    return;
  }
  fmt::print("{:>8} {:>10} {:>10} {:>20}  {}\n", "runs", "procedures", "executed", "instructions",
             "image");
  for (const ImageProfile& entry : set) {
    const ProfileFigures figures = figures_of(entry.profile);
    fmt::print("{:>8g} {:>10} {:>10} {:>20}  {}\n", entry.profile.runs, grouped(figures.procedures),
               grouped(figures.entered), grouped(figures.instructions),
               printable(entry.profile.image_path));
  }
}

/// The profile of an image that a set holds, by file name or SONAME.
const Profile& profile_of(const ProfileSet& set, const ShowArguments& arguments) {
  const ImageProfile* found =
      find_profile(set, {.hash = 0,
                         .build_id = {},
                         .file_name = std::filesystem::path(arguments.image).filename(),
                         .soname = arguments.image,
                         .machine = {}});
  if (found == nullptr)
    throw Error(
        fmt::format("it has no profile of {}, but those of {}", arguments.image, images_of(set)),
        arguments.profile);
  return found->profile;
}

void run_show(const ShowArguments& arguments) {
  const ProfileSet set = read_profile_set(arguments.profile);
  if (set.size() != 1 && arguments.image.empty()) return show_set(set, arguments);
  const Profile& profile =
      arguments.image.empty() ? set.front().profile : profile_of(set, arguments);
  if (arguments.json) {
    fmt::print("{}\n", text_of(profile_to_json(profile, arguments)));
    return;
  }
  if (arguments.procedures.empty()) {
    print_summary(profile);
    print_table(profile, arguments);
    return;
  }
  const ProcedureNames names = names_by_address(profile);
  for (const ProcedureProfile* procedure :
       hottest_first(profile, arguments.procedures, arguments.profile))
    print_procedure(*procedure, names);
}

// ---- match ----

struct MatchArguments {
  std::string profile, image, output;
  uint64_t top = 10;
  bool json = false;
};

void print_match_json(const Profile& before, const MatchResult& match) {
  Json json = match_to_json(match);
  Json& procedures = json["procedure_list"] = Json::array();
  for (const ProfileLoss& loss : losses(before, match)) {
    Json entry = {{"name", loss.before->name},
                  {"address", loss.before->address},
                  {"instructions", loss.before->instructions()},
                  {"confidence", loss.confidence},
                  {"reason", loss_reason(loss)}};
    if (loss.now != nullptr) {
      entry["new_name"] = loss.now->name;
      entry["new_address"] = loss.now->address;
    }
    procedures.push_back(std::move(entry));
  }
  fmt::print("{}\n", text_of(json));
}

void print_match(const Profile& before, const MatchResult& match, uint64_t top) {
  fmt::print("procedures    {} of {} matched\n", grouped(match.procedures_matched),
             grouped(match.procedures_before));
  fmt::print("executed      {} of {} matched, with {} of what was executed\n",
             grouped(match.entered_matched), grouped(match.entered_before),
             percent(match.instructions_matched, match.instructions_before));
  fmt::print("confidence    {}\n", percent(match.confidence, 1));
  uint64_t rows = 0;
  for (const ProfileLoss& loss : losses(before, match)) {
    if (loss.lost() == 0 || rows == top) break;
    if (rows++ == 0) fmt::print("\n{:>10} {:>10}  {}\n", "executed", "confidence", "procedure");
    const bool renamed = loss.now != nullptr && loss.now->name != loss.before->name;
    fmt::print("{:>10} {:>10}  {}  ({}{})\n", percent(loss.executed, match.instructions_before),
               percent(loss.confidence, 1), shown_name(loss.before->name),
               renamed ? "now " + shown_name(loss.now->name) + "; " : "", loss_reason(loss));
  }
}

void run_match(const MatchArguments& arguments) {
  refuse_overwriting(arguments.output, {arguments.image});
  Diagnostics diagnostics;
  const Profile before = read_profile(arguments.profile);
  const Image image = read_image(std::filesystem::path(arguments.image));
  require_machine(image);
  const MatchResult match = match_image(before, arguments.profile, image, diagnostics);
  write_profile(arguments.output, match.profile);
  if (arguments.json)
    print_match_json(before, match);
  else
    print_match(before, match, arguments.top);
  print_warnings(diagnostics);
}

// ---- merge ----

struct MergeArguments {
  std::vector<std::string> profiles;
  std::string output;
};

/// Splits PROFILE or PROFILE:WEIGHT. Text after the last colon that is not a number belongs to the
/// name. A number that is too large for a double is infinity, a number that is too small is 0.
std::pair<std::string, double> weighted(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {text, 1.0};
  double weight = 0;
  const auto [end, error] =
      std::from_chars(text.data() + colon + 1, text.data() + text.size(), weight);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return {text, 1.0};
  if (error == std::errc::result_out_of_range) weight = std::strtod(&text[colon + 1], nullptr);
  return {text.substr(0, colon), weight};
}

std::string weight_problem(const std::string& text) {
  const double weight = weighted(text).second;
  return std::isfinite(weight) && weight >= 0 ? "" : "a weight is a number from 0 on: " + text;
}

void run_merge(const MergeArguments& arguments) {
  std::vector<MergeInput> inputs;
  for (const std::string& text : arguments.profiles) {
    const auto [name, weight] = weighted(text);
    refuse_overwriting(arguments.output, {name});
    inputs.push_back({name, read_profile(name), weight});
  }
  Diagnostics diagnostics;
  write_profile(arguments.output, merge_inputs(std::move(inputs), diagnostics));
  print_warnings(diagnostics);
}

}  // namespace

void add_profile_commands(CLI::App& app) {
  CLI::App* profile = app.add_subcommand("profile", "Work on profiles");
  profile->require_subcommand(1);

  CLI::App* show = profile->add_subcommand("show", "What ran how often, hottest first");
  auto show_arguments = std::make_shared<ShowArguments>();
  show->callback([show_arguments] { run_show(*show_arguments); });
  show->add_option("PROFILE", show_arguments->profile, "profile")->required();
  show->add_option("--image", show_arguments->image,
                   "of a file with the profiles of several images, that of this image")
      ->check(name_of("IMAGE"))
      ->type_name("IMAGE");
  show->add_option("--procedure", show_arguments->procedures,
                   "blocks and edges of this procedure (repeatable)")
      ->allow_extra_args(false);
  show->add_option("--top", show_arguments->top, "how many procedures to list; 0: all")
      ->check(whole_number())
      ->capture_default_str();
  show->add_flag("--json", show_arguments->json, "print JSON, always of all procedures");
  add_demangle_option(*show);

  add_annotate_command(*profile);

  CLI::App* match = profile->add_subcommand("match", "Carry a profile over to another build");
  auto match_arguments = std::make_shared<MatchArguments>();
  match->callback([match_arguments] { run_match(*match_arguments); });
  match->add_option("PROFILE", match_arguments->profile, "profile of the older build")->required();
  match->add_option("IMAGE", match_arguments->image, "the newer build")->required();
  match->add_option("-o,--output", match_arguments->output, "profile to write")->required();
  match
      ->add_option("--top", match_arguments->top,
                   "how many of the procedures with doubtful counts to list")
      ->capture_default_str();
  match->add_flag("--json", match_arguments->json, "print JSON, of all procedures that ran");
  add_demangle_option(*match);

  CLI::App* merge = profile->add_subcommand(
      "merge", "Add profiles of the same image, or of several builds of it");
  auto merge_arguments = std::make_shared<MergeArguments>();
  merge->callback([merge_arguments] { run_merge(*merge_arguments); });
  merge
      ->add_option("PROFILE[:WEIGHT]", merge_arguments->profiles,
                   "profile, and what its counts are multiplied by (1)")
      ->required()
      ->check(CLI::Validator(weight_problem, ""));
  add_output_option(*merge, merge_arguments->output, "profile to write");
}

}  // namespace respike::cli

// `respike image ...`: commands that work on image files.

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "applications/file_checks.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/debug_files.h"
#include "cli/messages.h"
#include "cli/progress_bar.h"
#include "optimizer/fingerprint.h"
#include "optimizer/image/image.h"
#include "optimizer/image/provenance.h"
#include "optimizer/lift/lift.h"
#include "optimizer/machine/machine.h"
#include "optimizer/machine/machines.h"
#include "optimizer/pipeline.h"
#include "optimizer/profile/matching/carried_profile.h"
#include "views/image_info.h"
#include "views/verification.h"

namespace respike::cli {
namespace {

// ---- info ----

struct InfoArguments {
  std::string image;
  bool json = false;
};

std::string library_text(const pe::ImportedLibrary& library) {
  std::string text = fmt::format("{}: {}", printable(library.name), library.functions);
  if (library.by_number != 0) text += fmt::format(", {} by number", library.by_number);
  return text + (library.delayed ? ", with delay" : "");
}

/// Prints how an image of Windows depends on others.
void print_linkage(const pe::Linkage& linkage) {
  uint32_t functions = 0;
  for (const pe::ImportedLibrary& library : linkage.libraries) functions += library.functions;
  const size_t count = linkage.libraries.size();
  fmt::print("imports                {} of {} librar{}\n", functions, count,
             count == 1 ? "y" : "ies");
  for (const pe::ImportedLibrary& library : linkage.libraries)
    fmt::print("  {}\n", library_text(library));
  fmt::print(
      "exports                {}{}\n", linkage.exports,
      linkage.forwarders == 0 ? "" : fmt::format(", {} of them forwarded", linkage.forwarders));
  if (linkage.thread_data) fmt::print("thread-local data      yes\n");
}

Json linkage_to_json(const pe::Linkage& linkage) {
  Json libraries = Json::array();
  for (const pe::ImportedLibrary& library : linkage.libraries)
    libraries.push_back({{"name", library.name},
                         {"functions", library.functions},
                         {"by_number", library.by_number},
                         {"delayed", library.delayed}});
  return {{"libraries", libraries},
          {"exports", linkage.exports},
          {"forwarders", linkage.forwarders},
          {"thread_data", linkage.thread_data}};
}

void print_info(const ImageInfo& info) {
  const ProgramSummary& s = info.summary;
  fmt::print("format                 {}, {}\n", info.format, info.kind);
  fmt::print("machine                {}\n", info.machine);
  fmt::print("procedures             {}\n", s.procedures);
  fmt::print("basic blocks           {}\n", s.blocks);
  fmt::print("instructions           {}\n", s.instructions);
  fmt::print("text bytes             {}\n", s.text_bytes);
  fmt::print("relocations            {}\n", s.relocations);
  fmt::print("opaque procedures      {} ({})\n", s.opaque.size(),
             percent(s.opaque.size(), s.procedures));
  fmt::print("opaque bytes           {} ({})\n", s.opaque_bytes,
             percent(s.opaque_bytes, s.text_bytes));
  for (const ProcedureNote& note : s.opaque)
    fmt::print("  {}: {}\n", shown_name(note.name), note.reason);
  fmt::print("pinned procedures      {}\n", s.pinned.size());
  for (const ProcedureNote& note : s.pinned)
    fmt::print("  {}: {}\n", shown_name(note.name), note.reason);
  if (info.linkage) print_linkage(*info.linkage);
}

void run_info(const InfoArguments& arguments) {
  Diagnostics diagnostics;
  const Image image = read_image(std::filesystem::path(arguments.image));
  require_machine(image);
  require_rewritable(image);
  const ImageInfo info = describe_image(lift(image, diagnostics));
  const ProgramSummary& s = info.summary;
  if (arguments.json) {
    Json json = {{"format", info.format},
                 {"kind", info.kind},
                 {"machine", info.machine},
                 {"procedures", s.procedures},
                 {"opaque_procedures", s.opaque.size()},
                 {"opaque", notes_to_json(s.opaque)},
                 {"pinned", notes_to_json(s.pinned)},
                 {"blocks", s.blocks},
                 {"instructions", s.instructions},
                 {"text_bytes", s.text_bytes},
                 {"opaque_bytes", s.opaque_bytes},
                 {"relocations", s.relocations},
                 {"build_id", info.build_id}};
    if (info.linkage) json["linkage"] = linkage_to_json(*info.linkage);
    fmt::print("{}\n", text_of(json));
  } else {
    print_info(info);
  }
  print_warnings(diagnostics);
}

// ---- optimize ----

struct OptimizeArguments {
  std::string image, output, report, address_map;
  std::string layout, profile;
  std::string hot_cold;
  DebugFileArguments debug_file;
  OptimizeOptions options;
  bool seed_is_given = false;
};

double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

Json removed_to_json(const Removed& removed) {
  return {{"instructions", removed.instructions}, {"executed", removed.executed}};
}

Json hot_cold_to_json(const HotColdNote& note) {
  Json json = {{"name", note.name},       {"category", name_of(note.category)},
               {"reason", note.reason},   {"executed", note.executed},
               {"removed", note.removed}, {"instructions", note.instructions},
               {"leaf", note.leaf}};
  if (note.category != HotColdNote::Category::optimized) return json;
  const CommittedBlocks& parts = note.parts;
  json.update({{"copied_instructions", parts.copied_instructions},
               {"hot_instructions", parts.hot_instructions},
               {"clone_instructions", parts.clone_instructions},
               {"stub_instructions", parts.stub_instructions},
               {"hot_executed", parts.hot_executed},
               {"cold_executed", note.cold_executed},
               {"hot_leaf", parts.hot_calls == 0}});
  return json;
}

/// Shares are relative to executed instructions, by the profile.
Json hot_cold_to_json(const HotColdResult& result) {
  Json coverage = Json::object(), procedures = Json::array();
  for (const HotColdNote& note : result.notes) {
    const std::string category(name_of(note.category));
    Json& sum = coverage[category];
    sum = (sum.is_null() ? 0.0 : sum.get<double>()) + share(note.executed, result.executed);
    procedures.push_back(hot_cold_to_json(note));
  }
  return {{"executed", result.executed},
          {"coverage", coverage},
          {"procedures", procedures},
          {"partial_dead_code", removed_to_json(result.removed.partial_dead_code)},
          {"preserved_registers", removed_to_json(result.removed.preserved_registers)},
          {"return_address", removed_to_json(result.removed.return_address)},
          {"stack_adjusts", removed_to_json(result.removed.stack_adjusts)},
          {"copies", removed_to_json(result.removed.copies)},
          {"branches", removed_to_json(result.removed.branches)},
          {"loads", removed_to_json(result.removed.loads)},
          {"stores", removed_to_json(result.removed.stores)},
          {"hot_instructions", result.hot_instructions},
          {"clone_instructions", result.clone_instructions},
          {"stub_instructions", result.stub_instructions},
          {"hot_entered", result.hot_entered},
          {"stubs_entered", result.stubs_entered}};
}

Json cost_to_json(const Forecast::Cost& cost) {
  return {{"instructions", cost.executed.instructions},
          {"taken_branches", cost.executed.taken},
          {"miss_cycles", cost.misses},
          {"cycles", cost.cycles}};
}

Json forecast_to_json(const OptimizeResult& result) {
  Json procedures = Json::array();
  for (const Forecast::Change& each : result.gain.forecast.procedures)
    procedures.push_back({{"name", each.name},
                          {"instructions_before", each.input.instructions},
                          {"instructions_after", each.output.instructions},
                          {"taken_branches_before", each.input.taken},
                          {"taken_branches_after", each.output.taken},
                          {"other_order", each.kept}});
  return {{"left_as_it_is", result.gain.left_as_it_is},
          {"missed_gain", result.gain.missed_gain},
          {"before", cost_to_json(result.gain.forecast.input)},
          {"after", cost_to_json(result.gain.forecast.output)},
          {"unknown_calls", result.gain.forecast.unknown_calls},
          {"procedures", std::move(procedures)}};
}

std::string report_text(const OptimizeArguments& arguments, const Image& image,
                        const FittedProfile& fitted, const OptimizeResult& result,
                        const Diagnostics& diagnostics) {
  Json timings = Json::object();
  for (const Timing& timing : result.timings)  // a step may be in the list twice
    timings[timing.step] = timings.value(timing.step, 0.0) + timing.seconds;
  const AnnotateResult& annotated = result.annotated;
  const auto& match = fitted.match;
  const double known = share(annotated.instructions_matched, annotated.instructions);
  Json json = {{"input", arguments.image},
               {"output", arguments.output},
               {"layout", arguments.layout},
               {"seed", arguments.options.seed},
               {"procedures", result.procedures},
               {"moved_procedures", result.moved},
               {"opaque_procedures", result.opaque.size()},
               {"opaque", notes_to_json(result.opaque)},
               {"pinned", notes_to_json(result.pinned)},
               {"profile", arguments.profile},
               {"profiled_procedures", match ? match->procedures_matched : annotated.matched},
               {"profiled_share", match ? match->matched_share() : known},
               {"profile_confidence", match ? match->confidence : known},
               {"dropped_nops", result.dropped_nops},
               {"direct_imports", result.direct_imports},
               {"copied_tails", result.copied_tails},
               {"changed_hints", result.changed_hints},
               {"dropped_gp_loads", result.dropped_gp_loads},
               {"hot_cold", hot_cold_to_json(result.hot_cold)},
               {"expected", forecast_to_json(result)},
               {"fragments", result.emitted.fragments},
               {"text_bytes", result.emitted.text_bytes},
               {"added_text_bytes", result.emitted.added_text_bytes},
               {"far_stubs", result.emitted.far_stubs},
               {"input_bytes", image.file.size()},
               {"output_bytes", result.bytes.size()},
               {"seconds", timings},
               {"warnings", diagnostics.warnings()}};
  if (match) json["profile_match"] = match_to_json(*match);
  return text_of(json) + "\n";
}

/// A line for each instruction of movable code: its present and its previous place.
std::string places_text(const std::vector<PlacedInstruction>& places) {
  std::string text;
  for (const PlacedInstruction& place : places) {
    if (place.kind == PlacedInstruction::Kind::own)
      text += fmt::format("{:x} {:x}\n", place.address, place.old_address);
    else
      text += fmt::format("{:x} - {}\n", place.address,
                          place.kind == PlacedInstruction::Kind::added ? "added" : "stub");
  }
  return text;
}

/// Why hot-cold optimization is not possible; nullopt if it is possible, whether or not the user
/// wants it.
std::optional<std::string> hot_cold_obstacle(const OptimizeOptions& options, const Image& image) {
  const Machine& machine = machine_for(image);
  if (machine.rewrite == nullptr && machine.costs.copied_tail == 0)
    return fmt::format("for {} images yet", machine.name);
  if (options.profile == nullptr) return "without a profile";
  if (std::string_view(best_layout(*options.profile)) != kBestLayout)
    return "by a profile in which nothing ran";
  if (options.order != OptimizeOptions::Order::profiled)
    return "in a layout that goes by no counts";
  return std::nullopt;
}

void run_optimize(OptimizeArguments& arguments) {
  refuse_overwriting(arguments.output, {arguments.profile});
  refuse_overwriting(arguments.report, {arguments.profile, arguments.image, arguments.output});
  Diagnostics diagnostics;
  const Image image = read_image(std::filesystem::path(arguments.image));
  require_machine(image);
  const auto debug_file = read_debug_file(
      arguments.debug_file, arguments.output,
      {arguments.image, arguments.profile, arguments.report, arguments.address_map});
  if (debug_file) arguments.options.debug_file = &*debug_file;
  arguments.options.debug_file_name = link_name(arguments.debug_file);
  FittedProfile fitted;
  if (!arguments.profile.empty())
    fitted = read_fitting_profile(arguments.profile, image, diagnostics);
  // A layout or procedures that the user asks for are written even if they gain nothing.
  arguments.options.only_if_gained =
      arguments.layout.empty() && arguments.options.only.empty() && arguments.options.skip.empty();
  if (arguments.layout.empty()) arguments.layout = best_layout(fitted.profile);
  parse_layout(arguments.layout, arguments.options);
  arguments.options.hot_cold = arguments.hot_cold != "off";
  if (!arguments.profile.empty()) {
    arguments.options.profile = &fitted.profile;
    if (arguments.options.order != OptimizeOptions::Order::profiled)
      diagnostics.warn(fmt::format("the profile is not used: the layout {} goes by no counts",
                                   arguments.layout));
  }
  if (arguments.seed_is_given && arguments.layout != "random" && arguments.layout != "scatter")
    diagnostics.warn(
        fmt::format("the seed is not used: the layout {} draws nothing", arguments.layout));
  const auto obstacle = hot_cold_obstacle(arguments.options, image);
  if (obstacle && arguments.hot_cold == "on")
    diagnostics.warn("there is no hot-cold optimization " + *obstacle);
  arguments.options.description =
      fmt::format("--layout {} --seed {} --hot-cold {}", arguments.layout, arguments.options.seed,
                  arguments.options.hot_cold && !obstacle ? "on" : "off");
  if (arguments.options.dynamic_fragments) arguments.options.description += " --dynamic-fragments";
  arguments.options.fingerprint = kFingerprint;
  ProgressBar bar;
  arguments.options.progress = [&bar](std::string_view step, double done) { bar.show(step, done); };
  arguments.options.list_places = !arguments.address_map.empty();
  const OptimizeResult result = optimize(image, arguments.options, diagnostics);
  if (result.warning) diagnostics.warn(*result.warning);
  bar.clear();
  std::vector<OutputFile> outputs = {{arguments.output, result.bytes, arguments.image}};
  if (debug_file)
    outputs.push_back({arguments.debug_file.output, result.debug_file, arguments.debug_file.input});
  std::string report;
  if (!arguments.report.empty()) {
    report = report_text(arguments, image, fitted, result, diagnostics);
    outputs.push_back({arguments.report, bytes_of(report), {}});
  }
  std::string places;
  if (!arguments.address_map.empty()) {
    places = places_text(result.places);
    outputs.push_back({arguments.address_map, bytes_of(places), {}});
  }
  write_files(outputs);
  if (result.annotated.entered != 0)
    fmt::print("expected of this image's code by the profile: {}\n", describe(result.gain));
  print_warnings(diagnostics);
}

// ---- verify ----

struct VerifyArguments {
  std::string before, after;
};

void run_verify(const VerifyArguments& arguments) {
  Diagnostics diagnostics;
  const std::string compared = verify_files(arguments.before, arguments.after, diagnostics);
  fmt::print("{} behaves as {} ({})\n", arguments.after, arguments.before, compared);
}

std::string layout_problem(const std::string& text) {
  OptimizeOptions ignored;
  return parse_layout(text, ignored).value_or("");
}

/// The arguments of a subcommand; the parser keeps them alive until the action runs.
template <typename Arguments>
std::shared_ptr<Arguments> arguments_of(CLI::App& command, void (*run)(Arguments&)) {
  auto arguments = std::make_shared<Arguments>();
  command.callback([arguments, run] { run(*arguments); });
  return arguments;
}

}  // namespace

void add_image_commands(CLI::App& app) {
  CLI::App* image = app.add_subcommand("image", "Work on image files");
  image->require_subcommand(1);

  CLI::App* info = image->add_subcommand("info", "What an image holds, and what is opaque and why");
  auto info_arguments = arguments_of<InfoArguments>(*info, [](InfoArguments& a) { run_info(a); });
  info->add_option("IMAGE", info_arguments->image, "executable or shared library")->required();
  info->add_flag("--json", info_arguments->json, "print JSON");
  add_demangle_option(*info);

  add_disasm_command(*image);

  CLI::App* optimize = image->add_subcommand("optimize", "Write a rewritten image, checked");
  auto optimize_arguments =
      arguments_of<OptimizeArguments>(*optimize, [](OptimizeArguments& a) { run_optimize(a); });
  optimize->add_option("IMAGE", optimize_arguments->image, "executable or shared library")
      ->required();
  add_output_option(*optimize, optimize_arguments->output, "file to write");
  optimize
      ->add_option("--layout", optimize_arguments->layout,
                   "original: the order of the input; random: every block of every movable "
                   "procedure moved; scatter: blocks anywhere in the text; or a list out of "
                   "ext-tsp, split, colour")
      ->check(CLI::Validator(layout_problem, "LIST"))
      ->default_str(fmt::format("{}; without a profile {}", kBestLayout, kBestLayoutByEstimates));
  optimize
      ->add_option("--profile", optimize_arguments->profile,
                   "how it ran; without one, estimates from the shape of the code")
      ->check(name_of("FILE"));
  optimize
      ->add_option("--hot-cold", optimize_arguments->hot_cold,
                   "on: fewer instructions where the profile says that code runs often")
      ->check(one_of({"on", "off"}))
      ->default_str("on with a profile");
  add_dynamic_fragments_option(*optimize, optimize_arguments->options.dynamic_fragments);
  optimize->add_option("--seed", optimize_arguments->options.seed, "seed of random orders")
      ->check(whole_number())
      ->each([optimize_arguments](const std::string&) { optimize_arguments->seed_is_given = true; })
      ->capture_default_str();
  optimize
      ->add_option("--only", optimize_arguments->options.only,
                   "move only this procedure, NAME or NAME@ADDRESS (repeatable)")
      ->allow_extra_args(false);
  optimize
      ->add_option("--skip", optimize_arguments->options.skip,
                   "leave this procedure in place, NAME or NAME@ADDRESS (repeatable)")
      ->allow_extra_args(false);
  optimize->add_option("--report", optimize_arguments->report, "write what was done as JSON")
      ->check(name_of_output());
  optimize->add_option("--address-map", optimize_arguments->address_map, "for tests")
      ->check(name_of_output())
      ->group(kHidden);

  add_debug_file_options(*optimize, optimize_arguments->debug_file);

  CLI::App* verify = image->add_subcommand("verify", "Prove that two images run the same code");
  auto verify_arguments =
      arguments_of<VerifyArguments>(*verify, [](VerifyArguments& a) { run_verify(a); });
  verify->add_option("IMAGE", verify_arguments->before, "the original")->required();
  verify->add_option("OUT", verify_arguments->after, "the rewritten image")->required();
}

}  // namespace respike::cli

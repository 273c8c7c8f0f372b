// respike image instrument.

#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "applications/file_checks.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/debug_files.h"
#include "cli/messages.h"
#include "cli/progress_bar.h"
#include "instrument/instrument.h"
#include "optimizer/base/deferred_signals.h"
#include "optimizer/profile/matching/carried_profile.h"

namespace respike::cli {
namespace {

struct InstrumentArguments {
  std::string image, output, weights, block_map;
  std::string spool = "respike-spool";
  std::string counters = "shared";
  DebugFileArguments debug_file;
  bool json = false;
};

void print_result(const InstrumentArguments& arguments, const InstrumentResult& r) {
  if (arguments.json) {
    const Json json = {{"procedures", r.procedures},
                       {"instrumented_procedures", r.instrumented},
                       {"unused_procedures", r.unused},
                       {"left_out", notes_to_json(r.left_out)},
                       {"blocks", r.blocks},
                       {"counters", r.counters},
                       {"counted_blocks", r.counted_blocks},
                       {"indirect_sites", r.indirect_sites},
                       {"probes", r.probes.probes},
                       {"probes_that_save_registers", r.probes.saved_registers},
                       {"probes_without_gp", r.probes.without_gp},
                       {"text_bytes", r.text_bytes},
                       {"new_text_bytes", r.new_text_bytes}};
    fmt::print("{}\n", text_of(json));
    return;
  }
  fmt::print("instrumented procedures  {} of {}\n", r.instrumented, r.procedures);
  fmt::print("unused procedures        {}\n", r.unused);
  fmt::print("blocks with a counter    {} of {} ({})\n", r.counted_blocks, r.blocks,
             percent(r.counted_blocks, r.blocks));
  fmt::print("edges with a counter     {}\n", r.counters - r.counted_blocks);
  fmt::print("indirect jumps and calls {}\n", r.indirect_sites);
  fmt::print("code                     {} bytes, {} more\n", r.new_text_bytes,
             percent(r.new_text_bytes - r.text_bytes, r.text_bytes));
  fmt::print("no free register         {} of {} probes\n", r.probes.saved_registers,
             r.probes.probes);
}

/// One line per block: its address before and after.
std::string block_map(const InstrumentResult& result) {
  std::string text;
  for (const auto& [before, after] : result.block_addresses)
    fmt::format_to(std::back_inserter(text), "{:x} {:x}\n", before, after);
  return text;
}

/// Makes a folder and the missing folders above it, and removes them again unless kept.
class NewFolder {
 public:
  explicit NewFolder(const std::filesystem::path& path) {
    std::error_code error;
    for (auto each = path; !each.empty() && !exists(each, error) && each != each.parent_path();
         each = each.parent_path())
      made_.push_back(each);
    std::filesystem::create_directories(path, error);
    if (!error) return;
    remove();
    throw Error(fmt::format("the spool cannot be made: {}", error.message()), path);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder() { remove(); }
  void keep() { made_.clear(); }

 private:
  void remove() const {
    std::error_code ignored;
    for (const auto& path : made_) std::filesystem::remove(path, ignored);
  }

  std::vector<std::filesystem::path> made_;  // innermost first
};

/// Writes the image, its block map and its spool: all or none.
void write_result(const InstrumentArguments& arguments, const InstrumentOptions& options,
                  const InstrumentResult& result) {
  const DeferredSignals signals;
  NewFolder spool(options.spool);
  std::vector<OutputFile> outputs = {{arguments.output, result.bytes, arguments.image}};
  if (!arguments.debug_file.input.empty())
    outputs.push_back({arguments.debug_file.output, result.debug_file, arguments.debug_file.input});
  const std::string map = block_map(result);
  if (!arguments.block_map.empty()) outputs.push_back({arguments.block_map, bytes_of(map), {}});
  write_files(outputs);
  spool.keep();
}

void run_instrument(InstrumentArguments& arguments) {
  refuse_overwriting(arguments.output, {arguments.weights});
  refuse_overwriting(arguments.block_map, {arguments.image, arguments.output, arguments.weights});
  Diagnostics diagnostics;
  const Image image = read_image(std::filesystem::path(arguments.image));
  require_machine(image);
  InstrumentOptions options;
  const auto debug_file =
      read_debug_file(arguments.debug_file, arguments.output,
                      {arguments.image, arguments.weights, arguments.block_map});
  if (debug_file) options.debug_file = &*debug_file;
  options.debug_file_name = link_name(arguments.debug_file);
  options.spool = std::filesystem::absolute(arguments.spool).lexically_normal();
  options.output = std::filesystem::absolute(arguments.output).lexically_normal();
  options.counters = counters_named(arguments.counters).value_or(Counters::shared);
  options.description = fmt::format("instrument --counters {}", arguments.counters);
  std::optional<Profile> weights;
  if (!arguments.weights.empty()) {
    weights = read_weights(arguments.weights, image, diagnostics);
    if (weights) options.weights = &*weights;
  }
  ProgressBar bar;
  options.progress = [&bar](std::string_view step, double done) { bar.show(step, done); };
  const InstrumentResult result = instrument(image, options, diagnostics);
  if (result.warning) diagnostics.warn(*result.warning + "; --json says why");
  bar.clear();
  write_result(arguments, options, result);
  print_result(arguments, result);
  print_warnings(diagnostics);
}

}  // namespace

void add_instrument_command(CLI::App& image) {
  CLI::App* command = image.add_subcommand(
      "instrument", "Write an image that counts how often its blocks and edges run");
  auto arguments = std::make_shared<InstrumentArguments>();
  command->callback([arguments] { run_instrument(*arguments); });
  command->add_option("IMAGE", arguments->image, "executable or shared library")->required();
  add_output_option(*command, arguments->output, "file to write");
  command
      ->add_option("--spool", arguments->spool,
                   "directory for counter files; made if there is none")
      ->check(name_of("DIR"))
      ->capture_default_str();
  add_counters_option(*command, arguments->counters);
  command->add_option("--weights", arguments->weights,
                      "a profile of this build or an older one: counters go where it ran seldom");
  command
      ->add_option("--block-map", arguments->block_map,
                   "write where the counted blocks went: old and new address, a block a line")
      ->check(name_of_output())
      ->group(kHidden);
  add_debug_file_options(*command, arguments->debug_file);
  command->add_flag("--json", arguments->json, "print JSON");
}

}  // namespace respike::cli

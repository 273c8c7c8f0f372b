// `respike image ...`: commands that work on image files.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/fitting.h"
#include "cli/messages.h"
#include "cli/progress_bar.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/text.h"
#include "optimizer/lift/lift.h"
#include "optimizer/pipeline.h"
#include "optimizer/target/targets.h"

namespace respike::cli {
namespace {

// ---- info ----

struct InfoArguments {
  std::string image;
  bool json = false;
};

std::string_view kind_name(const Image& image) {
  switch (image.kind) {
    case Image::Kind::executable:
      return image.dynamic ? "dynamic executable" : "static executable";
    case Image::Kind::pie:
      return "position-independent executable";
    case Image::Kind::shared_library:
      return "shared library";
  }
  return "";
}

void print_info(const Image& image, const Program& program, const ProgramSummary& s) {
  fmt::print("format                 {}, {}\n", image.format, kind_name(image));
  fmt::print("machine                {}\n", program.target->name());
  fmt::print("procedures             {}\n", s.procedures);
  fmt::print("basic blocks           {}\n", s.blocks);
  fmt::print("instructions           {}\n", s.instructions);
  fmt::print("text bytes             {}\n", s.text_bytes);
  fmt::print("relocations            {}\n", s.relocations);
  fmt::print("opaque procedures      {} ({})\n", s.opaque.size(),
             percent(s.opaque.size(), s.procedures));
  fmt::print("opaque bytes           {} ({})\n", s.opaque_bytes,
             percent(s.opaque_bytes, s.text_bytes));
  for (const ProcedureNote& note : s.opaque) fmt::print("  {}: {}\n", note.name, note.reason);
  fmt::print("pinned procedures      {}\n", s.pinned.size());
  for (const ProcedureNote& note : s.pinned) fmt::print("  {}: {}\n", note.name, note.reason);
}

void run_info(const InfoArguments& arguments) {
  Diagnostics diagnostics;
  const Image image = read_image(std::filesystem::path(arguments.image));
  require_target(image);
  require_rewritable(image);
  const Program program = lift(image, diagnostics);
  const ProgramSummary s = summarize(program);
  if (arguments.json) {
    const Json json = {{"format", image.format},
                       {"kind", kind_name(image)},
                       {"machine", program.target->name()},
                       {"procedures", s.procedures},
                       {"opaque_procedures", s.opaque.size()},
                       {"opaque", notes_to_json(s.opaque)},
                       {"pinned", notes_to_json(s.pinned)},
                       {"blocks", s.blocks},
                       {"instructions", s.instructions},
                       {"text_bytes", s.text_bytes},
                       {"opaque_bytes", s.opaque_bytes},
                       {"relocations", s.relocations},
                       {"build_id", image.build_id}};
    fmt::print("{}\n", text_of(json));
  } else {
    print_info(image, program, s);
  }
  print_warnings(diagnostics);
}

// ---- disasm ----

struct DisasmArguments {
  std::string image, profile;
  std::vector<std::string> procedures;
  bool objdump = false;
  bool ir = false;
};

/// Every unit of every executable section as objdump has it: address, what the decoded instruction
/// encodes to, text.
void print_raw(const Image& image) {
  const Target& target = target_for(image.machine);
  const unsigned unit = target.code_alignment();
  for (const Section& section : image.sections) {
    if (!section.allocated() || !section.executable() || section.contents.empty()) continue;
    const auto code = section.contents.first(section.contents.size() / unit * unit);
    std::vector<Instruction> instructions(target.decoded_count(code));
    target.decode(code, 0, instructions.data());
    std::string out;
    std::vector<uint8_t> encoded;
    for (const Instruction& instruction : instructions) {
      const uint64_t address = section.address + instruction.origin;
      encoded.clear();
      target.encode({&instruction, 1}, encoded);
      uint32_t word = 0;
      std::copy_n(encoded.data(), std::min(encoded.size(), sizeof word),
                  reinterpret_cast<uint8_t*>(&word));
      fmt::format_to(std::back_inserter(out), "{:x}: {:08x} {}\n", address, word,
                     target.print(instruction, address));
    }
    fmt::print("{}", out);
  }
}

/// `counts`: how often each way was gone, too.
std::string edges_text(const BasicBlock& block, bool counts) {
  std::string text;
  for (const Edge& edge : block.successors) {
    const char* kind = edge.kind == Edge::Kind::taken         ? "taken "
                       : edge.kind == Edge::Kind::indirect    ? "indirect "
                       : edge.kind == Edge::Kind::landing_pad ? "landing pad "
                                                              : "";
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", kind, edge.target);
    if (counts) text += fmt::format(" ({})", grouped(edge.count));
  }
  return text;
}

std::string location_text(const Program& program, const CodeLocation& location) {
  if (location.where == CodeLocation::Where::address) return fmt::format("{:#x}", location.address);
  const std::string block = location.block == 0 ? "" : fmt::format(":{}", location.block);
  return fmt::format("{}{}{}",
                     location.where == CodeLocation::Where::return_point ? "return of " : "",
                     program[location.procedure].name, block);
}

/// The instruction as it stands in the input, with the numbers that references replaced.
std::string input_text(const Program& program, const Instruction& instruction) {
  if (instruction.origin == kNone) return program.target->print(program.target->branch(), 0);
  const uint64_t address = program.origin_base + instruction.origin;
  const auto bytes = program.image->bytes_at(address, program.target->code_alignment());
  Instruction read = instruction;
  if (bytes) program.target->decode(*bytes, instruction.origin, &read);
  return program.target->print(read, address);
}

std::string counted(uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

void print_listing(const Program& program, const Procedure& procedure, bool counts) {
  fmt::print("\n{:x} <{}>: {}, {}", procedure.address, procedure.name,
             counted(procedure.size, "byte"), counted(procedure.blocks.size(), "block"));
  if (!procedure.reason.empty())
    fmt::print(", {}: {}", procedure.state == Procedure::State::opaque ? "opaque" : "pinned",
               procedure.reason);
  fmt::print("\n");
  for (BlockId id = 0; id < procedure.blocks.size(); ++id) {
    const BasicBlock& block = procedure.blocks[id];
    const std::string edges = edges_text(block, counts);
    fmt::print("  block {}{}{}\n", id, counts ? fmt::format(" ({})", grouped(block.count)) : "",
               edges.empty() ? "" : " -> " + edges);
    for (const Instruction& instruction : block.instructions) {
      if (instruction.is_pseudo()) continue;
      const std::string address =
          instruction.origin == kNone
              ? "added"
              : fmt::format("{:x}", program.origin_base + instruction.origin);
      std::string note;
      if (instruction.has_reference())
        note = "  ; " + location_text(program, procedure.references[instruction.immediate].target);
      std::string text = input_text(program, instruction);
      for (char& c : text) c = c == '\t' ? ' ' : c;
      fmt::print("    {}:  {}{}\n", address, text, note);
    }
  }
}

void run_disasm(const DisasmArguments& arguments) {
  Diagnostics diagnostics;
  const Image image = read_image(std::filesystem::path(arguments.image));
  require_target(image);
  if (arguments.objdump) return print_raw(image);
  require_rewritable(image);
  Program program = lift(image, diagnostics);
  const bool counts = !arguments.profile.empty();
  if (counts)
    annotate(program, read_fitting_profile(arguments.profile, image, diagnostics).profile);
  if (arguments.ir && arguments.procedures.empty()) {
    fmt::print("{}", print(program));
    return;
  }
  const std::vector<bool> chosen = procedures_named(program, arguments.procedures);
  for (ProcedureId id = 0; id < program.procedures.size(); ++id) {
    if (!arguments.procedures.empty() && !chosen[id]) continue;
    const Procedure& procedure = program[id];
    if (arguments.ir)
      fmt::print("{}", print(program, procedure));
    else
      print_listing(program, procedure, counts);
  }
  print_warnings(diagnostics);
}

// ---- optimize ----

constexpr const char* kBestLayout = "ext-tsp,split,colour";

struct OptimizeArguments {
  std::string image, output, report;
  std::string layout = kBestLayout, profile;
  OptimizeOptions options;
};

/// Sets the options that a list of words names; nullopt, or what is wrong with it.
std::optional<std::string> parse_layout(std::string_view list, OptimizeOptions& options) {
  using Order = OptimizeOptions::Order;
  using Blocks = LayoutOptions::Blocks;
  using Pieces = LayoutOptions::Pieces;
  for (const auto& [name, order] : {std::pair{"original", Order::original},
                                    {"random", Order::random},
                                    {"scatter", Order::scatter}})
    if (list == name) {
      options.order = order;
      return std::nullopt;
    }
  options.order = Order::profiled;
  LayoutOptions& layout = options.layout;
  layout = {.blocks = Blocks::original, .split = false, .pieces = Pieces::original};
  const auto set = [&]<typename T>(T& choice, T value) {
    const bool again = choice != T{};
    choice = value;
    return !again;
  };
  for (bool more = true; more;) {
    const size_t comma = list.find(',');
    const std::string_view word = list.substr(0, comma);
    more = comma != std::string_view::npos;
    if (more) list.remove_prefix(comma + 1);
    bool fine = false;
    if (word == "chain") fine = set(layout.blocks, Blocks::chain);
    if (word == "ext-tsp") fine = set(layout.blocks, Blocks::ext_tsp);
    if (word == "split") fine = set(layout.split, true);
    if (word == "place") fine = set(layout.pieces, Pieces::place);
    if (word == "segments") fine = set(layout.pieces, Pieces::segments);
    if (word == "colour") fine = set(layout.pieces, Pieces::colour);
    if (word == "cdsort") fine = set(layout.pieces, Pieces::cache_sorted);
    if (!fine)
      return fmt::format(
          "\"{}\" is out of place: a layout is original, random, scatter, or a list out of "
          "chain|ext-tsp, split, place|segments|colour|cdsort",
          word);
  }
  return std::nullopt;
}

double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void write_report(const OptimizeArguments& arguments, const Image& image,
                  const FittedProfile& fitted, const OptimizeResult& result,
                  const Diagnostics& diagnostics) {
  Json timings = Json::object();
  for (const Timing& timing : result.timings) timings[timing.step] = timing.seconds;
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
               {"fragments", result.emitted.fragments},
               {"text_bytes", result.emitted.text_bytes},
               {"added_text_bytes", result.emitted.added_text_bytes},
               {"far_stubs", result.emitted.far_stubs},
               {"input_bytes", image.file.size()},
               {"output_bytes", result.bytes.size()},
               {"seconds", timings},
               {"warnings", diagnostics.warnings()}};
  if (match) json["profile_match"] = match_to_json(*match);
  const std::string text = text_of(json) + "\n";
  write_file(arguments.report, {reinterpret_cast<const uint8_t*>(text.data()), text.size()}, {});
}

void run_optimize(OptimizeArguments& arguments) {
  refuse_overwriting(arguments.output, {arguments.profile});
  refuse_overwriting(arguments.report, {arguments.profile});
  for (const std::string* other : {&arguments.output, &arguments.image})
    if (!arguments.report.empty() && std::filesystem::weakly_canonical(arguments.report) ==
                                         std::filesystem::weakly_canonical(*other))
      throw Error("the report would overwrite the input or the output", arguments.report);
  Diagnostics diagnostics;
  const Image image = read_image(std::filesystem::path(arguments.image));
  require_target(image);
  parse_layout(arguments.layout, arguments.options);
  FittedProfile fitted;
  if (!arguments.profile.empty()) {
    fitted = read_fitting_profile(arguments.profile, image, diagnostics);
    arguments.options.profile = &fitted.profile;
  }
  arguments.options.description =
      fmt::format("--layout {} --seed {}", arguments.layout, arguments.options.seed);
  ProgressBar bar;
  arguments.options.progress = [&bar](std::string_view step, double done) { bar.show(step, done); };
  const OptimizeResult result = optimize(image, arguments.options, diagnostics);
  bar.clear();
  // The report first: a failure must not leave an output behind.
  if (!arguments.report.empty()) write_report(arguments, image, fitted, result, diagnostics);
  try {
    write_file(arguments.output, result.bytes, arguments.image);
  } catch (const Error&) {
    std::error_code ignored;
    if (!arguments.report.empty()) std::filesystem::remove(arguments.report, ignored);
    throw;
  }
  print_warnings(diagnostics);
}

// ---- verify ----

struct VerifyArguments {
  std::string before, after;
};

void run_verify(const VerifyArguments& arguments) {
  Diagnostics diagnostics;
  const Image before = read_image(std::filesystem::path(arguments.before));
  const Image after = read_image(std::filesystem::path(arguments.after));
  if (const auto difference = verify_images(before, after, diagnostics))
    throw Error(*difference, arguments.after);
  fmt::print("{} behaves as {}\n", arguments.after, arguments.before);
}

/// What is wrong with a seed, or nothing: the parser would clamp numbers that are too large.
std::string seed_problem(const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return {};
  return "a seed is a number from 0 to 18446744073709551615";
}

std::string layout_problem(const std::string& text) {
  OptimizeOptions ignored;
  return parse_layout(text, ignored).value_or("");
}

std::string name_problem(const std::string& path) {
  return path.empty() ? "its name is empty" : "";
}

/// A subcommand with its arguments: the parser keeps them alive until its action runs.
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

  CLI::App* disasm = image->add_subcommand("disasm", "List procedures, blocks and instructions");
  auto disasm_arguments =
      arguments_of<DisasmArguments>(*disasm, [](DisasmArguments& a) { run_disasm(a); });
  disasm->add_option("IMAGE", disasm_arguments->image, "executable or shared library")->required();
  disasm
      ->add_option("--procedure", disasm_arguments->procedures,
                   "only this procedure, NAME or NAME@ADDRESS (repeatable)")
      ->allow_extra_args(false);
  disasm
      ->add_option("--profile", disasm_arguments->profile,
                   "list how often blocks ran, and which ways they went on")
      ->check(CLI::Validator(name_problem, "FILE"));
  disasm->add_flag("--objdump", disasm_arguments->objdump,
                   "every word of every executable section: ADDRESS: WORD TEXT");
  disasm->add_flag("--ir", disasm_arguments->ir,
                   "the text form of the intermediate representation");

  CLI::App* optimize = image->add_subcommand("optimize", "Write a rewritten image, checked");
  auto optimize_arguments =
      arguments_of<OptimizeArguments>(*optimize, [](OptimizeArguments& a) { run_optimize(a); });
  optimize->add_option("IMAGE", optimize_arguments->image, "executable or shared library")
      ->required();
  optimize->add_option("-o,--output", optimize_arguments->output, "file to write")->required();
  optimize
      ->add_option("--layout", optimize_arguments->layout,
                   "original: the order of the input; random: every block of every movable "
                   "procedure moved; scatter: blocks anywhere in the text; or a list out of "
                   "chain|ext-tsp, split, place|segments|colour|cdsort")
      ->check(CLI::Validator(layout_problem, "LIST"))
      ->capture_default_str();
  optimize
      ->add_option("--profile", optimize_arguments->profile,
                   "how it ran; without one, estimates from the shape of the code")
      ->check(CLI::Validator(name_problem, "FILE"));
  optimize->add_option("--seed", optimize_arguments->options.seed, "seed of random orders")
      ->check(CLI::Validator(seed_problem, "0 .. 2^64-1"))
      ->capture_default_str();
  optimize
      ->add_option("--only", optimize_arguments->options.only,
                   "move only this procedure, NAME or NAME@ADDRESS (repeatable)")
      ->allow_extra_args(false);
  optimize
      ->add_option("--skip", optimize_arguments->options.skip,
                   "leave this procedure in place, NAME or NAME@ADDRESS (repeatable)")
      ->allow_extra_args(false);
  optimize->add_option("--report", optimize_arguments->report, "write what was done as JSON");

  CLI::App* verify = image->add_subcommand("verify", "Prove that two images run the same code");
  auto verify_arguments =
      arguments_of<VerifyArguments>(*verify, [](VerifyArguments& a) { run_verify(a); });
  verify->add_option("IMAGE", verify_arguments->before, "the original")->required();
  verify->add_option("OUT", verify_arguments->after, "the rewritten image")->required();
}

}  // namespace respike::cli

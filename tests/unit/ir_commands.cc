// Commands of text cases: each takes the text of a program, or an image that was lifted, through
// one step of the middle, and prints the result in a few lines. Example: for `run: pack` of a block
// that branches to the next block,
//
//   f 0: 4 bytes, branch_dropped

#include "tests/unit/ir_commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <vector>

#include "optimizer/analysis/call_graph.h"
#include "optimizer/analysis/packing.h"
#include "optimizer/base/bytes.h"
#include "optimizer/base/files.h"
#include "optimizer/check/broken_rules.h"
#include "optimizer/check/invariants.h"
#include "optimizer/check/same_program.h"
#include "optimizer/emit/emit.h"
#include "optimizer/emit/emitter.h"
#include "optimizer/emit/placement.h"
#include "optimizer/ir/text/text.h"
#include "optimizer/ir/text/text_words.h"
#include "optimizer/layout/choice.h"
#include "optimizer/lift/lift.h"
#include "optimizer/machine/machines.h"
#include "optimizer/profile/annotate.h"
#include "optimizer/profile/static_counts.h"
#include "optimizer/transform/gp_loads.h"
#include "optimizer/transform/hotcold/hot_cold.h"
#include "optimizer/transform/import_calls.h"
#include "optimizer/transform/nops.h"
#include "optimizer/transform/predictions.h"
#include "optimizer/transform/tail_copies.h"
#include "tests/unit/ir_assembler.h"
#include "tests/unit/ir_text_program.h"

namespace respike {
namespace {

using text::Words;

/// A command with its options, such as `place reach=64`.
struct Command {
  std::string name;
  std::string layout;  // words as --layout takes them
  uint64_t seed = 1;
  std::vector<std::string> after;        // steps that change a lifted program first
  uint64_t reach = FakeMachine::kReach;  // of the fake machine's branches
  uint64_t conditional_reach = FakeMachine::kReach;
  std::optional<uint64_t> added;  // address of the added segment
  bool against_input = false;

  explicit Command(std::string_view text) {
    Words words(text);
    name = words.next();
    const bool has_layout =
        name == "layout" || name == "rewrite" || name == "pack" || name == "place";
    if (has_layout && !words.at_end() && words.peek().find('=') == std::string_view::npos)
      layout = words.next();
    words.take_number("seed", seed);
    words.take_number("reach", reach);
    words.take_number("conditional_reach", conditional_reach);
    if (uint64_t address = 0; words.take_number("added", address)) added = address;
    against_input = words.take("against_input");
    if (std::string_view steps; words.take_value("after", steps))
      for (size_t at = 0; at < steps.size();) {
        const size_t end = std::min(steps.find(',', at), steps.size());
        after.emplace_back(steps.substr(at, end - at));
        at = end + 1;
      }
    words.expect_end();
  }
};

std::string print_checked(const Program& program) {
  if (const auto violation = find_violation(program)) return *violation + "\n";
  return print(program);
}

// ---- layout ----

Layout choose_layout(const Program& program, const Command& command, Forecast* forecast) {
  LayoutChoice choice;
  if (const auto fault = parse_layout(command.layout, choice)) throw Error(*fault);
  choice.seed = command.seed;
  const auto input =
      command.against_input ? executed_in_input(program) : std::vector<ExecutedCode>();
  return make_layout(program, choice, false, input, forecast);
}

std::string describe(const Program& program, const Layout::Fragment& fragment) {
  return fmt::format("{}: {}", program[fragment.procedure].name, fmt::join(fragment.blocks, " "));
}

std::string describe(const Start& start) {
  return fmt::format("aligned to {}{}", start.alignment,
                     start.phase == 0 ? "" : fmt::format(" plus {}", start.phase));
}

/// The order that the command names, or else the given one.
Layout layout_of(const Program& program, const Command& command, const Layout& given) {
  Layout layout = command.layout.empty() ? given : choose_layout(program, command, nullptr);
  if (const auto violation = find_violation(program, layout)) throw Error(*violation);
  return layout;
}

/// One line for each fragment, in order; then what is expected of it.
std::string run_layout(const Program& program, const Command& command) {
  Forecast forecast;
  const Layout layout = choose_layout(program, command, &forecast);
  if (const auto violation = find_violation(program, layout)) return *violation + "\n";
  std::string output;
  for (const Layout::Fragment& fragment : layout.fragments)
    output += fmt::format("{}, {}\n", describe(program, fragment), describe(fragment.start));
  if (!command.against_input) return output;
  for (const Forecast::Change& change : forecast.procedures)
    output +=
        fmt::format("{}: {} instructions, {} taken; in the input {}, {}{}\n", change.name,
                    change.output.instructions, change.output.taken, change.input.instructions,
                    change.input.taken, change.kept ? "; another order was taken" : "");
  return output;
}

// ---- packing and placement ----

constexpr std::array<std::string_view, 6> kEndNames = {
    "kept", "branch_dropped", "inverted", "branch_appended", "inverted_and_appended", "padded"};

std::string run_pack(const Program& program, const Layout& layout) {
  Packing packing(program);
  std::string output;
  for (const Layout::Fragment& fragment : layout.fragments) {
    const ProcedureId id = fragment.procedure;
    packing.pack(id, fragment.blocks);
    for (const BlockId block : fragment.blocks) {
      const BlockEnd end = packing.end(id, block);
      output += fmt::format("{} {}: {} bytes, {}{}\n", program[id].name, block,
                            packing.size(id, block), kEndNames[static_cast<size_t>(end)],
                            packing.is_joined(id, block) ? ", joined" : "");
    }
  }
  return output;
}

std::string describe(const Program& program, const CodeLocation& location) {
  if (location.where == CodeLocation::Where::address) return fmt::format("{:#x}", location.address);
  return fmt::format("{}#{}", program[location.procedure].name, location.block);
}

/// What code fills, in the order of addresses; where branches go that need a stub.
std::string run_place(const Program& program, Layout layout, uint64_t added) {
  const Placement placement(program, layout, added);
  std::string output;
  for (const auto& [start, end] : placement.free_ranges())
    output += fmt::format("free {:x}..{:x}\n", start, end);
  std::multimap<uint64_t, std::string> places;
  for (const PlacedFragment& placed : placement.fragments())
    places.emplace(placed.address,
                   fmt::format("{:x}..{:x} {}\n", placed.address, placed.address + placed.size,
                               describe(program, layout.fragments[placed.fragment])));
  for (const FarStub& stub : placement.stubs())
    places.emplace(stub.address, fmt::format("{:x} {} for {}, to {:x}{}\n", stub.address,
                                             stub.departure ? "departure" : "landing",
                                             describe(program, stub.target), stub.leads_to,
                                             stub.live ? "" : ", not used"));
  for (const auto& [address, line] : places) output += line;
  if (placement.added_end() > placement.added_start())
    output += fmt::format("added {:x}..{:x}\n", placement.added_start(), placement.added_end());
  return output;
}

// ---- emission ----

/// The image that a container would have been asked to write.
Image written_image(const Image& input, const NewImage& output) {
  Image image;
  image.path = input.path;
  image.entry = output.entry;
  image.sections = input.sections;
  for (Section& section : image.sections)
    section.contents = std::span(output.contents).subspan(section.offset, section.size);
  for (const NewImage::AddedSection& added : output.added) {
    Section& section = image.sections.emplace_back();
    section.name = added.name;
    section.kind = added.kind;
    section.properties = added.properties;
    section.address = added.address;
    section.size = added.contents.size();
    section.contents = added.contents;
  }
  image.symbols = output.symbols;
  image.relocations = output.relocations;
  return image;
}

std::string run_emit(const TextProgram& text, uint64_t added) {
  Layout layout = text.layout();
  const Placement placement(text.program, layout, added);
  Diagnostics diagnostics;
  const AddedSegment segment;
  Emitter emitter(text.program, layout, placement, segment, diagnostics);
  emitter.write_unwind_tables();
  emitter.write_code();
  emitter.write_code_pointers();
  emitter.write_symbols(true);
  emitter.write_relocations();
  emitter.write_dynamic_section();
  return list_image(written_image(text.image, emitter.output()), *text.program.machine);
}

// ---- counts and their effects ----

std::string list_counts(const Program& program) {
  std::string output;
  for (const Procedure& procedure : program.procedures)
    for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
      output += fmt::format("{} {}: {}", procedure.name, b, procedure.blocks[b].count);
      for (const Edge& edge : procedure.blocks[b].successors)
        output += fmt::format(", {} to {}", edge.count, edge.target);
      output += '\n';
    }
  return output;
}

std::string run_gp_loads(Program& program) {
  std::optional<CallGraph> calls;
  const DroppedGpLoads dropped = drop_gp_loads(program, calls);
  std::string output;
  for (const GpLoad& load : dropped.loads)
    output += fmt::format("dropped from {} {}\n", program[load.procedure].name, load.block);
  return output + print_checked(program);
}

/// The counts that the first program gives the second.
std::string run_annotate(const TextProgram& first, const std::string& second) {
  TextProgram other(second);
  const AnnotateResult result = annotate(other.program, profile_of(first.program));
  return fmt::format("{} of {} procedures matched\n", result.matched, result.procedures) +
         list_counts(other.program);
}

// ---- all commands ----

std::string run_addressed(const Command& command, const std::string& first,
                          const std::string& second) {
  TextProgram text(first, command.reach, command.conditional_reach);
  const uint64_t added = command.added.value_or(0x4000);
  if (command.name == "layout") return run_layout(text.program, command);
  if (command.name == "pack") return run_pack(text.program, text.layout());
  if (command.name == "place") return run_place(text.program, text.layout(), added);
  if (command.name == "emit") return run_emit(text, added);
  if (command.name == "annotate") return run_annotate(text, second);
  if (command.name == "counts") {
    set_static_counts(text.program, CallGraph(text.program));
    return list_counts(text.program);
  }
  return "unknown command " + command.name + "\n";
}

std::string run_text_command(const Command& command, const std::string& first,
                             const std::string& second) {
  const Machine& fake = fake_machine();
  const auto parse = [&](const std::string& text) {
    return parse_program(text, machine_of(text, fake));
  };
  if (command.name == "print") return print(parse(first));
  if (command.name == "verify") return find_violation(parse(first)).value_or("valid") + "\n";
  if (command.name == "compare") {
    const Program before = parse(first), after = parse(second);
    for (const Program* program : {&before, &after})
      if (const auto violation = find_violation(*program)) return *violation + "\n";
    return find_difference(before, after).value_or("same") + "\n";
  }
  if (command.name == "gp-loads") {
    Program program = parse(first);
    return run_gp_loads(program);
  }
  if (command.name == "hot-cold") {
    Program program = parse(first);
    optimize_hot_cold(program, {.least_gain = 0, .cold_shares = {{0.01, 0.05, 0.2, 0.5}}});
    return print_checked(program);
  }
  if (command.name == "nops" || command.name == "predict") {
    Program program = parse(first);
    const uint64_t changed =
        command.name == "nops" ? drop_nops(program) : predict_branches(program);
    return fmt::format("{} changed\n", changed) + print_checked(program);
  }
  return run_addressed(command, first, second);
}

/// Does one of the steps of `after=`; how much it changed.
uint64_t change(Program& program, std::string_view step) {
  if (step == "nops") return drop_nops(program);
  if (step == "imports") return call_imports_directly(program);
  if (step == "tails") return copy_tails(program).tails;
  if (step != "estimates") throw Error(fmt::format("there is no step {}", step));
  set_static_counts(program, CallGraph(program));
  return 0;
}

/// The first page behind all sections.
uint64_t end_of(const Image& image) {
  constexpr uint64_t kPage = 4096;
  uint64_t end = 0;
  for (const Section& section : image.sections)
    if (section.allocated()) end = std::max(end, section.address + section.size);
  return align_up(end, kPage);
}

/// The image in that layout, and whether it does what `program` does when it is lifted again.
std::string run_rewrite(const Image& image, const Program& program, const Layout& layout,
                        Diagnostics& diagnostics) {
  const Image output = read_image(emit(program, layout, {}, diagnostics), "the output");
  const Program again = lift(output, diagnostics);
  const auto broken = find_broken_rule(image, output);
  return list_image(output, *program.machine) + (broken ? *broken + "\n" : "") +
         find_difference(program, again).value_or("same program") + "\n";
}

std::string run_image_command(const Command& command, const Image& image, const std::string& text) {
  Diagnostics diagnostics;
  Program program = lift(image, diagnostics);
  set_given_counts(program, text);
  for (const std::string& step : command.after) change(program, step);
  if (const auto violation = find_violation(program)) return *violation + "\n";
  if (command.name == "lift") return print_lifted(program);
  if (command.name == "nops" || command.name == "imports" || command.name == "tails") {
    const uint64_t changed = change(program, command.name);
    if (const auto violation = find_violation(program)) return *violation + "\n";
    return fmt::format("{} changed\n", changed) + print_lifted(program);
  }
  if (command.name == "counts") {
    set_static_counts(program, CallGraph(program));
    return list_counts(program);
  }
  if (command.name == "layout") return run_layout(program, command);
  const Layout layout = layout_of(program, command, given_layout(program, text));
  if (command.name == "pack") return run_pack(program, layout);
  if (command.name == "place")
    return run_place(program, layout, command.added.value_or(end_of(image)));
  if (command.name == "rewrite") return run_rewrite(image, program, layout, diagnostics);
  return "unknown command " + command.name + "\n";
}

/// Calls `run` for the text after each `run: ` of a comment.
template <typename F>
std::string run_all(const std::string& text, F run) {
  std::string output;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find(" run: ");
    if (at == std::string::npos || at > 2) continue;
    try {
      output += run(Command(line.substr(at + 6)));
    } catch (const Error& error) {
      output += std::string("error: ") + error.what() + "\n";
    }
  }
  return output;
}

}  // namespace

std::string run_text_case(const std::string& text) {
  constexpr std::string_view kSeparator = "=====\n";
  const size_t at = text.find(kSeparator);
  const std::string first = text.substr(0, at);
  const std::string second = at == std::string::npos ? "" : text.substr(at + kSeparator.size());
  return run_all(first,
                 [&](const Command& command) { return run_text_command(command, first, second); });
}

std::string run_assembler_case(const std::filesystem::path& source,
                               const std::filesystem::path& folder) {
  std::ifstream file(source);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::filesystem::path linked = link_assembler_case(source, folder);
  const Image image = read_image(read_file(linked), linked.filename());
  return run_all(text,
                 [&](const Command& command) { return run_image_command(command, image, text); });
}

}  // namespace respike

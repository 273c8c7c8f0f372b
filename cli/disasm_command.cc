// respike image disasm.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "applications/file_checks.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/messages.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/procedure_name.h"
#include "optimizer/ir/text/text.h"
#include "optimizer/lift/lift.h"
#include "optimizer/machine/listing.h"
#include "optimizer/profile/annotate.h"
#include "optimizer/profile/matching/carried_profile.h"
#include "views/code_view.h"

namespace respike::cli {
namespace {

struct DisasmArguments {
  std::string image, profile;
  std::vector<std::string> procedures;
  bool objdump = false;
  bool ir = false;
  bool manual = false;
};

/// Prints every unit of every executable section in a form that compares with objdump: address, the
/// bits that the decoded instruction encodes to, text.
void print_raw(const Image& image, const Listing& listing) {
  for (const Section& section : image.sections) {
    if (!section.allocated() || !section.executable() || section.contents.empty()) continue;
    constexpr size_t kPiece = 1 << 16;  // bytes
    std::vector<ListedLine> lines;
    for (size_t at = 0, listed = 1; listed != 0; at += listed) {
      const auto rest = section.contents.subspan(at);
      lines.clear();
      listed = listing.list(rest, std::min(kPiece, rest.size()), section.address + at, lines);
      std::string out;
      for (const ListedLine& line : lines)
        fmt::format_to(std::back_inserter(out), "{:x}: {} {}\n", line.address, line.code,
                       line.text);
      fmt::print("{}", out);
    }
  }
}

/// The successors of a block, with the counts of the edges if known.
std::string edges_text(const CodeBlock& block, bool counted) {
  std::string text;
  for (const CodeEdge& edge : block.edges) {
    const char* kind = edge.kind == Edge::Kind::taken         ? "taken "
                       : edge.kind == Edge::Kind::indirect    ? "indirect "
                       : edge.kind == Edge::Kind::landing_pad ? "landing pad "
                                                              : "";
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", kind, edge.to);
    if (counted) text += ": " + grouped(edge.count);
  }
  return text;
}

std::string number_of(uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// `counts`: by procedure, whether its counts are known; empty without a profile.
void print_listing(const Program& program, ProcedureId procedure, const std::vector<bool>& counts) {
  const CodeView view = view_code(program, procedure);
  const bool counted = !counts.empty() && counts[procedure];
  fmt::print("\n{:x} <{}>: {}, {}{}{}{}\n", view.address, view.name, number_of(view.size, "byte"),
             number_of(view.blocks.size(), "block"),
             !counts.empty() && !counted ? ", not counted" : "",
             view.left_alone.empty() ? "" : ", ", view.left_alone);
  for (BlockId id = 0; id < view.blocks.size(); ++id) {
    const CodeBlock& block = view.blocks[id];
    const std::string edges = edges_text(block, counted);
    fmt::print("  block {}{}{}\n", id, counted ? ", ran " + grouped(block.count) : "",
               edges.empty() ? "" : " -> " + edges);
    for (const CodeLine& line : block.lines)
      fmt::print("    {}:  {}{}{}\n",
                 line.address == CodeLine::kAdded ? "added" : fmt::format("{:x}", line.address),
                 line.text, line.target.empty() ? "" : "  ; ", line.target);
  }
}

void run_disasm(const DisasmArguments& arguments) {
  Diagnostics diagnostics;
  const Image image = read_image(std::filesystem::path(arguments.image));
  const Listing& listing = require_listing(image, arguments.manual ? Syntax::manual : Syntax::gnu);
  if (arguments.objdump) return print_raw(image, listing);
  require_machine(image);
  require_rewritable(image);
  Program program = lift(image, diagnostics);
  std::vector<bool> counts;
  if (!arguments.profile.empty())
    counts =
        apply_profile(program, read_fitting_profile(arguments.profile, image, diagnostics).profile,
                      diagnostics)
            .known;
  const std::vector<bool> chosen = procedures_named(program, arguments.procedures);
  if (arguments.ir && arguments.procedures.empty()) fmt::print("{}", print(program));
  for (ProcedureId id = 0; id < program.procedures.size(); ++id) {
    if (arguments.procedures.empty() ? arguments.ir : !chosen[id]) continue;
    if (arguments.ir)
      fmt::print("{}", print(program, program[id]));
    else
      print_listing(program, id, counts);
  }
  print_warnings(diagnostics);
}

}  // namespace

void add_disasm_command(CLI::App& image) {
  CLI::App* command = image.add_subcommand("disasm", "List procedures, blocks and instructions");
  auto arguments = std::make_shared<DisasmArguments>();
  command->callback([arguments] { run_disasm(*arguments); });
  command->add_option("IMAGE", arguments->image, "executable or shared library")->required();
  command
      ->add_option("--procedure", arguments->procedures,
                   "only this procedure, NAME or NAME@ADDRESS (repeatable)")
      ->allow_extra_args(false);
  command->add_flag("--ir", arguments->ir, "the text form of the intermediate representation");
  command->add_option("--profile", arguments->profile, "show how often blocks and edges ran")
      ->check(name_of("FILE"));
  command
      ->add_flag("--objdump", arguments->objdump,
                 "every word of every executable section: ADDRESS: WORD TEXT")
      ->excludes("--procedure", "--ir", "--profile");
  command
      ->add_flag("--manual-syntax", arguments->manual,
                 "instructions in the syntax of the processor's manuals")
      ->excludes("--procedure", "--ir", "--profile")
      ->group(kHidden);
}

}  // namespace respike::cli

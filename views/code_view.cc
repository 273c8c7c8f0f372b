// Example: block 1 of `main` whose last instruction is a branch to block 3 has the line
// {0x12000048c, "bne v0,120000498", "main:3"} and an edge {3, taken, 12}.

#include "views/code_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

#include "optimizer/base/error.h"
#include "optimizer/base/saturating.h"
#include "optimizer/image/image.h"
#include "optimizer/machine/listing.h"
#include "optimizer/machine/machine.h"

namespace respike {
namespace {

/// The text of an instruction of the input, with the input's numbers in place of references.
std::string input_text(const Program& program, const Instruction& instruction) {
  if (instruction.origin == kNone)
    return program.machine->text.print(program.machine->branches.branch, 0);
  const uint64_t address = program.origin_base + instruction.origin;
  const uint64_t group = program.map.group(address);
  const auto bytes = program.image->bytes_at(group, program.map.group_end(address) - group);
  if (!bytes) return program.machine->text.print(instruction, address);
  std::vector<ListedLine> lines;
  find_listing(program.image->machine)->list(*bytes, group, lines);
  // An instruction that takes two slots has one line.
  const unsigned slot = program.map.slot(address);
  return lines[lines.size() == program.map.groups().slots || slot == 0 ? slot : slot - 1].text;
}

/// The addresses of a program's procedures in the original image; 0: the original has no such
/// procedure.
using Addresses = std::function<uint64_t(ProcedureId)>;

std::optional<CodeTarget> place_of(const CodeLocation& target, ProcedureId shown,
                                   const Addresses& addresses) {
  if (target.where != CodeLocation::Where::block_start) return std::nullopt;
  if (target.procedure == shown) return CodeTarget{addresses(shown), target.block};
  const uint64_t address = addresses(target.procedure);
  return address == 0 ? std::nullopt : std::optional(CodeTarget{address, kNone});
}

CodeLine line_of(const Program& program, ProcedureId shown, const Instruction& instruction,
                 const Addresses& addresses) {
  CodeLine line;
  line.address =
      instruction.origin == kNone ? CodeLine::kAdded : program.origin_base + instruction.origin;
  line.text = input_text(program, instruction);
  for (char& c : line.text) c = c == '\t' ? ' ' : c;
  if (instruction.has_reference()) {
    const CodeLocation& target = program[shown].references[instruction.immediate].target;
    line.target = location_text(program, target);
    line.place = place_of(target, shown, addresses);
  }
  return line;
}

using Part = SplitProcedure::Part;

struct RemovedKind {
  Removed HotColdRemoved::*removed;
  const char* reason;   // why an instruction was removed
  const char* summary;  // what was removed, printed after a number
};
constexpr RemovedKind kRemovedKinds[] = {
    {&HotColdRemoved::partial_dead_code, "only cold code needs the result",
     "whose results only cold code needs"},
    {&HotColdRemoved::preserved_registers, "the hot part does not use this preserved register",
     "that save or restore preserved registers"},
    {&HotColdRemoved::return_address, "the hot part makes no call",
     "that save or restore the return address"},
    {&HotColdRemoved::stack_adjusts, "the hot part needs no frame", "that adjust the stack"},
    {&HotColdRemoved::copies, "both registers hold the value already", "that copy registers"},
    {&HotColdRemoved::branches, "in the hot part there is only one way", "that decide nothing"},
    {&HotColdRemoved::loads, "a register holds the value already", "that load what is there"},
    {&HotColdRemoved::stores, "only cold code reads the place", "that store for cold code alone"},
};

const SplitProcedure* find_split(const RewrittenProgram& rewritten, ProcedureId procedure) {
  const auto split =
      std::ranges::lower_bound(rewritten.splits, procedure, {}, &SplitProcedure::procedure);
  return split != rewritten.splits.end() && split->procedure == procedure ? &*split : nullptr;
}

/// "3 instructions that adjust the stack, 1 that ...".
std::string removed_text(const HotColdRemoved& removed) {
  std::string text;
  for (const RemovedKind& kind : kRemovedKinds) {
    const uint64_t number = (removed.*kind.removed).instructions;
    if (number == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number, kind.summary);
  }
  return text;
}

/// The reasons why instructions were removed, by Instruction::origin.
std::unordered_map<uint32_t, std::string> removed_reasons(const HotColdRemoved& removed) {
  std::unordered_map<uint32_t, std::string> reasons;
  for (const RemovedKind& kind : kRemovedKinds)
    for (const uint32_t origin : (removed.*kind.removed).origins)
      reasons.try_emplace(origin, kind.reason);
  return reasons;
}

CodeView view_procedure(const Program& program, ProcedureId id, const Addresses& addresses) {
  const Procedure& procedure = program[id];
  CodeView view;
  view.procedure = id;
  view.name = procedure.name;
  view.address = procedure.address;
  view.size = procedure.size;
  if (!procedure.reason.empty())
    view.left_alone =
        fmt::format("{}: {}", procedure.state == Procedure::State::opaque ? "opaque" : "pinned",
                    procedure.reason);
  for (const BasicBlock& block : procedure.blocks) {
    CodeBlock& shown = view.blocks.emplace_back();
    shown.address = program.address_of(block);
    shown.count = block.count;
    for (const Edge& edge : block.successors)
      shown.edges.push_back({edge.target, edge.kind, edge.count});
    for (const Instruction& instruction : block.instructions)
      if (!instruction.is_pseudo() && !program.machine->facts(instruction).prefix)
        shown.lines.push_back(line_of(program, id, instruction, addresses));
  }
  return view;
}

/// The procedure of the original that a procedure of the output begins with.
Addresses addresses_before(const RewrittenProgram& rewritten) {
  std::vector<uint64_t> addresses(rewritten.after.procedures.size());
  for (const CodePiece& piece : rewritten.pieces)
    if (piece.procedure != kNone && piece.after_procedure != kNone &&
        addresses[piece.after_procedure] == 0)
      addresses[piece.after_procedure] = rewritten.before[piece.procedure].address;
  return [addresses = std::move(addresses)](ProcedureId id) { return addresses[id]; };
}

}  // namespace

std::string location_text(const Program& program, const CodeLocation& location) {
  if (location.where == CodeLocation::Where::enclosure_start) return "start of code";
  if (location.where == CodeLocation::Where::enclosure_end) return "end of code";
  if (location.where == CodeLocation::Where::address) return fmt::format("{:#x}", location.address);
  const std::string block = location.block == 0 ? "" : fmt::format(":{}", location.block);
  return fmt::format("{}{}{}",
                     location.where == CodeLocation::Where::return_point ? "return of " : "",
                     program[location.procedure].name, block);
}

uint64_t executed_instructions(const CodeBlock& block) {
  return saturating_multiply(block.count, block.lines.size());
}

CodeView view_code(const Program& program, ProcedureId id) {
  return view_procedure(program, id, [&](ProcedureId of) { return program[of].address; });
}

CodeView view_rewritten_code(const RewrittenProgram& rewritten, ProcedureId procedure) {
  const auto& pieces = rewritten.pieces;
  const auto entry = std::ranges::find_if(pieces, [&](const CodePiece& piece) {
    return piece.procedure == procedure && piece.block == 0 && piece.part != Part::clone;
  });
  if (entry == pieces.end())
    throw Error("nothing leads to " + rewritten.before[procedure].name + " in the output");
  CodeView view =
      view_procedure(rewritten.after, entry->after_procedure, addresses_before(rewritten));
  view.name = rewritten.before[procedure].name;
  const Procedure& after = rewritten.after[entry->after_procedure];
  for (BlockId b = 0; b < view.blocks.size(); ++b) {
    CodeBlock& block = view.blocks[b];
    const uint64_t end = block.address + after.blocks[b].origin_size;
    auto piece = std::ranges::lower_bound(pieces, block.address, {}, &CodePiece::address);
    for (; piece != pieces.end() && piece->address < end; ++piece) {
      if (!block.part) block.part = piece->part;
      if (piece->block != kNone) block.originals.push_back(piece->block);
    }
  }
  if (const SplitProcedure* split = find_split(rewritten, procedure))
    view.taken_out = removed_text(split->removed);
  return view;
}

void mark_changes(CodeView& view, const RewrittenProgram& rewritten) {
  const SplitProcedure* split = find_split(rewritten, view.procedure);
  if (split == nullptr) return;
  view.taken_out = removed_text(split->removed);
  const auto reasons = removed_reasons(split->removed);
  for (BlockId b = 0; b < view.blocks.size() && b < split->blocks.size(); ++b) {
    view.blocks[b].part = split->blocks[b].part;
    if (split->blocks[b].part != Part::hot) continue;
    for (CodeLine& line : view.blocks[b].lines) {
      if (line.address == CodeLine::kAdded) continue;
      const auto reason =
          reasons.find(static_cast<uint32_t>(line.address - rewritten.before.origin_base));
      if (reason != reasons.end()) line.taken_out = reason->second;
    }
  }
}

}  // namespace respike

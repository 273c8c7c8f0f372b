// Example: block 1 of `main` whose last instruction is a branch to block 3 has the line
// {0x12000048c, "bne v0,120000498", "main:3"} and an edge {3, taken, 12}.

#include "environment/code_view.h"

#include <fmt/format.h>

#include "optimizer/image/image.h"
#include "optimizer/machine/listing.h"
#include "optimizer/machine/machine.h"

namespace respike {
namespace {

/// The text of an instruction of the input, with the input's numbers in the place of references.
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

CodeLine line_of(const Program& program, const Procedure& procedure,
                 const Instruction& instruction) {
  CodeLine line;
  line.address =
      instruction.origin == kNone ? CodeLine::kAdded : program.origin_base + instruction.origin;
  line.text = input_text(program, instruction);
  for (char& c : line.text) c = c == '\t' ? ' ' : c;
  if (instruction.has_reference())
    line.target = location_text(program, procedure.references[instruction.immediate].target);
  return line;
}

}  // namespace

std::string location_text(const Program& program, const CodeLocation& location) {
  if (location.where == CodeLocation::Where::address) return fmt::format("{:#x}", location.address);
  const std::string block = location.block == 0 ? "" : fmt::format(":{}", location.block);
  return fmt::format("{}{}{}",
                     location.where == CodeLocation::Where::return_point ? "return of " : "",
                     program[location.procedure].name, block);
}

CodeView view_code(const Program& program, ProcedureId id) {
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
        shown.lines.push_back(line_of(program, procedure, instruction));
  }
  return view;
}

}  // namespace respike

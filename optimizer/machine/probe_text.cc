// The text that a reader of probes sees: see probe_text.h.

#include "optimizer/machine/probe_text.h"

#include "optimizer/image/image.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/machine/machine.h"

namespace respike {

ProbeText::ProbeText(const Program& program, const CodeCursor& start)
    : program_(program), next_(start), at_start_(start.index == 0) {}

bool ProbeText::reach(size_t line) {
  const auto& blocks = program_[next_.procedure].blocks;
  unsigned blocks_left = kLongest;  // blocks without lines
  while (size_ <= line && !ended_ && size_ != kLongest) {
    const BasicBlock& block = blocks[next_.block];
    if (next_.index == block.instructions.size()) {
      const Edge* edge = block.edge(Edge::Kind::fall_through);
      ended_ = edge == nullptr || --blocks_left == 0;
      if (!ended_) next_ = {next_.procedure, edge->target, 0};
      at_start_ = true;
      continue;
    }
    const Instruction& instruction = block.instructions[next_.index];
    const bool is_line = !instruction.is_pseudo() && (instruction.opcode == kInvalid ||
                                                      !program_.machine->facts(instruction).nop);
    if (is_line) {
      lines_[size_++] = {&instruction, next_, at_start_, flags_};
      at_start_ = false;
      flags_ = 0;
    }
    if (!instruction.is_pseudo()) flags_ |= instruction.flags;
    ++next_.index;
  }
  return line < size_;
}

uint64_t ProbeText::address(size_t line) const {
  return program_.origin_base + lines_[line].instruction->origin;
}

std::span<const uint8_t> ProbeText::bytes(size_t line) const {
  const Instruction& instruction = *lines_[line].instruction;
  return program_.image->bytes_at(address(line), program_.machine->codec.size({&instruction, 1}))
      .value_or(std::span<const uint8_t>());
}

std::optional<CodeLocation> ProbeText::target(size_t line) const {
  const Instruction& instruction = *lines_[line].instruction;
  const Procedure& procedure = program_[lines_[line].place.procedure];
  if (const Reference* reference = reference_of(procedure, instruction)) return reference->target;
  const BasicBlock& block = procedure.blocks[lines_[line].place.block];
  if (&instruction != &block.instructions.back()) return std::nullopt;
  const Edge* edge = block.edge(Edge::Kind::taken);
  if (edge == nullptr) return std::nullopt;
  return CodeLocation{.procedure = lines_[line].place.procedure, .block = edge->target};
}

bool ProbeText::leads_to(size_t branch, size_t line) const {
  const auto to = target(branch);
  return to && lines_[line].first && to->where == CodeLocation::Where::block_start &&
         to->procedure == lines_[line].place.procedure && to->block == lines_[line].place.block;
}

CodeCursor ProbeText::behind(size_t line) const {
  CodeCursor place = lines_[line].place;
  ++place.index;
  return place;
}

}  // namespace respike

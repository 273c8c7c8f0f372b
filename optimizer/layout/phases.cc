// Which instructions issue together depends on their addresses: the 21164 issues at most four
// instructions of one aligned group of 16 bytes. Compilers know that and align heads of loops. A
// layout moves a loop, which may then lie in more groups than before.
//
// Example: a loop of four instructions that takes two cycles where it fills one group takes three
// where it lies in two groups. The *phase* of a chain, its address modulo 16, decides. Control
// never falls into a chain from above, so padding before the chain is never executed.
//
// Aligning all heads of hot loops does not pay (the journal has the numbers): which instructions
// issue together depends on the places of all instructions of a loop. So the machine's issue model
// adds up the cycles of all blocks of a chain in each phase, by their counts. As in the model of
// the whole processor, control that jumps to a block finds nothing in flight; where control falls
// into a block, instructions of the block before are in flight.
//
// On x86-64 the same method adds up lines of 64 bytes: an interpreter's handler of 27 bytes lies in
// one line, or in two.
//
// Limits. A loop in the middle of a chain gets no padding of its own, since that would be executed.

#include "optimizer/layout/phases.h"

#include <algorithm>
#include <limits>

#include "optimizer/base/bytes.h"
#include "optimizer/machine/machine.h"

namespace respike {
namespace {

/// Instructions up to a branch or up to the end of a block.
struct Straight {
  std::vector<Instruction> code;
  uint64_t place = 0;  // bytes from the start of the chain
  double fallen = 0;   // how often control comes from the straight code before
  double jumped = 0;   // how often from elsewhere
};

double as_number(const Edge* edge) {
  return edge == nullptr ? 0 : static_cast<double>(edge->count);
}

/// How often control runs from a block, which ends in `end`, into the next block `next`, other than
/// by a return from a call.
double falls_into(const Machine& machine, const BasicBlock& block, BlockEnd end, BlockId next) {
  if (appends_branch(end)) return 0;
  if (!block.instructions.empty() && is_call(machine.facts(block.instructions.back()).flow))
    return 0;
  const bool turned = is_inverted(end) || end == BlockEnd::branch_dropped;
  const Edge* edge = block.edge(turned ? Edge::Kind::taken : Edge::Kind::fall_through);
  return edge != nullptr && edge->target == next ? as_number(edge) : 0;
}

std::vector<Straight> straight_parts(const Program& program, ProcedureId id,
                                     std::span<const BlockId> blocks, const Packing& packing) {
  const Procedure& procedure = program[id];
  std::vector<Straight> parts;
  BlockRun run;
  uint64_t place = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const BasicBlock& block = procedure.blocks[blocks[i]];
    const BlockEnd end = packing.end(id, blocks[i]);
    packing.arrange(id, blocks[i], run);
    const auto count = static_cast<double>(block.count);
    const double fallen = i == 0 ? 0
                                 : falls_into(*program.machine, procedure.blocks[blocks[i - 1]],
                                              packing.end(id, blocks[i - 1]), blocks[i]);
    Straight own{.code = run.code, .place = place, .fallen = std::min(fallen, count)};
    own.jumped = count - own.fallen;
    if (appends_branch(end)) {
      own.code.pop_back();
      Straight branch{.code = {run.code.back()}, .place = place + run.places.back()};
      branch.fallen = as_number(block.edge(side_of_appended_branch(end)));
      parts.push_back(std::move(own));
      parts.push_back(std::move(branch));
    } else {
      parts.push_back(std::move(own));
    }
    place += packing.size(id, blocks[i]);
  }
  return parts;
}

/// The shortest padding with the fewest cycles for a piece that would start at `at`.
uint32_t cheapest_padding(std::span<const double> cycles, uint64_t at, uint32_t period,
                          double price) {
  const auto unit = static_cast<uint32_t>(period / cycles.size());
  uint32_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (uint32_t padding = 0; padding < period; padding += unit) {
    const double cost = cycles[(at + padding) % period / unit] + price * padding;
    if (cost >= least) continue;
    best = padding;
    least = cost;
  }
  return best;
}

}  // namespace

std::vector<double> cycles_by_phase(const Program& program, ProcedureId id,
                                    std::span<const BlockId> blocks, const Packing& packing) {
  const IssueModel& model = *program.machine->issue;
  const uint32_t unit = program.machine->codec.groups.alignment();
  const std::vector<Straight> parts = straight_parts(program, id, blocks, packing);
  std::vector<double> cycles;
  for (uint32_t phase = 0; phase < model.period; phase += unit) {
    double& sum = cycles.emplace_back(0);
    for (size_t i = 0; i < parts.size(); ++i) {
      const auto& [code, place, fallen, jumped] = parts[i];
      if (fallen != 0) sum += fallen * model.cycles(parts[i - 1].code, code, phase + place);
      if (jumped != 0) sum += jumped * model.cycles({}, code, phase + place);
    }
  }
  return cycles;
}

PaddedPieces pad_pieces(std::span<const PieceToPad> pieces, uint32_t period, double price) {
  PaddedPieces result;
  uint64_t at = 0;
  bool certain = false;  // whether emission also places the next piece at `at`
  for (const PieceToPad& piece : pieces) {
    at = align_up(at, piece.start.alignment);
    const uint32_t padding = piece.bound ? 0 : cheapest_padding(piece.cycles, at, period, price);
    at += padding;
    Start& start = result.starts.emplace_back(piece.start);
    if (padding != 0 || !(certain || piece.bound)) {
      start.alignment = std::max(start.alignment, period);
      start.phase = static_cast<uint32_t>(at % start.alignment);
    }
    result.cycles += piece.cycles[at % period * piece.cycles.size() / period];
    at += piece.size;
    certain = !piece.bound;  // a branch to a bound piece may be dropped
  }
  return result;
}

}  // namespace respike

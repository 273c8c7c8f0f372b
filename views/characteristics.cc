// The paper defines its measures in words only, so the details are Respike's:
//
// - The trip count of a procedure is that of its most frequently executed natural loop (the loop
//   whose header runs most): executions of the header over entries from outside the loop. Only
//   edges that ran make loops. The trip count is 0 if no loop ran. Example: a loop that is entered
//   twice and whose header runs 20 times has trip count 10.
// - A procedure may have several entry blocks, such as one with and one without the load of the
//   global pointer; entry_hottest says whether an entry block runs as often as any block.
// - Our blocks end at calls. A block that only continues after a call counts as part of the block
//   with the call, so that the number of blocks measures control flow. Only blocks that an entry
//   reaches count. Blocks above Spike's threshold for splitting are hot: all other blocks together
//   are 1% of the execution.
// - Prolog and epilog work is as frame_shape.h finds it: adjustments of the stack pointer (with the
//   setting of a frame pointer), saves and restores of registers.

#include "views/characteristics.h"

#include <fmt/format.h>

#include <algorithm>

#include "optimizer/analysis/call_graph.h"
#include "optimizer/analysis/dominators.h"
#include "optimizer/analysis/frame_shape.h"
#include "optimizer/analysis/loops.h"
#include "optimizer/base/saturating.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/layout/hotness.h"
#include "optimizer/profile/profile.h"

namespace respike {
namespace {

constexpr double kColdShare = 0.01;

double trip_count(const Procedure& procedure, const Loops& loops) {
  const Loop* hottest = nullptr;
  const auto runs = [&](const Loop& loop) { return procedure.blocks[loop.header].count; };
  for (const Loop& loop : loops.loops)
    if (runs(loop) > 0 && (hottest == nullptr || runs(loop) > runs(*hottest))) hottest = &loop;
  if (hottest == nullptr) return 0;
  return double(runs(*hottest)) / double(loop_entries(procedure, *hottest));
}

/// For each block, whether it only continues after a call.
std::vector<bool> continuations(const Procedure& procedure, const BlockGraph& graph,
                                std::span<const Call> calls) {
  std::vector<bool> result(procedure.blocks.size());
  for (const Call& call : calls) {
    const auto& successors = procedure.blocks[call.block].successors;
    if (successors.size() != 1) continue;
    const Edge& edge = *successors.begin();
    if (edge.kind == Edge::Kind::fall_through && graph.predecessors[edge.target].size() == 1 &&
        !procedure.blocks[edge.target].has(BasicBlock::kEntry))
      result[edge.target] = true;
  }
  return result;
}

void count_frame_work(const Procedure& procedure, const FrameShape& shape,
                      ProcedureCharacter& character) {
  for (const FrameShape::Step& step : shape.steps) {
    const uint64_t count = procedure.blocks[step.block].count;
    switch (step.role) {
      case FrameShape::Role::allocate:
      case FrameShape::Role::release:
      case FrameShape::Role::set_frame_pointer:
        character.adjustments += count;
        break;
      case FrameShape::Role::save:
        character.saves += count;
        break;
      case FrameShape::Role::restore:
        character.restores += count;
        break;
    }
  }
}

/// Fills in all figures but the sizes, which are known already.
void describe(const Program& program, ProcedureId id, const CallGraph& calls, uint64_t threshold,
              ProcedureCharacter& character) {
  const Procedure& procedure = program[id];
  const BlockGraph graph = make_block_graph(procedure);
  const Dominators dominators(graph);
  const std::vector<bool> continued = continuations(procedure, graph, calls.calls_of(id));
  uint64_t highest = 0;
  for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
    const BasicBlock& block = procedure.blocks[b];
    highest = std::max(highest, block.count);
    if (continued[b] || !dominators.reachable(b) || count_instructions(block) == 0) continue;
    ++character.blocks;
    character.hot_blocks += block.count >= threshold ? 1 : 0;
  }
  character.name = procedure.name;
  const BlockGraph executed = make_executed_graph(procedure);
  character.trip_count = trip_count(procedure, find_loops(executed, Dominators(executed)));
  character.entry_hottest = std::ranges::any_of(
      calls.entries_of(id), [&](BlockId b) { return procedure.blocks[b].count == highest; });
  character.leaf = calls.calls_of(id).empty();
  count_frame_work(procedure,
                   find_frame_shape(program, id, calls.calls_of(id), calls.entries_of(id)),
                   character);
}

/// The share of executed instructions in procedures that `chosen` accepts, relative to those that
/// `of` accepts.
template <typename Chosen, typename Of>
double share(const Characteristics& program, Chosen chosen, Of of) {
  double part = 0, whole = 0;
  for (const ProcedureCharacter& procedure : program.procedures) {
    if (!of(procedure)) continue;
    whole += double(procedure.executed);
    if (chosen(procedure)) part += double(procedure.executed);
  }
  return whole == 0 ? 0 : part / whole;
}

constexpr auto kAny = [](const ProcedureCharacter&) { return true; };
constexpr auto kIsNonlooping = [](const ProcedureCharacter& procedure) {
  return procedure.trip_count < kNonlooping;
};

double at(const Distribution& distribution, uint32_t bound) {
  return distribution[size_t(std::ranges::find(kBounds, bound) - kBounds.begin())];
}

std::string whole_percent(double share) {
  return fmt::format("{:.0f}%", 100 * share);
}

}  // namespace

void Characteristics::add(const Characteristics& image) {
  executed = saturating_add(executed, image.executed);
  instructions += image.instructions;
  knows_frames = knows_frames && image.knows_frames;
  procedures.insert(procedures.end(), image.procedures.begin(), image.procedures.end());
}

Characteristics characterize(const Program& program) {
  const CallGraph calls(program);
  const uint64_t threshold = hot_threshold(program, kColdShare);
  Characteristics result;
  // frame_shape.h recognizes prologs that lower the stack pointer once. On machines with
  // instructions of many lengths, prologs push registers.
  result.knows_frames = program.machine == nullptr || program.machine->codec.groups.fixed();
  for (ProcedureId id = 0; id < program.procedures.size(); ++id) {
    ProcedureCharacter character;
    for (const BasicBlock& block : program[id].blocks) {
      const uint64_t instructions = count_instructions(block);
      character.instructions += instructions;
      character.executed =
          saturating_add(character.executed, saturating_multiply(instructions, block.count));
    }
    result.executed = saturating_add(result.executed, character.executed);
    result.instructions += character.instructions;
    if (character.executed == 0) continue;
    describe(program, id, calls, threshold, character);
    result.procedures.push_back(std::move(character));
  }
  return result;
}

Distribution by_trip_count(const Characteristics& program) {
  Distribution result;
  std::ranges::transform(kBounds, result.begin(), [&](uint32_t bound) {
    return share(
        program, [&](const auto& p) { return p.trip_count < bound; }, kAny);
  });
  return result;
}

Distribution by_blocks(const Characteristics& program, bool hot) {
  Distribution result;
  std::ranges::transform(kBounds, result.begin(), [&](uint32_t bound) {
    return share(
        program, [&](const auto& p) { return (hot ? p.hot_blocks : p.blocks) <= bound; },
        kIsNonlooping);
  });
  return result;
}

double nonlooping_share(const Characteristics& program) {
  return share(program, kIsNonlooping, kAny);
}

double entry_hottest_share(const Characteristics& program) {
  return share(
      program, [](const auto& p) { return p.entry_hottest; }, kAny);
}

CallOverhead call_overhead(const Characteristics& program) {
  CallOverhead sum;
  for (const ProcedureCharacter& procedure : program.procedures) {
    sum.adjustments += double(procedure.adjustments);
    sum.saves += double(procedure.saves);
    sum.restores += double(procedure.restores);
  }
  const double executed = program.executed == 0 ? 1 : double(program.executed);
  return {sum.adjustments / executed, sum.saves / executed, sum.restores / executed};
}

std::string trip_count_text(const Characteristics& program) {
  const Distribution shares = by_trip_count(program);
  const double twice = at(shares, 2), often = at(shares, 16);
  const char* meaning =
      twice >= 0.5 ? "Time goes through many procedures: the layout across procedures matters."
      : often <= 0.5
          ? "Time is spent in loops of single procedures: layout gains little where such "
            "a loop fits into the cache."
          : "Both the layout across procedures and the order of blocks in loops matter.";
  return fmt::format(
      "{} of the instructions are executed in procedures whose loops turn less than twice, {} in "
      "procedures whose loops turn less than 16 times. {}",
      whole_percent(twice), whole_percent(often), meaning);
}

std::string blocks_text(const Characteristics& program) {
  const double part = nonlooping_share(program);
  if (part < 0.005)
    return "Next to nothing is executed in procedures whose loops turn less than 4 times: this "
           "figure says nothing of the program.";
  const double all = 1 - at(by_blocks(program, false), 16);
  const double hot = 1 - at(by_blocks(program, true), 16);
  const char* meaning =
      all - hot >= 0.1 ? "Large procedures run few of their blocks: splitting brings together the "
                         "blocks that run."
      : hot >= 0.5 ? "Large procedures run most of their blocks: the order of the blocks matters "
                     "more than splitting."
                   : "Time is spent in small procedures: calls cost much, and the layout across "
                     "procedures matters.";
  return fmt::format(
      "{} of the instructions are executed in procedures whose loops turn less than 4 times. Of "
      "these instructions, {} are in procedures of more than 16 blocks, {} when blocks that rarely "
      "run do not count. {}",
      whole_percent(part), whole_percent(all), whole_percent(hot), meaning);
}

std::string overhead_text(const Characteristics& program) {
  constexpr double kMuch = 0.05;  // the paper: 2% to 23%
  if (!program.knows_frames)
    return fmt::format(
        "What prologs and epilogs execute is not known for programs of this machine. {} of the "
        "instructions are in procedures whose entry block runs as often as any other block.",
        whole_percent(entry_hottest_share(program)));
  const double sum = call_overhead(program).sum();
  return fmt::format(
      "{:.1f}% of the executed instructions are prologs and epilogs. {} {} of the instructions are "
      "in procedures whose entry block runs as often as any other block: what stands there runs on "
      "all paths.",
      100 * sum,
      sum >= kMuch ? "Hot-cold optimization takes some of these instructions out of the paths that "
                     "run often."
                   : "Hot-cold optimization finds little to take out here.",
      whole_percent(entry_hottest_share(program)));
}

}  // namespace respike

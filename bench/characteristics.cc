// Prints what kind of program a profile shows, as JSON: the numbers behind figures 2 to 6 of the
// Spike paper (Cohn, Goodwin, Lowney: Optimizing Alpha Executables on Windows NT with Spike,
// "Characteristics").
//
//   bench_characteristics IMAGE PROFILE
//
//   {"instructions": executed, "static_instructions": of the image, "threshold": N,
//    "procedures": [{"name", "instructions": executed, "static_instructions", "blocks",
//                    "hot_blocks", "trip_count", "entry_hottest", "leaf", "adjustments", "saves",
//                    "restores"}]}
//
// Only procedures that ran are listed; adjustments, saves and restores count executed instructions.
// The paper defines its measures in words only, so the details are ours:
//
// - The trip count of a procedure is that of its most frequently executed natural loop (the loop
//   whose header runs most): executions of the header over entries from outside of the loop. The
//   trip count is 0 if no loop ran. Example: a loop that is entered twice and whose header runs 20
//   times has trip count 10.
// - A procedure may have several entry blocks, such as one with and one without the load of the
//   global pointer; entry_hottest says whether an entry block runs as often as any block.
// - Our blocks end at calls. A block that does nothing but go on behind a call counts as part of
//   the block with the call, so that the number of blocks tells of control flow. Only blocks that
//   an entry reaches count. Blocks above Spike's threshold for splitting are hot: all other blocks
//   together are 1% of the execution.
// - Prolog and epilog work is what frame_shape.h finds: adjustments of the stack pointer (with the
//   setting of a frame pointer), saves and restores of registers.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/dominators.h"
#include "bench/loops.h"
#include "optimizer/analysis/call_graph.h"
#include "optimizer/analysis/frame_shape.h"
#include "optimizer/base/diagnostics.h"
#include "optimizer/base/error.h"
#include "optimizer/image/image.h"
#include "optimizer/layout/hotness.h"
#include "optimizer/lift/lift.h"
#include "optimizer/profile/annotate.h"

namespace respike {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kColdShare = 0.01;

uint64_t size_of(const BasicBlock& block) {
  return static_cast<uint64_t>(std::count_if(block.instructions.begin(), block.instructions.end(),
                                             [](const Instruction& i) { return !i.is_pseudo(); }));
}

struct Size {
  uint64_t instructions = 0, executed = 0;
};

Size size_of(const Procedure& procedure) {
  Size size;
  for (const BasicBlock& block : procedure.blocks) {
    const uint64_t instructions = size_of(block);
    size.instructions += instructions;
    size.executed += instructions * block.count;
  }
  return size;
}

double trip_count(const Procedure& procedure, const Loops& loops) {
  const Loop* hottest = nullptr;
  const auto runs = [&](const Loop& loop) { return procedure.blocks[loop.header].count; };
  for (const Loop& loop : loops.loops)
    if (runs(loop) > 0 && (hottest == nullptr || runs(loop) > runs(*hottest))) hottest = &loop;
  if (hottest == nullptr) return 0;
  uint64_t repeats = 0;
  for (const BlockId latch : hottest->latches)
    for (const Edge& edge : procedure.blocks[latch].successors)
      if (edge.target == hottest->header) repeats += edge.count;
  // If control did not come back from a call, counts need not add up.
  const uint64_t entries = runs(*hottest) > repeats ? runs(*hottest) - repeats : 1;
  return static_cast<double>(runs(*hottest)) / static_cast<double>(entries);
}

/// Says of each block whether it only goes on behind a call.
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

struct FrameWork {
  uint64_t adjustments = 0, saves = 0, restores = 0;
};

FrameWork frame_work(const Procedure& procedure, const FrameShape& shape) {
  FrameWork work;
  for (const FrameShape::Step& step : shape.steps) {
    const uint64_t count = procedure.blocks[step.block].count;
    switch (step.role) {
      case FrameShape::Role::allocate:
      case FrameShape::Role::release:
      case FrameShape::Role::set_frame_pointer:
        work.adjustments += count;
        break;
      case FrameShape::Role::save:
        work.saves += count;
        break;
      case FrameShape::Role::restore:
        work.restores += count;
        break;
    }
  }
  return work;
}

Json describe(const Program& program, ProcedureId id, const CallGraph& calls, uint64_t threshold,
              const Size& size) {
  const Procedure& procedure = program[id];
  const BlockGraph graph = make_block_graph(procedure);
  const Dominators dominators(graph);
  const std::vector<bool> continued = continuations(procedure, graph, calls.calls_of(id));
  uint64_t blocks = 0, hot_blocks = 0, highest = 0;
  for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
    const BasicBlock& block = procedure.blocks[b];
    highest = std::max(highest, block.count);
    if (continued[b] || !dominators.reachable(b) || size_of(block) == 0) continue;
    ++blocks;
    hot_blocks += block.count >= threshold ? 1 : 0;
  }
  const auto entries = calls.entries_of(id);
  const bool entry_hottest = std::any_of(entries.begin(), entries.end(), [&](BlockId b) {
    return procedure.blocks[b].count == highest;
  });
  const FrameWork work = frame_work(
      procedure, find_frame_shape(program, id, calls.calls_of(id), calls.entries_of(id)));
  return {{"name", procedure.name},
          {"instructions", size.executed},
          {"static_instructions", size.instructions},
          {"blocks", blocks},
          {"hot_blocks", hot_blocks},
          {"trip_count", trip_count(procedure, find_loops(graph, dominators))},
          {"entry_hottest", entry_hottest},
          {"leaf", calls.calls_of(id).empty()},
          {"adjustments", work.adjustments},
          {"saves", work.saves},
          {"restores", work.restores}};
}

Json describe(const std::string& image_path, const std::string& profile_path) {
  const Image image = read_image(image_path);
  Diagnostics diagnostics;
  Program program = lift(image, diagnostics);
  annotate(program, read_profile(profile_path));
  const CallGraph calls(program);
  const uint64_t threshold = hot_threshold(program, kColdShare);
  uint64_t executed = 0, instructions = 0;
  Json procedures = Json::array();
  for (ProcedureId id = 0; id < program.procedures.size(); ++id) {
    const Size size = size_of(program[id]);
    executed += size.executed;
    instructions += size.instructions;
    if (size.executed > 0) procedures.push_back(describe(program, id, calls, threshold, size));
  }
  return {{"instructions", executed},
          {"static_instructions", instructions},
          {"threshold", threshold},
          {"procedures", std::move(procedures)}};
}

}  // namespace
}  // namespace respike

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: bench_characteristics IMAGE PROFILE\n");
    return 2;
  }
  try {
    fmt::print("{}\n", respike::describe(argv[1], argv[2])
                           .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } catch (const respike::Error& error) {
    fmt::print(stderr, "bench_characteristics: {}\n", error.what());
    return EXIT_FAILURE;
  }
}

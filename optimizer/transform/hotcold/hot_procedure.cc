// The hot procedure as a program of its own: its blocks, its borders, and liveness in it.
//
// A register is live in the hot procedure if hot code, a callee, a caller or a stub reads it.
// Inside the procedure that is the textbook problem. At the borders the answer comes from the
// liveness of the original program (register_flow.h):
//
// - where control leaves for good: all registers that are live there in the original;
// - after a stub: all registers that are live at the start of the cold block;
// - at a call: a register that is live before the call in the original counts as read by the call
//   if the callee's summary reads it, or it is dead after the call, or the callee need not preserve
//   it. Example: $9 is live before a call, preserved, and only cold code reads it after the call.
//   Then the call does not read $9, and if no hot code does, $9 is dead in the hot procedure.

#include "optimizer/transform/hotcold/hot_procedure.h"

#include <algorithm>

#include "optimizer/analysis/dataflow.h"
#include "optimizer/transform/nops.h"

namespace respike {
namespace {

const Call* call_at(std::span<const Call> calls, BlockId block) {
  const auto call = std::lower_bound(calls.begin(), calls.end(), block,
                                     [](const Call& c, BlockId id) { return c.block < id; });
  return call != calls.end() && call->block == block ? &*call : nullptr;
}

class HotProcedureBuilder {
 public:
  HotProcedureBuilder(const Program& program, const Region& region, const CallGraph& calls,
                      const RegisterFlow& flow)
      : program_(program),
        procedure_(program[region.procedure]),
        region_(region),
        calls_(calls),
        flow_(flow),
        preserved_(std::span(program.machine->abi.preserved)),
        scratch_(std::span(program.machine->abi.scratch)) {
    result_.program = &program;
    result_.id = region.procedure;
    result_.shape = find_frame_shape(program, region.procedure, calls.calls_of(region.procedure),
                                     calls.entries_of(region.procedure));
    result_.slots = find_private_slots(program, region.procedure, result_.shape,
                                       calls.entries_of(region.procedure));
  }

  HotProcedure build() {
    const std::vector<bool> untouchable = untouchable_blocks(*program_.machine, procedure_);
    number_.assign(procedure_.blocks.size(), kNone);
    for (uint32_t i = 0; i < region_.hot.size(); ++i) number_[region_.hot[i]] = i;
    result_.hot = static_cast<uint32_t>(region_.hot.size());
    for (const BlockId b : region_.hot) {
      copy_block(b);
      result_.blocks.back().untouchable = untouchable[b];
    }
    for (uint32_t i = 0; i < result_.hot; ++i) connect(i);
    for (const BlockId entry : calls_.entries_of(region_.procedure))
      if (region_.is_hot[entry]) result_.entries.push_back(number_[entry]);
    renew_graph(result_);
    for (uint32_t i = 0; i < result_.hot; ++i) find_border(i);
    for (size_t i = result_.hot; i < result_.blocks.size(); ++i)
      result_.live_in.push_back(flow_.live_in(region_.procedure, result_.blocks[i].place));
    return std::move(result_);
  }

 private:
  void copy_block(BlockId id) {
    const BasicBlock& block = procedure_.blocks[id];
    HotBlock& copy = result_.blocks.emplace_back();
    copy.place = id;
    copy.count = block.count - region_.cold_runs[id];
    uint32_t state = block.cfi_state;
    const auto& steps = result_.shape.steps;
    auto step =
        std::find_if(steps.begin(), steps.end(), [&](const auto& s) { return s.block >= id; });
    for (uint32_t i = 0; i < block.instructions.size(); ++i) {
      const Instruction& instruction = block.instructions[i];
      if (instruction.is_pseudo()) {
        state = static_cast<uint32_t>(instruction.immediate);
        continue;
      }
      HotInstruction& added = copy.code.emplace_back();
      added.instruction = instruction;
      added.state = state;
      while (step != steps.end() && step->block == id && step->index < i) ++step;
      if (step == steps.end() || step->block != id || step->index != i) continue;
      added.role = step->role;
      added.saved = step->reg;
    }
    copy.end_state = state;
  }

  void connect(uint32_t number) {
    const BasicBlock& block = procedure_.blocks[region_.hot[number]];
    for (const Edge& edge : block.successors) {
      uint32_t to = number_[edge.target];
      if (to == kNone) {
        to = static_cast<uint32_t>(result_.blocks.size());
        HotBlock& stub = result_.blocks.emplace_back();
        stub.place = edge.target;
        stub.end_state = procedure_.blocks[edge.target].cfi_state;
        stub.count = share_of(edge.count, result_.blocks[number].count, block.count);
        stub.stays_empty = pad_behind(*program_.machine, procedure_, edge.target) != kNone;
      }
      result_.blocks[number].successors.push_back(to);
    }
  }

  void find_border(uint32_t number) {
    const BlockId id = region_.hot[number];
    const std::vector<RegisterSet> points = flow_.live_points(region_.procedure, id);
    for (const RegisterSet& live : points) result_.live_anywhere |= live;
    const Call* call = call_at(calls_.calls_of(region_.procedure), id);
    result_.calls.push_back(call != nullptr ? std::optional(*call) : std::nullopt);
    const HotBlock& block = result_.blocks[number];
    const bool plain = call == nullptr && !block.successors.empty();
    result_.used_at_end.push_back(plain ? RegisterSet() : used_at_end(points.back(), id, call));
    result_.changed_by.push_back(plain ? RegisterSet() : changed_by(call));
  }

  RegisterSet used_at_end(const RegisterSet& live, BlockId id, const Call* call) const {
    if (call == nullptr || call->kind == Call::Kind::tail || (!call->known() && !call->standard))
      return live;
    RegisterSet behind;
    for (const Edge& edge : procedure_.blocks[id].successors)
      behind |= flow_.live_in(region_.procedure, edge.target);
    RegisterSet kept = preserved_;
    kept.remove(program_.machine->abi.stack_pointer);
    const RegisterSet read =
        call->known() ? flow_.summary(call->callee, call->entry).used : flow_.unknown_uses();
    return (live - kept) | (live - behind) | (live & read);
  }

  RegisterSet changed_by(const Call* call) const {
    if (call == nullptr) return {};
    if (!call->known())
      return call->standard ? scratch_ : RegisterSet::first(program_.machine->register_count);
    return scratch_ | flow_.summary(call->callee, call->entry).killed;
  }

  const Program& program_;
  const Procedure& procedure_;
  const Region& region_;
  const CallGraph& calls_;
  const RegisterFlow& flow_;
  const RegisterSet preserved_, scratch_;
  std::vector<uint32_t> number_;  // per block of the procedure: its number in the hot procedure
  HotProcedure result_;
};

struct LivenessProblem {
  const HotProcedure& procedure;
  bool cold;

  RegisterSet start() const { return {}; }
  RegisterSet initial(uint32_t block) const {
    if (!procedure.is_stub(block)) return procedure.used_at_end[block];
    return cold ? procedure.live_behind_stub(block) : RegisterSet();
  }
  void meet(RegisterSet& into, const RegisterSet& from, uint32_t, uint32_t block) const {
    into |= from & procedure.kept_at_end(block);
  }
  RegisterSet transfer(uint32_t block, RegisterSet live) const {
    if (procedure.is_stub(block) && !cold) return {};
    const auto& code = procedure.blocks[block].code;
    for (size_t i = code.size(); i-- > 0;) step_back(procedure, code[i], live);
    return live;
  }
};

}  // namespace

HotProcedure make_hot_procedure(const Program& program, const Region& region,
                                const CallGraph& calls, const RegisterFlow& flow) {
  return HotProcedureBuilder(program, region, calls, flow).build();
}

/// Registers that are not preserved count as used by the call, see used_at_end().
RegisterSet HotProcedure::kept_at_end(uint32_t block) const {
  if (is_stub(block) || !calls_at_end(block)) return RegisterSet::first(machine().register_count);
  return RegisterSet(std::span(machine().abi.preserved));
}

void step_back(const HotProcedure& procedure, const HotInstruction& instruction,
               RegisterSet& live) {
  step_back(procedure.machine(), instruction.instruction, live);
}

RegisterSet registers_with_a_role(const Machine& machine) {
  RegisterSet registers;
  registers.add(machine.abi.stack_pointer);
  registers.add(machine.abi.return_address);
  if (machine.gp != nullptr) registers.add(machine.gp->base);
  return registers;
}

std::optional<Copy> as_copy(const Machine& machine, const Instruction& instruction) {
  if (instruction.predicate != 0 || instruction.has_reference() ||
      !machine.rewrite->is_pure(instruction) ||
      machine.facts(instruction).source != ValueSource::copied)
    return std::nullopt;
  const Operands operands = machine.operands(instruction);
  if (operands.uses != 1 || operands.size != 2) return std::nullopt;
  return Copy{operands.registers[0], operands.registers[1]};
}

void renew_graph(HotProcedure& procedure) {
  std::vector<std::pair<uint32_t, uint32_t>> edges;
  for (uint32_t i = 0; i < procedure.blocks.size(); ++i)
    for (const uint32_t to : procedure.blocks[i].successors) edges.emplace_back(i, to);
  BlockGraph& graph = procedure.graph;
  graph.successors = make_adjacency(procedure.blocks.size(), edges);
  graph.predecessors = reversed(graph.successors);
  graph.entries = procedure.entries;
  graph.postorder = postorder(graph.successors, graph.entries);
}

std::vector<RegisterSet> live_at_starts(const HotProcedure& procedure, bool cold) {
  return solve_blocks<Direction::backward>(procedure.graph, LivenessProblem{procedure, cold})
      .before;
}

RegisterSet live_at_end(const HotProcedure& procedure, uint32_t block,
                        const std::vector<RegisterSet>& at_starts) {
  RegisterSet live =
      procedure.is_stub(block) ? procedure.live_behind_stub(block) : procedure.used_at_end[block];
  if (procedure.is_stub(block)) return live;
  for (const uint32_t next : procedure.blocks[block].successors)
    live |= at_starts[next] & procedure.kept_at_end(block);
  return live;
}

}  // namespace respike

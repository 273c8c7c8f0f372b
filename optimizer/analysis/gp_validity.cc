// Validity of the global pointer, a forward must-problem over all procedures.
//
// A gp load makes the register valid when its second half completes its first; any other write
// makes it invalid. Where control enters a procedure:
//  - at the entry, by unknown callers (pointers, other images, signal handlers): invalid;
//  - behind a gp load at the entry: valid, since calls that skip the load are made only with that
//  gp;
//  - elsewhere by known callers: valid if it is at all calls, and callers have the same gp.
// A call by a known caller leaves it valid if the callee does: on every way out it is valid if it
// was at the entries (`keeps`). Any call leaves it valid when code behind it goes on to form
// addresses from gp before another write and another call (`relies`): whoever made the code knew
// the callee. Division routines in other images are called like that. Other calls of unknown
// procedures, and landing pads, leave it invalid until it is loaded again.
//
// A proof does without `relies`, and takes a callee's word only if nothing else comes back
// behind the call (plain_returns.h): whoever calls longjmp may have another gp. So may whoever
// jumps to a label of another procedure: those whose addresses are kept for that are formed by
// code, while jumps of the procedure itself find theirs in tables. A proof is asked for few
// procedures, so only those are solved for whose entries these depend on.
//
// Where callers set gp (Abi::callers_set_gp), entries by unknown callers are valid, too, and so is
// what a copy puts into the register: the procedure's own gp, saved before a call.
//
// Both facts, what procedures keep and how they are entered, are assumed to hold until they are
// refuted, so that recursion does not lose them.

#include "optimizer/analysis/gp_validity.h"

#include <algorithm>
#include <limits>

#include "optimizer/analysis/block_summary.h"
#include "optimizer/analysis/dataflow.h"
#include "optimizer/analysis/plain_returns.h"
#include "optimizer/image/image.h"

namespace respike {

static bool is_known(const Procedure& procedure) {
  return procedure.state != Procedure::State::opaque && procedure.gp.has_value();
}

class GpSolver {
 public:
  using State = GpValidity::State;
  static constexpr State kValid = GpValidity::kValid, kInvalid = GpValidity::kInvalid,
                         kUnreached = GpValidity::kUnreached;

  GpSolver(const Program& program, const CallGraph& calls, GpValidity& result)
      : program_(program),
        calls_(calls),
        result_(result),
        keeps_(program.procedures.size(), true),
        wanted_(program.procedures.size(), true) {}

  void run() {
    find_effects();
    for (ProcedureId p = 0; p < program_.procedures.size(); ++p)
      if (is_known(p)) find_reliance(p);
    solve();
  }

  void prove(std::span<const ProcedureId> procedures) {
    find_effects();
    keeps_ = find_plain_returns(program_, calls_);
    find_loose_labels();
    find_wanted(procedures);
    solve();
  }

 private:
  bool is_known(ProcedureId p) const { return respike::is_known(program_[p]); }

  void solve() {
    for (ProcedureId p = 0; p < program_.procedures.size(); ++p)
      if (!is_known(p)) keeps_[p] = false;
    find_keepers();
    find_entries();
  }

  void find_effects() {
    effects_.resize(result_.state_.size());
    relies_.resize(result_.state_.size());
    leaves_alone_.assign(program_.procedures.size(), true);
    for (ProcedureId p = 0; p < program_.procedures.size(); ++p) {
      if (!is_known(p)) continue;
      for (BlockId b = 0; b < program_[p].blocks.size(); ++b) {
        const BasicBlock& block = program_[p].blocks[b];
        Effect& effect = effects_[result_.first_[p] + b];
        effect = effect_of(program_[p], block);
        if (effect.changes || block.has(BasicBlock::kLandingPad) ||
            end_of(*program_.target, program_[p], block) == End::anything)
          leaves_alone_[p] = false;
      }
    }
  }

  /// Blocks, besides entries, whose addresses code forms or takes from the global offset table.
  void find_loose_labels() {
    loose_.resize(result_.state_.size());
    const auto mark = [&](const CodeLocation& label) {
      if (label.procedure == kNone || label.block == 0) return;
      loose_[result_.first_[label.procedure] + label.block] = true;
      leaves_alone_[label.procedure] = false;
    };
    for (const Procedure& procedure : program_.procedures)
      for (const Reference& reference : procedure.references)
        if (reference.kind != ReferenceKind::branch &&
            reference.kind != ReferenceKind::branch_hint &&
            reference.kind != ReferenceKind::gp_load_high &&
            reference.kind != ReferenceKind::gp_load_low)
          mark(reference.target);
    const Section* table =
        program_.image == nullptr ? nullptr : program_.image->section_named(kOffsetTable);
    if (table == nullptr) return;
    for (const CodePointer& pointer : program_.code_pointers)
      if (table->contains(pointer.address)) mark(pointer.target);
  }

  /// Those asked for, and whoever calls a wanted one at an entry that depends on its callers.
  void find_wanted(std::span<const ProcedureId> procedures) {
    wanted_.assign(program_.procedures.size(), false);
    std::vector<ProcedureId> work(procedures.begin(), procedures.end());
    while (!work.empty()) {
      const ProcedureId p = work.back();
      work.pop_back();
      if (wanted_[p]) continue;
      wanted_[p] = true;
      for (const uint32_t index : calls_.callers_of(p)) {
        const Call& call = calls_.calls()[index];
        if (!is_behind_load(p, call.entry)) work.push_back(call.caller);
      }
    }
  }

  enum class Access : uint8_t { none, reads, writes };

  /// What a block does first: reads gp as the base of an address, or anything that may change it.
  Access first_access(const BasicBlock& block) const {
    const Register gp = *program_.target->abi().global_pointer;
    for (const Instruction& i : block.instructions) {
      if (i.is_pseudo()) continue;
      if (writes_gp(i)) return Access::writes;
      const Operands operands = program_.target->operands(i);
      if (operands.uses != 0 && operands.registers[operands.uses - 1] == gp &&
          (program_.target->is_lower_half(i) || program_.target->is_upper_half(i)))
        return Access::reads;
      const ControlFlow flow = program_.target->control_flow(i);
      if (is_call(flow)) return Access::writes;
    }
    return Access::none;
  }

  void find_reliance(ProcedureId p) {
    const auto& blocks = program_[p].blocks;
    const uint32_t first = result_.first_[p];
    std::vector<BlockId> work;
    std::vector<Access> access(blocks.size());
    for (BlockId b = 0; b < blocks.size(); ++b) {
      access[b] = first_access(blocks[b]);
      relies_[first + b] = access[b] == Access::reads;
      if (relies_[first + b]) work.push_back(b);
    }
    if (work.empty()) return;
    const BlockGraph graph = make_block_graph(program_[p]);
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      for (const BlockId before : graph.predecessors[b]) {
        if (access[before] != Access::none || relies_[first + before]) continue;
        relies_[first + before] = true;
        work.push_back(before);
      }
    }
  }

  /// What a block does to a state that it gets, found by following two of them.
  struct Effect {
    State of_valid = kValid;
    State of_half = kInvalid;  // of the load below; of others, and of invalid ones: of_invalid
    State of_invalid = kInvalid;
    State half = std::numeric_limits<State>::max();  // the load that the first write completes
    bool changes = false;
  };

  Effect effect_of(const Procedure& procedure, const BasicBlock& block) const {
    Effect effect;
    for (const Instruction& i : block.instructions) {
      if (!writes_gp(i)) continue;
      if (!effect.changes && i.has_reference()) effect.half = i.immediate;
      if (!effect.changes) effect.of_half = effect.half;
      effect.changes = true;
      effect.of_valid = result_.step(procedure, i, effect.of_valid);
      effect.of_half = result_.step(procedure, i, effect.of_half);
      effect.of_invalid = result_.step(procedure, i, effect.of_invalid);
    }
    return effect;
  }

  bool is_loose(ProcedureId p, BlockId b) const {
    return !loose_.empty() && loose_[result_.first_[p] + b];
  }

  bool writes_gp(const Instruction& i) const { return result_.writes_gp(i); }

  State after(uint32_t node, State state) const {
    const Effect& effect = effects_[node];
    if (!effect.changes || state == kUnreached) return state;
    if (state == kValid) return effect.of_valid;
    return state >= 0 && state == effect.half ? effect.of_half : effect.of_invalid;
  }

  /// One procedure, for given states at its entries.
  struct Problem {
    const GpSolver& solver;
    ProcedureId procedure;
    const std::vector<State>& entry_states;  // parallel to entries_of(procedure)

    State start() const { return kUnreached; }
    State initial(BlockId block) const {
      if (solver.program_[procedure].blocks[block].has(BasicBlock::kLandingPad)) return kInvalid;
      if (solver.is_loose(procedure, block)) return kInvalid;
      const auto entries = solver.calls_.entries_of(procedure);
      const auto entry = std::lower_bound(entries.begin(), entries.end(), block);
      if (entry == entries.end() || *entry != block) return kUnreached;
      return entry_states[static_cast<size_t>(entry - entries.begin())];
    }
    void meet(State& into, State from, BlockId source, BlockId block) const {
      if (from == kUnreached) return;
      from = solver.along_edge(procedure, source, block, from);
      into = into == kUnreached || into == from ? from : kInvalid;
    }
    State transfer(BlockId block, State state) const {
      return solver.after(solver.result_.first_[procedure] + block, state);
    }
  };

  const Call* call_at(ProcedureId p, BlockId block) const {
    const auto calls = calls_.calls_of(p);
    const auto call = std::lower_bound(calls.begin(), calls.end(), block,
                                       [](const Call& c, BlockId id) { return c.block < id; });
    return call != calls.end() && call->block == block ? &*call : nullptr;
  }

  State along_edge(ProcedureId p, BlockId source, BlockId target, State state) const {
    const Call* call = call_at(p, source);
    if (call != nullptr && call->kind == Call::Kind::call && !callee_keeps(*call) &&
        !relies_[result_.first_[p] + target])
      return kInvalid;
    // A block may be both behind a call and its landing pad.
    for (const Edge& edge : program_[p].blocks[source].successors)
      if (edge.target == target && edge.kind == Edge::Kind::landing_pad) return kInvalid;
    return state;
  }

  bool callee_keeps(const Call& call) const {
    return call.known() && keeps_[call.callee] &&
           program_[call.callee].gp == program_[call.caller].gp;
  }

  BlockValues<State> states_of(ProcedureId p, const std::vector<State>& entry_states) const {
    return solve_blocks<Direction::forward>(make_block_graph(program_[p]),
                                            Problem{*this, p, entry_states});
  }

  // What procedures keep.

  void find_keepers() {
    const auto order = calls_.bottom_up();
    Worklist work(std::vector<uint32_t>(order.begin(), order.end()), true);
    std::vector<bool> told(program_.procedures.size());  // that it does not keep gp
    for (ProcedureId p = work.pop(); p != kNone; p = work.pop()) {
      if (keeps_[p]) keeps_[p] = is_kept(p);
      if (keeps_[p] || told[p]) continue;
      told[p] = true;
      for (const uint32_t index : calls_.callers_of(p)) work.push(calls_.calls()[index].caller);
    }
  }

  bool is_kept(ProcedureId p) const {
    const auto calls = calls_.calls_of(p);
    if (leaves_alone_[p] && std::all_of(calls.begin(), calls.end(),
                                        [&](const Call& call) { return callee_keeps(call); }))
      return true;
    const std::vector<State> valid(calls_.entries_of(p).size(), kValid);
    const auto values = states_of(p, valid);
    const auto& blocks = program_[p].blocks;
    for (BlockId b = 0; b < blocks.size(); ++b) {
      if (values.after[b] == kUnreached) continue;
      const Call* call = call_at(p, b);
      const bool tail = call != nullptr && call->kind == Call::Kind::tail;
      const bool returns =
          !blocks[b].instructions.empty() &&
          program_.target->control_flow(blocks[b].instructions.back()) == ControlFlow::return_jump;
      if ((tail || returns) && values.after[b] != kValid) return false;
      if (tail && !callee_keeps(*call)) return false;
      if (end_of(*program_.target, program_[p], blocks[b]) == End::anything) return false;
    }
    return true;
  }

  // How procedures are entered.

  void find_entries() {
    const size_t procedures = program_.procedures.size();
    entry_states_.resize(procedures);
    for (ProcedureId p = 0; p < procedures; ++p) {
      const auto outside = calls_.outside_entries_of(p);
      for (const BlockId entry : calls_.entries_of(p)) {
        const bool unknown = std::binary_search(outside.begin(), outside.end(), entry);
        const bool given = program_.target->abi().callers_set_gp || is_behind_load(p, entry);
        entry_states_[p].push_back(unknown && !given ? kInvalid : kValid);
      }
    }
    const auto order = calls_.bottom_up();
    Worklist work(std::vector<uint32_t>(order.rbegin(), order.rend()), true);
    for (ProcedureId p = work.pop(); p != kNone; p = work.pop()) {
      if (!wanted_[p]) continue;
      BlockValues<State> values;
      if (is_known(p)) {
        values = states_of(p, entry_states_[p]);
        std::copy(values.before.begin(), values.before.end(),
                  result_.state_.begin() + result_.first_[p]);
      }
      for (const Call& call : calls_.calls_of(p)) {
        if (!call.known()) continue;
        const bool valid = is_known(p) && values.after[call.block] == kValid &&
                           program_[call.callee].gp == program_[p].gp;
        if (!valid && refute(call)) work.push(call.callee);
      }
    }
  }

  /// Notes that a call is made without gp.
  bool refute(const Call& call) {
    const auto entries = calls_.entries_of(call.callee);
    const auto entry = std::lower_bound(entries.begin(), entries.end(), call.entry);
    State& state = entry_states_[call.callee][static_cast<size_t>(entry - entries.begin())];
    if (state == kInvalid || is_behind_load(call.callee, call.entry)) return false;
    state = kInvalid;
    return true;
  }

  /// Whether an entry is the one that skips the gp load: calls that have gp come there.
  bool is_behind_load(ProcedureId p, BlockId entry) const {
    const auto& blocks = program_[p].blocks;
    if (entry == 0 || !is_known(p) || blocks[0].successors.size() != 1 ||
        blocks[0].successors[0].target != entry || blocks[0].instructions.empty() ||
        program_.target->control_flow(blocks[0].instructions.back()) != ControlFlow::none)
      return false;
    return effects_[result_.first_[p]].of_invalid == kValid;
  }

  static constexpr const char* kOffsetTable = ".got";

  const Program& program_;
  const CallGraph& calls_;
  GpValidity& result_;
  std::vector<Effect> effects_;
  std::vector<bool> relies_;                      // per block
  std::vector<bool> loose_;                       // per block; empty: trusted
  std::vector<bool> leaves_alone_;                // per procedure: itself, leaving out its callees
  std::vector<bool> keeps_;                       // per procedure
  std::vector<bool> wanted_;                      // per procedure
  std::vector<std::vector<State>> entry_states_;  // per procedure, parallel to entries_of()
};

GpValidity::GpValidity(const Program& program, const CallGraph& calls)
    : program_(program), target_(*program.target) {
  number_blocks();
  if (target_.abi().global_pointer) GpSolver(program, calls, *this).run();
}

GpValidity::GpValidity(const Program& program, const CallGraph& calls,
                       std::span<const ProcedureId> procedures)
    : program_(program), target_(*program.target) {
  number_blocks();
  if (target_.abi().global_pointer) GpSolver(program, calls, *this).prove(procedures);
}

void GpValidity::number_blocks() {
  uint32_t count = 0;
  for (const Procedure& procedure : program_.procedures) {
    first_.push_back(count);
    count += static_cast<uint32_t>(procedure.blocks.size());
  }
  state_.assign(count, kInvalid);
}

/// Over one instruction that writes the register.
GpValidity::State GpValidity::step(const Procedure& procedure, const Instruction& instruction,
                                   State state) const {
  if (!instruction.has_reference()) {
    const bool copy = target_.value_source(instruction) == ValueSource::copied;
    return copy && target_.abi().callers_set_gp ? kValid : kInvalid;
  }
  const State load = instruction.immediate;
  const ReferenceKind kind = procedure.references[static_cast<uint32_t>(load)].kind;
  if (kind != ReferenceKind::gp_load_high && kind != ReferenceKind::gp_load_low) return kInvalid;
  if (target_.is_upper_half(instruction)) return load;
  return state == load ? kValid : kInvalid;
}

bool GpValidity::writes_gp(const Instruction& instruction) const {
  const auto gp = target_.abi().global_pointer;
  if (instruction.is_pseudo() || !gp) return false;
  if (instruction.opcode == kInvalid) return true;
  const Operands operands = target_.operands(instruction);
  const auto end = operands.registers + operands.size;
  return std::find(operands.registers + operands.uses, end, *gp) != end;
}

/// Over any instruction.
GpValidity::State GpValidity::follow(const Procedure& procedure, const Instruction& instruction,
                                     State state) const {
  return writes_gp(instruction) ? step(procedure, instruction, state) : state;
}

bool GpValidity::before(ProcedureId p, BlockId block, uint32_t index) const {
  if (!is_known(program_[p])) return false;
  State state = state_[first_[p] + block];
  const auto& list = program_[p].blocks[block].instructions;
  for (uint32_t i = 0; i < index; ++i) state = follow(program_[p], list[i], state);
  return state == kValid;
}

std::vector<bool> GpValidity::valid_points(ProcedureId p, BlockId block) const {
  const auto& list = program_[p].blocks[block].instructions;
  std::vector<bool> points(list.size() + 1);
  if (!is_known(program_[p])) return points;
  State state = state_[first_[p] + block];
  for (uint32_t i = 0; i < list.size(); ++i) {
    points[i] = state == kValid;
    state = follow(program_[p], list[i], state);
  }
  points[list.size()] = state == kValid;
  return points;
}

}  // namespace respike

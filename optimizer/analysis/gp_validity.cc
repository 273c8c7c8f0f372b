// Validity of the global pointer, a forward must-problem over all procedures.
//
// gp_holders.cc says what instructions do to the registers that hold gp. Where control enters a
// procedure:
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
// Where callers set gp (Abi::callers_set_gp), entries are valid, whoever calls: gp is an argument
// of every call. Branches between procedures may be those of a procedure that was split, so for
// them the register has to be valid. Not so if code then does to the register, or to a copy of it,
// what nobody does to gp: reads memory by it, for example. Such a procedure is called with
// something else in the register, say a closure; nothing is assumed at its entries, nor at those of
// procedures that it calls before gp is certain again, and so on. Copies of gp in the procedure's
// own frame are at a landing pad what they were: unwinding restores the frame. Calls of the
// operating system leave gp alone.
//
// Both facts, what procedures keep and how they are entered, are assumed to hold until they are
// refuted, so that recursion does not lose them.

#include "optimizer/analysis/gp_validity.h"

#include <algorithm>

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
  GpSolver(const Program& program, const CallGraph& calls, GpValidity& result)
      : program_(program),
        calls_(calls),
        result_(result),
        copies_(program.target->abi().callers_set_gp),
        keeps_(program.procedures.size(), true),
        wanted_(program.procedures.size(), true) {}

  void run() {
    find_events();
    for (ProcedureId p = 0; p < program_.procedures.size(); ++p)
      if (is_known(p)) find_reliance(p);
    solve();
  }

  void prove(std::span<const ProcedureId> procedures) {
    find_events();
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

  void find_events() {
    relies_.resize(result_.state_.size());
    leaves_alone_.assign(program_.procedures.size(), true);
    misuses_.assign(program_.procedures.size(), false);
    result_.first_event_.reserve(result_.state_.size() + 1);
    GpEventFinder finder(*program_.target);
    for (ProcedureId p = 0; p < program_.procedures.size(); ++p) {
      if (is_known(p)) finder.enter(program_[p]);
      for (const BasicBlock& block : program_[p].blocks) {
        const size_t first = result_.events_.size();
        result_.first_event_.push_back(static_cast<uint32_t>(first));
        if (!is_known(p)) continue;
        finder.find(block, result_.events_);
        note_events(p, std::span(result_.events_).subspan(first));
        if (block.has(BasicBlock::kLandingPad) ||
            end_of(*program_.target, program_[p], block) == End::anything)
          leaves_alone_[p] = false;
      }
    }
    result_.first_event_.push_back(static_cast<uint32_t>(result_.events_.size()));
  }

  void note_events(ProcedureId p, std::span<const GpEvent> events) {
    for (const GpEvent& event : events) {
      if (event.changes_register()) leaves_alone_[p] = false;
      if (event.kind == GpEvent::Kind::misuse) misuses_[p] = true;  // until find_misuses()
    }
  }

  /// Blocks, besides entries, whose addresses code forms or takes from the global offset table.
  void find_loose_labels() {
    loose_.resize(result_.state_.size());
    const auto mark = [&](const CodeLocation& label) {
      if (label.procedure == kNone || label.block == 0) return;
      loose_[result_.numbers_(label.procedure, label.block)] = true;
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
        program_.image == nullptr ? nullptr : program_.image->section_named(kLinkageTable);
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
  Access first_access(uint32_t node, const BasicBlock& block) const {
    const Register gp = *program_.target->abi().global_pointer;
    const auto events = result_.events_of(node);
    const auto write = std::ranges::find_if(events, &GpEvent::changes_register);
    for (uint32_t i = 0; i < block.instructions.size(); ++i) {
      const Instruction& instruction = block.instructions[i];
      if (instruction.is_pseudo()) continue;
      if (write != events.end() && write->index == i) return Access::writes;
      const Operands operands = program_.target->operands(instruction);
      if (operands.uses != 0 && operands.registers[operands.uses - 1] == gp &&
          (program_.target->is_lower_half(instruction) ||
           program_.target->is_upper_half(instruction)))
        return Access::reads;
      if (is_call(program_.target->control_flow(instruction))) return Access::writes;
    }
    return Access::none;
  }

  void find_reliance(ProcedureId p) {
    const auto& blocks = program_[p].blocks;
    const uint32_t first = result_.numbers_(p, 0);
    std::vector<BlockId> work;
    std::vector<Access> access(blocks.size());
    for (BlockId b = 0; b < blocks.size(); ++b) {
      access[b] = first_access(first + b, blocks[b]);
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

  bool is_loose(ProcedureId p, BlockId b) const {
    return !loose_.empty() && loose_[result_.numbers_(p, b)];
  }

  GpState after(uint32_t node, GpState state) const {
    if (state.reached())
      for (const GpEvent& event : result_.events_of(node)) apply(event, state);
    return state;
  }

  /// One procedure, for given states at its entries.
  struct Problem {
    const GpSolver& solver;
    ProcedureId procedure;
    const BlockGraph& graph;
    const std::vector<GpState>& entry_states;  // parallel to entries_of(procedure)

    GpState start() const { return kUnreached; }
    GpState initial(BlockId block) const {
      if (solver.is_landing_pad(procedure, block))
        return solver.at_landing_pad(procedure, block, graph.predecessors[block]);
      if (solver.is_loose(procedure, block)) return kInvalid;
      const auto entries = solver.calls_.entries_of(procedure);
      const auto entry = std::lower_bound(entries.begin(), entries.end(), block);
      if (entry == entries.end() || *entry != block) return kUnreached;
      return entry_states[static_cast<size_t>(entry - entries.begin())];
    }
    void meet(GpState& into, GpState from, BlockId source, BlockId block) const {
      if (!from.reached()) return;
      from = solver.along_edge(procedure, source, block, from);
      if (!into.reached()) {
        into = from;
        return;
      }
      into.holders &= from.holders;
      into.kept &= from.kept;
      if (into.half != from.half) into.half = GpState::kNoHalf;
    }
    GpState transfer(BlockId block, GpState state) const {
      return solver.after(solver.result_.numbers_(procedure, block), state);
    }
  };

  bool is_landing_pad(ProcedureId p, BlockId block) const {
    return program_[p].blocks[block].has(BasicBlock::kLandingPad);
  }

  /// Whether what the block does may throw, and lead to `pad`.
  bool may_land(ProcedureId p, BlockId block, BlockId pad) const {
    const uint32_t site = program_[p].blocks[block].call_site;
    return site != kNone && program_[p].call_sites[site].landing_pad == pad;
  }

  /// What is certain of a landing pad before anything is known of the blocks that lead there.
  GpState at_landing_pad(ProcedureId p, BlockId pad, std::span<const BlockId> sources) const {
    const bool known = copies_ && std::any_of(sources.begin(), sources.end(), [&](BlockId source) {
                         return may_land(p, source, pad);
                       });
    return known ? GpState{.holders = ~GpState::kRegister, .kept = ~uint32_t{0}} : kInvalid;
  }

  /// Edges, and where copies are followed those from blocks that may throw without a call.
  BlockGraph graph_of(ProcedureId p) const {
    BlockGraph graph = make_block_graph(program_[p]);
    if (!copies_ || program_[p].call_sites.empty()) return graph;
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    bool more = false;
    const auto& blocks = program_[p].blocks;
    for (BlockId b = 0; b < blocks.size(); ++b) {
      for (const BlockId target : graph.successors[b]) edges.emplace_back(b, target);
      if (blocks[b].call_site == kNone || blocks[b].edge(Edge::Kind::landing_pad) != nullptr)
        continue;
      const BlockId pad = program_[p].call_sites[blocks[b].call_site].landing_pad;
      if (pad == kNone) continue;
      edges.emplace_back(b, pad);
      more = true;
    }
    if (!more) return graph;
    graph.successors = make_adjacency(blocks.size(), edges);
    graph.predecessors = reversed(graph.successors);
    return graph;
  }

  const Call* call_at(ProcedureId p, BlockId block) const {
    const auto calls = calls_.calls_of(p);
    const auto call = std::lower_bound(calls.begin(), calls.end(), block,
                                       [](const Call& c, BlockId id) { return c.block < id; });
    return call != calls.end() && call->block == block ? &*call : nullptr;
  }

  GpState along_edge(ProcedureId p, BlockId source, BlockId target, GpState state) const {
    const Call* call = call_at(p, source);
    if (call != nullptr && call->kind == Call::Kind::call && !comes_back_with_gp(*call) &&
        !relies_[result_.numbers_(p, target)])
      state.lose_register();
    // A block may be both behind a call and its landing pad.
    if (is_landing_pad(p, target) && lands(p, source, target)) {
      state.lose_register();
      state.holders &= ~copied_in(result_.numbers_(p, source));
    }
    return state;
  }

  bool comes_back_with_gp(const Call& call) const {
    if (callee_keeps(call)) return true;
    if (!copies_) return false;
    // Behind a call that never returns control comes only if a predicate skipped it.
    if (call.known() && !program_[call.callee].returns) return true;
    return program_.target->is_system_call(
        program_[call.caller].blocks[call.block].instructions.back());
  }

  bool lands(ProcedureId p, BlockId source, BlockId pad) const {
    if (may_land(p, source, pad)) return true;
    for (const Edge& edge : program_[p].blocks[source].successors)
      if (edge.target == pad && edge.kind == Edge::Kind::landing_pad) return true;
    return false;
  }

  /// What a block copies gp to, and holds it only behind the copy.
  uint32_t copied_in(uint32_t node) const {
    uint32_t copied = 0;
    for (const GpEvent& event : result_.events_of(node))
      if (event.kind == GpEvent::Kind::copy) copied |= uint32_t{1} << event.to;
    return copied;
  }

  bool callee_keeps(const Call& call) const {
    return call.known() && keeps_[call.callee] &&
           program_[call.callee].gp == program_[call.caller].gp;
  }

  BlockValues<GpState> states_of(ProcedureId p, const std::vector<GpState>& entry_states) const {
    const BlockGraph graph = graph_of(p);
    return solve_blocks<Direction::forward>(graph, Problem{*this, p, graph, entry_states});
  }
  BlockValues<GpState> states_of(ProcedureId p, GpState at_entries) const {
    return states_of(p, std::vector<GpState>(calls_.entries_of(p).size(), at_entries));
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
    const auto values = states_of(p, kValid);
    const auto& blocks = program_[p].blocks;
    for (BlockId b = 0; b < blocks.size(); ++b) {
      if (!values.after[b].reached()) continue;
      const Call* call = call_at(p, b);
      const bool tail = call != nullptr && call->kind == Call::Kind::tail;
      const bool returns =
          !blocks[b].instructions.empty() &&
          program_.target->control_flow(blocks[b].instructions.back()) == ControlFlow::return_jump;
      if ((tail || returns) && !values.after[b].valid()) return false;
      if (tail && !callee_keeps(*call)) return false;
      if (end_of(*program_.target, program_[p], blocks[b]) == End::anything) return false;
    }
    return true;
  }

  // How procedures are entered.

  /// Whether code would misuse gp if it were valid at the entries: then it is not.
  void find_misuses() {
    for (ProcedureId p = 0; p < program_.procedures.size(); ++p) {
      if (!misuses_[p]) continue;
      const auto values = states_of(p, kValid);
      misuses_[p] = false;
      for (BlockId b = 0; b < program_[p].blocks.size() && !misuses_[p]; ++b)
        misuses_[p] = misuses_gp(result_.numbers_(p, b), values.before[b]);
    }
  }

  bool misuses_gp(uint32_t node, GpState state) const {
    if (!state.reached()) return false;
    for (const GpEvent& event : result_.events_of(node)) {
      if (event.kind == GpEvent::Kind::misuse && (state.holders >> event.from & 1) != 0)
        return true;
      apply(event, state);
    }
    return false;
  }

  void find_entries() {
    find_misuses();
    const size_t procedures = program_.procedures.size();
    entry_states_.resize(procedures);
    for (ProcedureId p = 0; p < procedures; ++p) {
      const auto outside = calls_.outside_entries_of(p);
      for (const BlockId entry : calls_.entries_of(p)) {
        const bool unknown = std::binary_search(outside.begin(), outside.end(), entry);
        const bool given = copies_ || is_behind_load(p, entry);
        entry_states_[p].push_back((unknown && !given) || misuses_[p] ? kInvalid : kValid);
      }
    }
    const auto order = calls_.bottom_up();
    Worklist work(std::vector<uint32_t>(order.rbegin(), order.rend()), true);
    for (ProcedureId p = work.pop(); p != kNone; p = work.pop()) {
      if (!wanted_[p]) continue;
      BlockValues<GpState> values;
      if (is_known(p)) {
        values = states_of(p, entry_states_[p]);
        std::copy(values.before.begin(), values.before.end(),
                  result_.state_.begin() + result_.numbers_(p, 0));
      }
      const bool follows_standard =
          copies_ && (!is_known(p) || std::ranges::all_of(entry_states_[p], &GpState::valid));
      for (const Call& call : calls_.calls_of(p)) {
        if (!call.known() || (follows_standard && call.kind == Call::Kind::call)) continue;
        const bool valid = is_known(p) && values.after[call.block].valid() &&
                           program_[call.callee].gp == program_[p].gp;
        if (!valid && refute(call)) work.push(call.callee);
      }
    }
  }

  /// Notes that a call is made without gp.
  bool refute(const Call& call) {
    const auto entries = calls_.entries_of(call.callee);
    const auto entry = std::lower_bound(entries.begin(), entries.end(), call.entry);
    GpState& state = entry_states_[call.callee][static_cast<size_t>(entry - entries.begin())];
    if (!state.valid() || is_behind_load(call.callee, call.entry)) return false;
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
    return after(result_.numbers_(p, 0), kInvalid).valid();
  }

  static constexpr GpState kValid{.holders = GpState::kRegister}, kInvalid{},
      kUnreached{.half = GpState::kUnreached};

  const Program& program_;
  const CallGraph& calls_;
  GpValidity& result_;
  const bool copies_;               // are followed, since callers set gp
  std::vector<bool> relies_;        // per block
  std::vector<bool> loose_;         // per block; empty: trusted
  std::vector<bool> leaves_alone_;  // per procedure: itself, leaving out its callees
  std::vector<bool> misuses_;       // per procedure
  std::vector<bool> keeps_;         // per procedure
  std::vector<bool> wanted_;        // per procedure
  std::vector<std::vector<GpState>> entry_states_;  // per procedure, parallel to entries_of()
};

GpValidity::GpValidity(const Program& program, const CallGraph& calls)
    : program_(program), numbers_(program) {
  forget();
  if (program.target->abi().global_pointer) GpSolver(program, calls, *this).run();
}

GpValidity::GpValidity(const Program& program, const CallGraph& calls,
                       std::span<const ProcedureId> procedures)
    : program_(program), numbers_(program) {
  forget();
  if (program.target->abi().global_pointer) GpSolver(program, calls, *this).prove(procedures);
}

void GpValidity::forget() {
  state_.assign(numbers_.count(), {});
  if (!program_.target->abi().global_pointer) first_event_.assign(numbers_.count() + 1, 0);
}

bool GpValidity::before(ProcedureId p, BlockId block, uint32_t index) const {
  if (!is_known(program_[p])) return false;
  const uint32_t node = numbers_(p, block);
  GpState state = state_[node];
  for (const GpEvent& event : events_of(node))
    if (event.index < index) apply(event, state);
  return state.valid();
}

std::vector<bool> GpValidity::valid_points(ProcedureId p, BlockId block) const {
  std::vector<bool> points(program_[p].blocks[block].instructions.size() + 1);
  if (!is_known(program_[p])) return points;
  const uint32_t node = numbers_(p, block);
  GpState state = state_[node];
  auto event = events_of(node).begin();
  for (uint32_t i = 0; i < points.size(); ++i) {
    for (; event != events_of(node).end() && event->index < i; ++event) apply(*event, state);
    points[i] = state.valid();
  }
  return points;
}

}  // namespace respike

// Validity of the global pointer, a forward must-problem over all procedures.
//
// The register is valid where it certainly holds the procedure's gp. gp_holders.cc describes the
// effects of instructions on it. At entries of a procedure the register is
//
// - invalid if unknown callers may use the entry (pointers, other images, signal handlers);
// - valid at an entry after the procedure's gp load: calls skip the load only with that gp;
// - valid at other entries if it is valid at all calls, and the callers have the same gp.
//
// After a call the register is valid if the known callee `keeps` it: if it is valid at the callee's
// entries, it is valid at all its ways out. It is also valid after any call if the code there
// `relies` on it, that is, forms addresses from gp before another write or call: the author of the
// code knew the callee. Division routines in other images are called like that. After other calls
// of unknown procedures, and at landing pads, the register is invalid until it is loaded again.
//
// Example (Alpha): main() calls f(), has `ldgp` after the call, then calls g(). If f() never writes
// gp, and only calls such procedures, f() keeps gp; the register is valid even before the ldgp.
//
// A proof does not use `relies`. It uses `keeps` only if nothing but the callee's return leads to
// the return point (plain_returns.h): a caller of longjmp may have another gp. So may code that
// jumps to a label of another procedure. Addresses of such labels are formed by code, while jumps
// inside a procedure find their labels in tables. A proof is needed for few procedures, so only
// procedures on which their entries depend are solved.
//
// Where callers set gp (GlobalPointer::callers_set), the register is valid at entries for every
// caller: gp is an argument of every call. A branch from another procedure may come from a part of
// the same, split procedure, so there the register has to be valid at the branch. But the register
// is invalid at the entries of a procedure that uses it, or a copy of it, as code never uses gp,
// e.g. to read memory through it: such a procedure is called with another value in the register,
// say a closure. If so, the register may be invalid as well at the entries of procedures that this
// procedure calls before gp is certain again, and so on. Copies of gp in the procedure's own frame
// survive at a landing pad, since unwinding restores the frame. System calls leave gp alone.
//
// The solver assumes that procedures keep gp, and that entries are valid, until it refutes this; so
// recursion does not lose these facts.

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
        copies_(program.machine->gp != nullptr && program.machine->gp->callers_set),
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
    GpEventFinder finder(*program_.machine);
    for (ProcedureId p = 0; p < program_.procedures.size(); ++p) {
      if (is_known(p)) finder.enter(program_[p]);
      for (const BasicBlock& block : program_[p].blocks) {
        const size_t first = result_.events_.size();
        result_.first_event_.push_back(static_cast<uint32_t>(first));
        if (!is_known(p)) continue;
        finder.find(block, result_.events_);
        note_events(p, std::span(result_.events_).subspan(first));
        if (block.has(BasicBlock::kLandingPad) ||
            end_of(*program_.machine, program_[p], block) == End::anything)
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

  /// Marks blocks, except block 0, whose addresses code forms or loads from the global offset
  /// table.
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

  /// Marks the requested procedures, and the callers of marked procedures at entries whose validity
  /// depends on the callers.
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

  /// The first access of a block to gp: a read as the base of an address, or a possible write.
  Access first_access(uint32_t node, const BasicBlock& block) const {
    const Register gp = program_.machine->gp->base;
    const auto events = result_.events_of(node);
    const auto write = std::ranges::find_if(events, &GpEvent::changes_register);
    for (uint32_t i = 0; i < block.instructions.size(); ++i) {
      const Instruction& instruction = block.instructions[i];
      if (instruction.is_pseudo()) continue;
      if (write != events.end() && write->index == i) return Access::writes;
      const Operands operands = program_.machine->operands(instruction);
      if (operands.uses != 0 && operands.registers[operands.uses - 1] == gp &&
          (program_.machine->fixups.is_lower_half(instruction) ||
           program_.machine->fixups.is_upper_half(instruction)))
        return Access::reads;
      if (is_call(program_.machine->facts(instruction).flow)) return Access::writes;
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

  /// The dataflow problem of one procedure, for given states at its entries.
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

  /// Whether an exception in the block leads to `pad`.
  bool may_land(ProcedureId p, BlockId block, BlockId pad) const {
    const uint32_t site = program_[p].blocks[block].call_site;
    return site != kNone && program_[p].call_sites[site].landing_pad == pad;
  }

  /// The state at the start of a landing pad, before the blocks that lead there are met.
  GpState at_landing_pad(ProcedureId p, BlockId pad, std::span<const BlockId> sources) const {
    const bool known = copies_ && std::any_of(sources.begin(), sources.end(), [&](BlockId source) {
                         return may_land(p, source, pad);
                       });
    return known ? GpState{.holders = ~GpState::kRegister, .kept = ~uint32_t{0}} : kInvalid;
  }

  /// The flow graph; where copies are followed, with edges from blocks that may throw without a
  /// call to their landing pads.
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
    // A block may be both the return point of a call and its landing pad.
    if (is_landing_pad(p, target) && lands(p, source, target)) {
      state.lose_register();
      state.holders &= ~copied_in(result_.numbers_(p, source));
    }
    return state;
  }

  bool comes_back_with_gp(const Call& call) const {
    if (callee_keeps(call)) return true;
    if (!copies_) return false;
    // Control gets past a call that never returns only if a predicate skipped the call.
    if (call.known() && !program_[call.callee].returns) return true;
    return program_.machine->facts(program_[call.caller].blocks[call.block].instructions.back())
        .system_call;
  }

  bool lands(ProcedureId p, BlockId source, BlockId pad) const {
    if (may_land(p, source, pad)) return true;
    for (const Edge& edge : program_[p].blocks[source].successors)
      if (edge.target == pad && edge.kind == Edge::Kind::landing_pad) return true;
    return false;
  }

  /// The registers to which a block copies gp: they only hold gp after the copy.
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

  // ---- which procedures keep gp ----

  void find_keepers() {
    const auto order = calls_.bottom_up();
    Worklist work(std::vector<uint32_t>(order.begin(), order.end()), true);
    std::vector<bool> told(program_.procedures.size());  // callers know: p loses gp
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
          program_.machine->facts(blocks[b].instructions.back()).flow == ControlFlow::return_jump;
      if ((tail || returns) && !values.after[b].valid()) return false;
      if (tail && !callee_keeps(*call)) return false;
      if (end_of(*program_.machine, program_[p], blocks[b]) == End::anything) return false;
    }
    return true;
  }

  // ---- how procedures are entered ----

  /// Finds procedures that would misuse gp if it were valid at their entries: at these entries it
  /// is not valid.
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

  /// Notes that gp is not valid at a call; returns whether this changes the callee's entry.
  bool refute(const Call& call) {
    const auto entries = calls_.entries_of(call.callee);
    const auto entry = std::lower_bound(entries.begin(), entries.end(), call.entry);
    GpState& state = entry_states_[call.callee][static_cast<size_t>(entry - entries.begin())];
    if (!state.valid() || is_behind_load(call.callee, call.entry)) return false;
    state = kInvalid;
    return true;
  }

  /// Whether an entry is the block after the procedure's gp load: only calls with that gp skip the
  /// load.
  bool is_behind_load(ProcedureId p, BlockId entry) const {
    const auto& blocks = program_[p].blocks;
    if (entry == 0 || !is_known(p) || blocks[0].successors.size() != 1 ||
        blocks[0].successors[0].target != entry || blocks[0].instructions.empty() ||
        program_.machine->facts(blocks[0].instructions.back()).flow != ControlFlow::none)
      return false;
    return after(result_.numbers_(p, 0), kInvalid).valid();
  }

  static constexpr GpState kValid{.holders = GpState::kRegister}, kInvalid{},
      kUnreached{.half = GpState::kUnreached};

  const Program& program_;
  const CallGraph& calls_;
  GpValidity& result_;
  const bool copies_;                               // copies are followed, since callers set gp
  std::vector<bool> relies_;                        // per block
  std::vector<bool> loose_;                         // per block; empty: trusted
  std::vector<bool> leaves_alone_;                  // per procedure: its own code never changes gp
  std::vector<bool> misuses_;                       // per procedure
  std::vector<bool> keeps_;                         // per procedure
  std::vector<bool> wanted_;                        // per procedure
  std::vector<std::vector<GpState>> entry_states_;  // per procedure, parallel to entries_of()
};

GpValidity::GpValidity(const Program& program, const CallGraph& calls)
    : program_(program), numbers_(program) {
  forget();
  if (program.machine->gp != nullptr) GpSolver(program, calls, *this).run();
}

GpValidity::GpValidity(const Program& program, const CallGraph& calls,
                       std::span<const ProcedureId> procedures)
    : program_(program), numbers_(program) {
  forget();
  if (program.machine->gp != nullptr) GpSolver(program, calls, *this).prove(procedures);
}

void GpValidity::forget() {
  state_.assign(numbers_.count(), {});
  if (program_.machine->gp == nullptr) first_event_.assign(numbers_.count() + 1, 0);
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

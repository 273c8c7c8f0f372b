#pragma once
// Solves the equations of register_flow.cc for one size of register sets; private to this folder.

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "optimizer/analysis/block_summary.h"
#include "optimizer/analysis/dataflow.h"
#include "optimizer/analysis/plain_returns.h"
#include "optimizer/analysis/register_flow_solution.h"
#include "optimizer/analysis/register_set.h"
#include "optimizer/analysis/unwind_needs.h"
#include "optimizer/image/image.h"
#include "optimizer/machine/machine.h"

namespace respike {

template <size_t W>
class RegisterFlowSolver final : public RegisterFlow::Solution {
 public:
  using Set = BasicRegisterSet<W>;

  RegisterFlowSolver(const Program& program, const CallGraph& calls)
      : program_(program),
        machine_(*program.machine),
        calls_(calls),
        all_(Set::first(machine_.register_count)),
        scratch_(std::span(machine_.abi.scratch)),
        preserved_(std::span(machine_.abi.preserved)),
        flags_(std::span(machine_.abi.flags)) {
    const Abi& abi = machine_.abi;
    sp_.add(abi.stack_pointer);
    unwound_ = preserved_ | sp_;
    unknown_uses_ = Set(std::span(abi.arguments)) | sp_;
    unknown_uses_.add(abi.return_address);
    if (abi.procedure_value) unknown_uses_.add(*abi.procedure_value);
    standard_exit_ = Set(std::span(abi.results)) | preserved_ | sp_;
    unknown_through_ = all_ - scratch_;
    if (const auto gp = machine_.global_pointer()) {
      unwound_.add(*gp);
      unknown_uses_.add(*gp);
      standard_exit_.add(*gp);
      unknown_through_.add(*gp);
    }
    number_blocks();
    for (ProcedureId p = 0; p < program.procedures.size(); ++p) {
      find_ways_out(p);
      summarize_blocks(p, solving_);
      for (const Call& call : calls.calls_of(p)) note_unknown_call(first_[p] + call.block);
    }
    unwinding_ = std::make_unique<UnwindNeeds<W>>(program, calls, first_);
    restored_ = unwinding_->take_restored();
    find_custom_returns();
    returns_elsewhere_ = find_other_returns(program, calls);
    find_dependents(solving_);
    find_pending(solving_);
    add_pending_exits();
    solve_summaries();
    solve_exits();
    solving_ = {};
    outside_entry_ = {};
    unknown_calls_ = {};
  }

  void update(ProcedureId p) override {
    if (program_[p].state == Procedure::State::opaque) return;
    const auto count = static_cast<uint32_t>(program_[p].blocks.size());
    Solving solving;
    solving.first = static_cast<uint32_t>(flow_.size());
    first_[p] = solving.first;
    owner_.resize(owner_.size() + count, p);
    resize_blocks(solving, count);
    find_ways_out(p);
    const Set killed = killed_[p];
    summarize_blocks(p, solving);
    killed_[p] = killed;
    unwinding_->update(p, calls_, first_[p]);
    find_dependents(solving);
    find_pending(solving);
    const BlockGraph graph = make_block_graph(program_[p]);
    Worklist work(graph.postorder, true);
    solve(
        work,
        [&](uint32_t block) {
          const uint32_t node = solving.first + block;
          const Flow flow = flow_before(node, solving);
          if (flow == flow_[node]) return false;
          flow_[node] = flow;
          return true;
        },
        [&](uint32_t block, auto push) {
          for (const uint32_t other : solving.dependents[block]) push(other - solving.first);
        });
  }

  RegisterSet live_before(ProcedureId p, BlockId b, uint32_t index) const override {
    const Set always = always_live(p, b);
    Set live = live_at_end(p, b);
    const auto& list = program_[p].blocks[b].instructions;
    for (uint32_t i = list.size(); i-- > index;) step_back(machine_, list[i], live);
    return RegisterSet(live | always);
  }

  RegisterSet live_in(ProcedureId p, BlockId b) const override {
    return RegisterSet(live_at_start(p, b));
  }

  std::vector<RegisterSet> live_points(ProcedureId p, BlockId b) const override {
    const Set always = always_live(p, b);
    Set live = live_at_end(p, b);
    const auto& list = program_[p].blocks[b].instructions;
    std::vector<RegisterSet> points(list.size() + 1);
    points[list.size()] = RegisterSet(live | always);
    for (uint32_t i = list.size(); i-- > 0;) {
      step_back(machine_, list[i], live);
      points[i] = RegisterSet(live | always);
    }
    return points;
  }

  RegisterSummary summary(ProcedureId p, BlockId entry) const override {
    const Flow flow = entry_flow(p, entry_of(p, entry));
    return {RegisterSet(flow.used), RegisterSet(all_ - flow.through), RegisterSet(killed_[p])};
  }
  RegisterSet live_at_exit(ProcedureId p) const override { return RegisterSet(exit_[p]); }
  RegisterSet unknown_uses() const override { return RegisterSet(unknown_uses_); }

 private:
  /// Summary of the paths from a point to the ways out of its procedure, see register_flow.cc.
  struct Flow {
    Set used, through;

    bool operator==(const Flow&) const = default;
    Flow& operator|=(const Flow& other) {
      used |= other.used;
      through |= other.through;
      return *this;
    }
    /// The summary before code that does `other` and then this.
    Flow behind(const Flow& other) const {
      return {other.used | (used & other.through), through & other.through};
    }
    Flow operator&(const Set& set) const { return {used & set, through & set}; }
  };

  using Local = BlockSummary<W>;

  /// Data needed only while solving for the blocks with flat numbers from `first` on. Lists are
  /// indexed by the flat number minus `first`.
  struct Solving {
    uint32_t first = 0;
    std::vector<Local> locals;
    std::vector<uint32_t> callee_entry;  // flat numbers, or kNone
    Adjacency dependents;                // flat numbers; see find_dependents()

    const Local& local(uint32_t node) const { return locals[node - first]; }
  };

  const BasicBlock& block_at(uint32_t node) const {
    const ProcedureId p = owner_[node];
    return program_[p].blocks[node - first_[p]];
  }

  void number_blocks() {
    const size_t procedures = program_.procedures.size();
    first_.reserve(procedures + 1);
    uint32_t count = 0;
    for (const Procedure& procedure : program_.procedures) {
      first_.push_back(count);
      count += static_cast<uint32_t>(procedure.blocks.size());
    }
    first_.push_back(count);
    first_for_callers_ = first_;
    owner_.reserve(count);
    for (ProcedureId p = 0; p < procedures; ++p)
      owner_.insert(owner_.end(), program_[p].blocks.size(), p);
    resize_blocks(solving_, count);
    successors_.first.reserve(count + 1);
    successors_.first.push_back(0);
    landing_pad_.reserve(count);
    may_skip_end_.reserve(count);
    killed_.resize(procedures);
    restored_.resize(procedures);
    pending_exit_.resize(procedures);
  }

  void resize_blocks(Solving& solving, uint32_t count) {
    const uint32_t end = solving.first + count;
    flow_.resize(end);
    pending_.resize(end);
    end_.resize(end);
    solving.locals.resize(count);
    solving.callee_entry.assign(count, kNone);
  }

  /// Finds successors and landing pads of blocks, in few bytes, since the solver reads them often.
  void find_ways_out(ProcedureId p) {
    for (const BasicBlock& block : program_[p].blocks) {
      for (const Edge& edge : block.successors)
        if (edge.kind != Edge::Kind::landing_pad)
          successors_.targets.push_back(first_[p] + edge.target);
      successors_.first.push_back(static_cast<uint32_t>(successors_.targets.size()));
      const BlockId pad =
          block.call_site == kNone ? kNone : program_[p].call_sites[block.call_site].landing_pad;
      landing_pad_.push_back(pad == kNone ? kNone : first_[p] + pad);
      may_skip_end_.push_back(!block.instructions.empty() &&
                              block.instructions.back().predicate != 0);
    }
  }

  void summarize_blocks(ProcedureId p, Solving& solving) {
    const Procedure& procedure = program_[p];
    if (procedure.state == Procedure::State::opaque) {
      for (BlockId b = 0; b < procedure.blocks.size(); ++b) end_[first_[p] + b] = End::anything;
      killed_[p] = all_;
      return;
    }
    for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
      const BasicBlock& block = procedure.blocks[b];
      solving.locals[first_[p] + b - solving.first] = summarize(machine_, block, killed_[p]);
      end_[first_[p] + b] = end_of(machine_, procedure, block);
    }
    for (const Call& call : calls_.calls_of(p)) {
      const uint32_t node = first_[p] + call.block;
      if (end_[node] == End::anything) continue;
      end_[node] = end_of(call);
      // On Windows NT, stubs also lead to routines of other conventions.
      if (end_[node] == End::unknown_tail && program_.image != nullptr &&
          program_.image->calling_standard == CallingStandard::windows && is_called_otherwise(p))
        end_[node] = End::anything;
      if (call.known())
        solving.callee_entry[node - solving.first] = entry_of(call.callee, call.entry);
    }
  }

  /// Whether a known call that does not follow the standard leads to the procedure.
  bool is_called_otherwise(ProcedureId p) const {
    return std::ranges::any_of(calls_.callers_of(p), [&](uint32_t index) {
      const Call& call = calls_.calls()[index];
      return !call.standard && call.kind != Call::Kind::tail;
    });
  }

  void note_unknown_call(uint32_t node) {
    if (end_[node] == End::unknown_call || end_[node] == End::unknown_tail)
      unknown_calls_.push_back(node);
  }

  /// Finds procedures that return through another register than the standard's, themselves or in a
  /// procedure that they branch to.
  void find_custom_returns() {
    custom_return_.resize(program_.procedures.size());
    if (!machine_.abi.return_address) return;
    std::vector<ProcedureId> work;
    for (uint32_t node = 0; node < end_.size(); ++node) {
      if (end_[node] != End::leaves || custom_return_[owner_[node]]) continue;
      const Operands operands = machine_.operands(block_at(node).instructions.back());
      const auto used = operands.registers + operands.uses;
      if (std::find(operands.registers, used, machine_.abi.return_address) != used) continue;
      custom_return_[owner_[node]] = true;
      work.push_back(owner_[node]);
    }
    while (!work.empty()) {
      const ProcedureId p = work.back();
      work.pop_back();
      for (const uint32_t index : calls_.callers_of(p)) {
        const Call& call = calls_.calls()[index];
        if (call.kind != Call::Kind::tail || custom_return_[call.caller]) continue;
        custom_return_[call.caller] = true;
        work.push_back(call.caller);
      }
    }
  }

  /// Finds the dependents of each block: its predecessors and, if it is a landing pad, the blocks
  /// that it covers.
  void find_dependents(Solving& solving) const {
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    const size_t count = solving.locals.size();
    edges.reserve(count + count / 2);
    for (uint32_t node = solving.first; node < flow_.size(); ++node) {
      const uint32_t first = first_[owner_[node]] - solving.first;
      const BasicBlock& block = block_at(node);
      for (const Edge& edge : block.successors) edges.emplace_back(first + edge.target, node);
      const uint32_t pad = landing_pad_[node];
      if (pad != kNone && block.edge(Edge::Kind::landing_pad) == nullptr)
        edges.emplace_back(pad - solving.first, node);
    }
    solving.dependents = make_adjacency(count, edges);
  }

  /// Finds, by a forward analysis, registers that were written and not read since: at a way out or
  /// an unknown call they may be results or arguments.
  void find_pending(const Solving& solving) {
    std::vector<uint32_t> order(solving.locals.size());
    std::vector<bool> standard_call(order.size());
    for (uint32_t b = 0; b < order.size(); ++b) {
      order[b] = b;
      standard_call[b] = is_standard_call(solving.first + b);
    }
    Worklist work(std::move(order), true);
    solve(
        work,
        [&](uint32_t b) {
          const uint32_t node = solving.first + b;
          if (end_[node] == End::anything) return false;
          Set in;
          for (const uint32_t before : solving.dependents[b])
            in |= standard_call[before - solving.first] ? pending_[before] - scratch_
                                                        : pending_[before];
          const Local& local = solving.locals[b];
          const Set out = (in - local.read) | local.pending;
          if (out == pending_[node]) return false;
          pending_[node] = out;
          return true;
        },
        [&](uint32_t b, auto push) {
          const uint32_t node = solving.first + b;
          for (const Edge& edge : block_at(node).successors)
            push(first_[owner_[node]] - solving.first + edge.target);
        });
  }

  void add_pending_exits() {
    for (uint32_t node = 0; node < flow_.size(); ++node) {
      const ProcedureId p = owner_[node];
      if (end_[node] == End::leaves || end_[node] == End::unknown_tail ||
          (end_[node] == End::tail && returns_elsewhere_[p]))
        pending_exit_[p] |= pending_[node] - flags_;
    }
    // From here on, pending_ is only needed before unknown calls.
    for (uint32_t node = 0; node < flow_.size(); ++node) {
      pending_[node] -= flags_;
      if (end_[node] != End::unknown_call && end_[node] != End::unknown_tail) pending_[node] = {};
    }
  }

  /// Whether a block certainly ends in a call that follows the standard (no predicate skips it).
  bool is_standard_call(uint32_t node) const {
    if (may_skip_end_[node]) return false;
    if (end_[node] == End::unknown_call) return true;
    if (end_[node] != End::call) return false;
    if (!machine_.abi.return_address) return true;
    const Operands operands = machine_.operands(block_at(node).instructions.back());
    return operands.size > operands.uses &&
           operands.registers[operands.uses] == machine_.abi.return_address;
  }

  /// The flat number of an entry for callers: the number from before an update.
  uint32_t entry_of(ProcedureId p, BlockId entry) const { return first_for_callers_[p] + entry; }

  /// The summary of an entry for callers: restored registers are not used and go through.
  Flow entry_flow(ProcedureId p, uint32_t node) const {
    Flow flow = flow_[node];
    flow.used -= restored_[p];
    flow.through |= restored_[p];
    return flow;
  }

  Flow unknown_flow(uint32_t node) const {
    return {certain_only_ ? unknown_uses_ : unknown_uses_ | pending_[node], unknown_through_};
  }

  /// The summary after the last instruction of a block, without landing pads. `callee`: the flat
  /// number of the called entry.
  Flow end_flow(uint32_t node, uint32_t callee) const {
    const End end = end_[node];
    if (end == End::anything) return {certain_only_ ? Set() : all_, all_};
    Flow flow;
    for (const uint32_t next : successors_[node]) flow |= flow_[next];
    const auto through = [&](const Flow& called) {
      const Flow returned = flow.behind(called);
      if (!may_skip_end_[node]) return returned;
      flow |= returned;  // the predicate may skip the call
      return flow;
    };
    switch (end) {
      case End::plain:
      case End::anything:
        break;
      case End::leaves:
        flow.through = all_;
        break;
      case End::call:
        return through(entry_flow(owner_[callee], callee));
      case End::unknown_call:
        return through(unknown_flow(node));
      case End::custom_call:
        if (!certain_only_) flow.used = all_;
        break;
      case End::tail:
        flow |= entry_flow(owner_[callee], callee);
        break;
      case End::unknown_tail:
        flow |= unknown_flow(node);
        break;
    }
    return flow;
  }

  /// The summary at the start of a block.
  Flow flow_before(uint32_t node, const Solving& solving) const {
    Flow flow = end_flow(node, solving.callee_entry[node - solving.first]);
    const Local& local = solving.local(node);
    if (end_[node] != End::anything)
      flow = {local.used | (flow.used - local.defined), flow.through - local.defined};
    const uint32_t pad = landing_pad_[node];
    if (pad != kNone) flow |= flow_[pad] & unwound_;
    return flow;
  }

  // First phase. A first round finds the registers that unknown callees may read. It leaves out
  // reads that are only assumed, since a single opaque procedure would make all unknown callees
  // read all registers. The final round starts from its solution.

  void solve_summaries() {
    outside_entry_.resize(flow_.size());
    for (ProcedureId p = 0; p < program_.procedures.size(); ++p) {
      if (custom_return_[p] || program_[p].state == Procedure::State::opaque) continue;
      for (const BlockId entry : calls_.outside_entries_of(p))
        outside_entry_[first_[p] + entry] = true;
    }
    if (program_.image != nullptr)  // the system starts the image's entry; no call leads there
      if (const auto start = respike::block_at(program_, program_.image->entry))
        outside_entry_[first_[start->procedure] + start->block] = false;
    Worklist work(bottom_up_order(), true);
    certain_only_ = true;
    solve_due(work);
    certain_only_ = false;
    for (uint32_t node = 0; node < flow_.size(); ++node)
      if (end_[node] == End::anything || end_[node] == End::custom_call ||
          end_[node] == End::unknown_call || end_[node] == End::unknown_tail)
        work.push(node);
    solve_due(work);
  }

  void solve_due(Worklist& work) {
    solve(
        work, [&](uint32_t node) { return evaluate(node, work); },
        [&](uint32_t node, auto push) {
          for (const uint32_t other : solving_.dependents[node]) push(other);
        });
  }

  std::vector<uint32_t> bottom_up_order() const {
    std::vector<uint32_t> order;
    order.reserve(flow_.size());
    std::vector<bool> seen(flow_.size());
    std::vector<std::pair<uint32_t, uint32_t>> path;
    for (const ProcedureId p : calls_.bottom_up())
      for (uint32_t root = first_[p]; root < first_[p + 1]; ++root) {
        if (seen[root]) continue;
        seen[root] = true;
        path.emplace_back(root, 0);
        while (!path.empty()) {
          auto& [node, next] = path.back();
          const auto& successors = block_at(node).successors;
          if (next == successors.size()) {
            order.push_back(node);
            path.pop_back();
            continue;
          }
          const uint32_t target = first_[p] + successors[next++].target;
          if (seen[target]) continue;
          seen[target] = true;
          path.emplace_back(target, 0);
        }
      }
    return order;
  }

  bool evaluate(uint32_t node, Worklist& work) {
    const ProcedureId p = owner_[node];
    note_callee(node, p, solving_.callee_entry[node], work);
    const Flow flow = flow_before(node, solving_);
    if (flow == flow_[node]) return false;
    flow_[node] = flow;
    entry_changed(node, p, work);
    return true;
  }

  /// Updates restored_ and killed_ of a procedure by what the callee of a block does.
  void note_callee(uint32_t node, ProcedureId p, uint32_t callee, Worklist& work) {
    Set lost, killed;
    switch (end_[node]) {
      case End::call:
      case End::tail: {
        const ProcedureId q = owner_[callee];
        killed = killed_[q] - restored_[q];
        lost = entry_flow(q, callee).used | (killed & preserved_);
        break;
      }
      case End::unknown_call:
      case End::unknown_tail:
        lost = unknown_uses_;
        killed = scratch_;
        break;
      case End::custom_call:
        killed = all_;  // frame_shape.h knows which registers are lost
        break;
      case End::anything:
        lost = killed = all_;
        break;
      default:
        return;
    }
    const bool all_restored = (restored_[p] & lost).empty();
    if (all_restored && killed_[p].includes(killed)) return;
    restored_[p] -= lost;
    killed_[p] |= killed;
    push_callers(p, work);
    if (!all_restored)
      for (const BlockId entry : calls_.outside_entries_of(p))
        note_unknown_uses(first_[p] + entry, work);
  }

  void push_callers(ProcedureId p, Worklist& work) {
    for (const uint32_t index : calls_.callers_of(p)) {
      const Call& call = calls_.calls()[index];
      work.push(first_[call.caller] + call.block);
    }
  }

  void entry_changed(uint32_t node, ProcedureId p, Worklist& work) {
    const auto entries = calls_.entries_of(p);
    if (!std::binary_search(entries.begin(), entries.end(), node - first_[p])) return;
    for (const uint32_t index : calls_.callers_of(p)) {
      const Call& call = calls_.calls()[index];
      if (first_[p] + call.entry == node) work.push(first_[call.caller] + call.block);
    }
    note_unknown_uses(node, work);
  }

  void note_unknown_uses(uint32_t node, Worklist& work) {
    if (!certain_only_ || !outside_entry_[node]) return;
    const Set used = (entry_flow(owner_[node], node).used & scratch_) - flags_;
    // A procedure that reads nearly all scratch registers saves the state of other code: no call
    // passes arguments in all of them.
    if (unknown_uses_.includes(used) || 2 * used.count() > scratch_.count()) return;
    unknown_uses_ |= used;
    for (const uint32_t call : unknown_calls_) work.push(call);
  }

  // Second phase.

  void solve_exits() {
    const size_t procedures = program_.procedures.size();
    exit_.resize(procedures);
    unwind_.resize(procedures);
    for (ProcedureId p = 0; p < procedures; ++p) {
      killed_[p] -= restored_[p];
      const auto outside = calls_.outside(p);
      // Known callers show which results they read, unless returns lead elsewhere.
      if (outside != CallGraph::Outside::none || returns_elsewhere_[p]) exit_[p] = pending_exit_[p];
      if (outside != CallGraph::Outside::none) {
        exit_[p] |= standard_exit_;
        unwind_[p] = preserved_;
      }
      const bool custom = outside != CallGraph::Outside::none && custom_return_[p];
      if (custom || outside == CallGraph::Outside::anything ||
          program_[p].state == Procedure::State::opaque)
        exit_[p] = all_;
    }
    const auto order = calls_.bottom_up();
    Worklist work(std::vector<uint32_t>(order.rbegin(), order.rend()), true);
    for (ProcedureId p = work.pop(); p != kNone; p = work.pop())
      for (const Call& call : calls_.calls_of(p))
        if (call.known() && pass_down(p, call)) work.push(call.callee);
  }

  bool pass_down(ProcedureId p, const Call& call) {
    const uint32_t node = first_[p] + call.block;
    Set exit;
    if (call.kind == Call::Kind::tail)
      exit = exit_[p];
    else
      for (const uint32_t next : successors_[node]) exit |= live_at_start(p, next - first_[p]);
    if (end_[node] == End::anything) exit = all_;
    Set unwind = unwinding_->passed_on(node, unwind_[p]);
    if (const uint32_t pad = landing_pad_[node]; pad != kNone)
      unwind |= live_at_start(p, pad - first_[p]) & unwound_;
    if (exit_[call.callee].includes(exit) && unwind_[call.callee].includes(unwind)) return false;
    exit_[call.callee] |= exit;
    unwind_[call.callee] |= unwind;
    return true;
  }

  /// Registers that are live at every point of a block for all of its instructions.
  Set always_live(ProcedureId p, BlockId b) const {
    const uint32_t node = first_[p] + b;
    if (program_[p].state == Procedure::State::opaque) return all_;
    Set live = sp_ | unwinding_->everywhere(node, unwind_[p]);
    const uint32_t pad = landing_pad_[node];
    if (pad != kNone) {
      const Flow& flow = flow_[pad];
      live |= (flow.used | (exit_[p] & flow.through) | unwinding_->everywhere(pad, unwind_[p])) &
              unwound_;
    }
    return live;
  }

  Set live_at_start(ProcedureId p, BlockId b) const {
    const Flow& flow = flow_[first_[p] + b];
    return flow.used | (flow.through & exit_[p]) | always_live(p, b);
  }

  /// Registers live after the last instruction of a block, before a callee starts.
  Set live_at_end(ProcedureId p, BlockId b) const {
    const uint32_t node = first_[p] + b;
    uint32_t callee = kNone;
    if (end_[node] == End::call || end_[node] == End::tail) {
      const auto calls = calls_.calls_of(p);
      const auto call = std::lower_bound(calls.begin(), calls.end(), b,
                                         [](const Call& c, BlockId id) { return c.block < id; });
      callee = entry_of(call->callee, call->entry);
    }
    const Flow flow = end_flow(node, callee);
    Set live = flow.used | (flow.through & exit_[p]);
    for (const uint32_t next : successors_[node]) live |= always_live(p, next - first_[p]);
    return live | unwinding_->at_end(node, unwind_[p]);
  }

  const Program& program_;
  const Machine& machine_;
  const CallGraph& calls_;
  const Set all_, scratch_, preserved_, flags_;
  Set sp_, unwound_, standard_exit_, unknown_through_, unknown_uses_;

  // Blocks have flat numbers: first_[procedure] + block. An updated procedure gets new numbers
  // after all others. The facts that callers use stay with the old numbers of its entries
  // (first_for_callers_), since `killed_` and `restored_` are not updated either.
  std::vector<uint32_t> first_, first_for_callers_;
  std::vector<ProcedureId> owner_;
  std::vector<Flow> flow_;
  std::vector<Set> pending_;  // see find_pending()
  std::vector<End> end_;
  Adjacency successors_;               // without landing pads
  std::vector<uint32_t> landing_pad_;  // flat number, or kNone
  std::vector<bool> may_skip_end_;     // by the predicate of the last instruction
  // Only while solving.
  Solving solving_;
  std::vector<uint32_t> unknown_calls_;
  std::vector<bool> outside_entry_;  // blocks that unknown standard calls may enter
  bool certain_only_ = false;        // see solve_summaries()
  // Per procedure.
  std::vector<Set> killed_, restored_, pending_exit_, exit_, unwind_;
  std::unique_ptr<UnwindNeeds<W>> unwinding_;
  std::vector<bool> custom_return_, returns_elsewhere_;
};

}  // namespace respike

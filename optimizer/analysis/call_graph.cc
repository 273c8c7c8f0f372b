// The call graph of an image.
//
// Direct calls and branches name their targets. Indirect calls are not resolved: every procedure
// whose address is taken, that is exported, or that the system starts may be the callee. All other
// procedures only have known callers. Example: `main` calls `f` directly and calls through a
// pointer that data sets to `g`. `g` may be entered from anywhere (outside() is standard), `f` only
// by main.
//
// An address counts as taken when data or code holds it. Two kinds of addresses do not count:
// labels to which only jumps of their own procedure lead (jump tables, computed gotos), and slots
// of a linkage table that no instruction loads. Linkers leave such slots when they relax calls
// through the table to direct calls; in static images nearly every procedure would have one.
//
// A computed goto may lead to labels of its procedure and, as far as the lifter knows, out of it.
// If the procedure's frame is still allocated, the goto stays inside, since code releases the frame
// before it leaves the procedure.

#include "optimizer/analysis/call_graph.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "optimizer/analysis/block_graph.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/machine/machine.h"

namespace respike {

class CallGraphBuilder {
 public:
  CallGraphBuilder(const Program& program, CallGraph& graph)
      : program_(program), machine_(*program.machine), graph_(graph) {}

  void build() {
    graph_.outside_.assign(program_.procedures.size(), CallGraph::Outside::none);
    graph_.first_call_.resize(program_.procedures.size());
    graph_.end_call_.resize(program_.procedures.size());
    for (ProcedureId id = 0; id < program_.procedures.size(); ++id) {
      if (program_[id].state == Procedure::State::opaque) enter_from_opaque(program_[id]);
      add_calls(id);
    }
    add_references();
    add_code_pointers();
    add_image_entries();
    find_unused();
    index_callers();
    collect_entries();
    sort_bottom_up();
  }

  void add_calls(ProcedureId id) {
    graph_.first_call_[id] = static_cast<uint32_t>(graph_.calls_.size());
    const Procedure& procedure = program_[id];
    const bool opaque = procedure.state == Procedure::State::opaque;
    for (BlockId block = 0; !opaque && block < procedure.blocks.size(); ++block)
      if (const auto call = call_at(procedure, block)) {
        graph_.calls_.push_back(*call);
        if (procedure.nonstandard) graph_.calls_.back().standard = false;
        graph_.calls_.back().caller = id;
        graph_.calls_.back().block = block;
      }
    graph_.end_call_[id] = static_cast<uint32_t>(graph_.calls_.size());
  }

 private:
  using Outside = CallGraph::Outside;

  void enter(ProcedureId id, BlockId block, Outside how) {
    graph_.outside_[id] = std::max(graph_.outside_[id], how);
    outside_entries_.emplace_back(id, block);
  }

  /// An opaque procedure is not understood, but its direct branches show which procedures it may
  /// enter.
  void enter_from_opaque(const Procedure& procedure) {
    for (const BasicBlock& block : procedure.blocks) {
      if (block.instructions.empty()) continue;
      const Instruction& last = block.instructions.back();
      if (!is_direct(machine_.facts(last).flow)) continue;
      std::optional<CodeLocation> to;
      if (const Reference* reference = branch_of(procedure, last))
        to = reference->target;
      else if (last.origin != kNone)
        to = block_at(program_, program_.origin_base + last.origin +
                                    static_cast<uint64_t>(int64_t{last.immediate}));
      if (to && to->where == CodeLocation::Where::block_start && to->procedure != kNone)
        enter(to->procedure, to->block, Outside::anything);
    }
  }

  std::optional<Call> call_at(const Procedure& procedure, BlockId id) const {
    const BasicBlock& block = procedure.blocks[id];
    if (block.instructions.empty()) return std::nullopt;
    const Instruction& last = block.instructions.back();
    Call call;
    const ControlFlow flow = machine_.facts(last).flow;
    switch (flow) {
      case ControlFlow::call:
      case ControlFlow::indirect_call: {
        const Operands operands = machine_.operands(last);
        call.standard = !machine_.abi.return_address || machine_.facts(last).system_call ||
                        (operands.size > operands.uses &&
                         operands.registers[operands.uses] == machine_.abi.return_address);
        break;
      }
      case ControlFlow::branch:
      case ControlFlow::conditional_branch:
        if (branch_of(procedure, last) == nullptr) return std::nullopt;
        call.kind = Call::Kind::tail;
        break;
      case ControlFlow::indirect_jump: {
        if (!block.successors.empty() && !procedure.nonstandard &&
            (!block.has(BasicBlock::kMayLeave) || has_frame(procedure, block)))
          return std::nullopt;
        call.kind = Call::Kind::tail;
        const Operands operands = machine_.operands(last);
        const auto pv = machine_.abi.procedure_value;
        const unsigned predicates = last.predicate != 0 ? 1 : 0;
        call.standard =
            !machine_.abi.return_address ||
            (operands.uses == predicates + 1 && (!pv || operands.registers[predicates] == *pv));
        return call;
      }
      default:
        return std::nullopt;
    }
    if (const Reference* to = branch_of(procedure, last);
        to != nullptr && to->target.where == CodeLocation::Where::block_start &&
        to->target.procedure != kNone) {
      call.callee = to->target.procedure;
      call.entry = to->target.block;
    }
    return call;
  }

  /// Whether unwind information says that a frame is allocated at the end of the block.
  bool has_frame(const Procedure& procedure, const BasicBlock& block) const {
    const auto& states = program_.unwind.states;
    const uint32_t last = state_at_end(block);
    const uint32_t entry = procedure.blocks.front().cfi_state;
    if (last >= states.size() || entry >= states.size()) return false;
    const CfiState &at_end = states[last], &at_entry = states[entry];
    if (at_end.cfa_is_expression || at_entry.cfa_is_expression) return false;
    return at_end.cfa_register != at_entry.cfa_register || at_end.cfa_offset != at_entry.cfa_offset;
  }

  /// Takes the addresses that code forms.
  void add_references() {
    for (const Procedure& procedure : program_.procedures)
      for (const Reference& reference : procedure.references) {
        switch (reference.kind) {
          case ReferenceKind::branch:
          case ReferenceKind::branch_hint:
          case ReferenceKind::gp_load_high:
          case ReferenceKind::gp_load_low:
            continue;
          default:
            take_address(reference.target);
        }
      }
    for (const auto& [from, to] : program_.falls_into)
      if (program_[from].state == Procedure::State::opaque) enter(to, 0, Outside::anything);
  }

  void add_code_pointers() {
    if (program_.code_pointers.empty()) return;
    find_loaded_slots();
    for (const CodePointer& pointer : program_.code_pointers)
      // Only a return leads to a return point.
      if (pointer.target.where != CodeLocation::Where::return_point &&
          !is_unused_slot(pointer.address))
        take_address(pointer.target);
  }

  void take_address(const CodeLocation& location) {
    if (location.procedure == kNone) return;
    const Procedure& procedure = program_[location.procedure];
    // Handlers of exceptions are entered from everywhere, in any way.
    if (procedure.nonstandard) return enter(location.procedure, location.block, Outside::anything);
    // A return point (location.block is the call's block) is never a label.
    if (location.where != CodeLocation::Where::block_start || !is_label(procedure, location))
      enter(location.procedure, location.block, Outside::standard);
  }

  /// Whether a block is the target of an indirect jump of its own procedure, which explains why its
  /// address is kept.
  bool is_label(const Procedure& procedure, const CodeLocation& location) {
    if (location.block == 0 || procedure.blocks[location.block].has(BasicBlock::kEntry))
      return false;
    auto [known, fresh] = labels_.try_emplace(location.procedure);
    if (fresh) {
      known->second.resize(procedure.blocks.size());
      for (const BasicBlock& block : procedure.blocks)
        for (const Edge& edge : block.successors)
          if (edge.kind == Edge::Kind::indirect) known->second[edge.target] = true;
    }
    return known->second[location.block];
  }

  /// Finds the slots of the linkage table that instructions load by a displacement from gp. Unknown
  /// when a procedure that uses gp has no known gp.
  void find_loaded_slots() {
    const auto gp = machine_.global_pointer();
    const Section* table =
        program_.image == nullptr ? nullptr : program_.image->section_named(kLinkageTable);
    if (!gp || table == nullptr) return;
    slots_start_ = table->address;
    slots_loaded_.assign(table->size / kSlot + 1, false);
    for (const Procedure& procedure : program_.procedures)
      for (const BasicBlock& block : procedure.blocks)
        for (const Instruction& i : block.instructions) {
          if (i.is_pseudo()) continue;
          const Operands operands = machine_.operands(i);
          if (operands.uses == 0 || operands.registers[operands.uses - 1] != *gp) continue;
          // Code may also load slots through a copy of gp.
          if (machine_.facts(i).source == ValueSource::copied) return slots_loaded_.clear();
          const auto operand = machine_.based_operand(i);
          if (i.has_reference() || !operand) continue;
          if (!procedure.gp) return slots_loaded_.clear();
          const uint64_t slot =
              *procedure.gp + static_cast<uint64_t>(operand->displacement) - slots_start_;
          if (slot < table->size) slots_loaded_[slot / kSlot] = true;
        }
  }

  bool is_unused_slot(uint64_t address) const {
    const uint64_t slot = (address - slots_start_) / kSlot;
    return address >= slots_start_ && slot < slots_loaded_.size() && !slots_loaded_[slot];
  }

  void enter_at(uint64_t address) {
    if (const auto location = block_at(program_, address))
      enter(location->procedure, location->block, Outside::standard);
  }

  void add_image_entries() {
    for (const Cie& cie : program_.unwind.cies) enter_at(cie.personality);
    const Image* image = program_.image;
    if (image == nullptr) return;
    enter_at(image->entry);
    for (const LoaderEntry& entry : image->loader_entries)
      if (entry.enters_code()) enter_at(entry.value);
    // Names of fragments are hidden, and nothing refers to them. Relocations refer to local symbols
    // on Itanium.
    for (const Symbol& symbol : image->dynamic_symbols)
      if (symbol.defined_in_section() && (!symbol.local || symbol.visibility == 0))
        enter_at(symbol.value);
  }

  void find_unused() {
    graph_.unused_.assign(program_.procedures.size(), true);
    std::vector<ProcedureId> reached;
    const auto reach = [&](ProcedureId id) {
      if (!graph_.unused_[id]) return;
      graph_.unused_[id] = false;
      reached.push_back(id);
    };
    for (ProcedureId id = 0; id < program_.procedures.size(); ++id)
      if (graph_.outside_[id] != Outside::none || !program_[id].movable()) reach(id);
    std::unordered_multimap<ProcedureId, ProcedureId> followers(program_.falls_into.begin(),
                                                                program_.falls_into.end());
    while (!reached.empty()) {
      const ProcedureId id = reached.back();
      reached.pop_back();
      for (const Call& call : graph_.calls_of(id))
        if (call.known()) reach(call.callee);
      const auto [first, last] = followers.equal_range(id);
      for (auto follower = first; follower != last; ++follower) reach(follower->second);
    }
  }

  /// Indexes calls by callee. A procedure without callers and without outside entries gets an
  /// outside entry: it exists for an unknown reason.
  void index_callers() {
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    for (uint32_t i = 0; i < graph_.calls_.size(); ++i)
      if (graph_.calls_[i].known()) edges.emplace_back(graph_.calls_[i].callee, i);
    Adjacency callers = make_adjacency(program_.procedures.size(), edges);
    for (ProcedureId id = 0; id < program_.procedures.size(); ++id)
      if (callers[id].empty() && graph_.outside_[id] == Outside::none)
        enter(id, 0, Outside::standard);
    graph_.first_caller_ = std::move(callers.first);
    graph_.callers_ = std::move(callers.targets);
  }

  void collect_entries() {
    std::vector<std::pair<ProcedureId, BlockId>> entries = outside_entries_;
    for (ProcedureId id = 0; id < program_.procedures.size(); ++id) entries.emplace_back(id, 0);
    for (const Call& call : graph_.calls_)
      if (call.known()) entries.emplace_back(call.callee, call.entry);
    group(outside_entries_, graph_.first_outside_entry_, graph_.outside_entries_);
    group(entries, graph_.first_entry_, graph_.entries_);
  }

  void group(std::vector<std::pair<ProcedureId, BlockId>>& pairs, std::vector<uint32_t>& first,
             std::vector<BlockId>& blocks) const {
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    first.assign(program_.procedures.size() + 1, 0);
    blocks.reserve(pairs.size());
    for (const auto& [id, block] : pairs) {
      ++first[id + 1];
      blocks.push_back(block);
    }
    for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  }

  /// Tarjan's strongly connected components, without recursion; callees come first.
  void sort_bottom_up() {
    const size_t count = program_.procedures.size();
    std::vector<uint32_t> number(count, kNone), low(count);
    std::vector<ProcedureId> open;                       // not yet in a component
    std::vector<std::pair<ProcedureId, uint32_t>> path;  // each with the next call to follow
    graph_.components_.assign(count, kNone);
    uint32_t numbers = 0, components = 0;
    const auto start = [&](ProcedureId id) {
      number[id] = low[id] = numbers++;
      open.push_back(id);
      path.emplace_back(id, graph_.first_call_[id]);
    };
    for (ProcedureId root = 0; root < count; ++root) {
      if (number[root] != kNone) continue;
      start(root);
      while (!path.empty()) {
        const ProcedureId id = path.back().first;
        if (path.back().second < graph_.end_call_[id]) {
          const Call& call = graph_.calls_[path.back().second++];
          if (!call.known()) continue;
          if (number[call.callee] == kNone)
            start(call.callee);
          else if (graph_.components_[call.callee] == kNone)
            low[id] = std::min(low[id], number[call.callee]);
          continue;
        }
        path.pop_back();
        if (!path.empty()) low[path.back().first] = std::min(low[path.back().first], low[id]);
        if (low[id] != number[id]) continue;
        ProcedureId member;
        do {
          member = open.back();
          open.pop_back();
          graph_.components_[member] = components;
          graph_.bottom_up_.push_back(member);
        } while (member != id);
        ++components;
      }
    }
  }

  // The section whose slots hold an address each; code loads slots relative to gp.
  static constexpr uint64_t kSlot = 8;  // bytes

  const Program& program_;
  const Machine& machine_;
  CallGraph& graph_;
  std::vector<std::pair<ProcedureId, BlockId>> outside_entries_;
  std::unordered_map<ProcedureId, std::vector<bool>> labels_;  // reached by indirect edges
  uint64_t slots_start_ = std::numeric_limits<uint64_t>::max();
  std::vector<bool> slots_loaded_;  // empty: not known
};

CallGraph::CallGraph(const Program& program) {
  CallGraphBuilder(program, *this).build();
}

void CallGraph::update(const Program& program, ProcedureId id) {
  CallGraphBuilder(program, *this).add_calls(id);
}

}  // namespace respike

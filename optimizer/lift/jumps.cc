// Where indirect jumps lead, once all other edges of the procedure exist.
//
// An indirect jump has three kinds of targets. It goes through a jump table, found by following the
// jump's register back to the load of a table's address, along the edges known so far. Or it goes
// to labels whose addresses were taken (computed goto). Or it leaves the procedure (a tail call, a
// goto into the procedure around it). Labels that are reached by their distance to another label
// cannot be found; an address that was added up or came back from a call, or a block to which
// nothing leads, is a sign of such labels.
//
// Example: "s4addq a0, t1, t1; ldl t0, 0(t1); addq t0, gp, t0; jmp (t0)": t0 comes from t1, and t1
// from the instructions before, which form the address of the table.
//
// Calls end blocks. Registers are followed across calls only where calls.h says that they survive:
// a table found in a register that the call changed would not be the jump's table.
//
// Where tables hold whole addresses, nothing before the jump shows an entry of a table, so all
// paths to the jump count. In a loop around the jump some of these paths come from the table's own
// targets: see assume_tables().

#include "optimizer/lift/jumps.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include <fmt/format.h>

#include "optimizer/ir/lookup.h"
#include "optimizer/lift/calls.h"
#include "optimizer/lift/labels.h"

namespace respike {
namespace {

/// The indirect jumps of one procedure.
class JumpConnector {
 public:
  JumpConnector(Lifter& lifter, ProcedureId id, std::span<const uint32_t> ranges, Effort& effort)
      : lifter_(lifter),
        program_(lifter.program),
        id_(id),
        procedure_(program_[id]),
        ranges_(ranges),
        effort_(effort) {}

  void run() {
    for (BlockId id = 0; id < procedure_.blocks.size(); ++id)
      if (lifter_.machine.facts(procedure_.blocks[id].instructions.back()).flow ==
          ControlFlow::indirect_jump)
        jumps_.push_back(id);
    if (!jumps_.empty()) {
      if (lifter_.machine.evidence.labels_are_words) {
        for (BlockId id : jumps_) add_all_labels(id);
      } else {
        find_predecessors();
        if (has_address_tables() && !assume_tables()) find_predecessors();
        for (BlockId id : jumps_) add_indirect(id);
        find_owners();
      }
    }
    if (!lifter_.machine.evidence.labels_are_words) check_labels();  // see sums.cc
  }

 private:
  void add_edge(BasicBlock& block, BlockId target) {
    block.successors.push_back(*program_.arena,
                               Edge{.target = target, .kind = Edge::Kind::indirect});
  }

  uint64_t address_of(const Instruction& instruction) const {
    return program_.origin_base + instruction.origin;
  }

  /// Places within the procedure whose addresses are kept are labels if some jump may go to labels;
  /// otherwise they may be data.
  void check_labels() {
    for (const BasicBlock& block : procedure_.blocks)
      if (block.has(BasicBlock::kMayLeave)) return;
    for (const BasicBlock& block : procedure_.blocks) {
      if (block.origin == kNone || block.has(BasicBlock::kEntry)) continue;
      const uint64_t address = program_.address_of(block);
      if ((lifter_.marks_at(address) & (kLabelMark | kEntryMark)) != kLabelMark) continue;
      lifter_.make_opaque(procedure_, fmt::format("the address {:#x} inside of it is kept, but "
                                                  "nothing in it jumps there",
                                                  address));
      return;
    }
  }

  void add_indirect(BlockId id) {
    BasicBlock& block = procedure_.blocks[id];
    const Instruction& last = block.instructions.back();
    const uint64_t place = address_of(last);
    bool complete = true;
    std::vector<uint64_t> tables = tables_of(id, complete);
    if (std::erase_if(tables, [&](uint64_t table) { return !is_jump_table(table); }) != 0)
      complete = false;
    // Where a path leads to no table, the jump may use any table; or no table, if its target is not
    // a table's entry.
    if (tables.empty() ? adds_gp(block) : !complete) tables = all_tables();
    const bool table_only = !tables.empty() && (complete || adds_gp(block));
    if (table_only) return add_tables(id, tables, {}, complete);
    block.flags |= BasicBlock::kMayLeave;
    const std::vector<BlockId>& labels = taken_labels();
    if (!Effort::spend(effort_.edges, labels.size())) return too_many_targets(place);
    if (!tables.empty()) return add_tables(id, tables, labels, false);
    if (!is_understood(id, labels)) {
      lifter_.make_opaque(procedure_, fmt::format("unknown indirect jump at {:#x}", place));
      return;
    }
    for (BlockId label : labels) add_edge(block, label);
  }

  /// Where all labels are words of data (AddressEvidence), those of the procedure are entries of its
  /// tables: every jump may lead to all of them, or out of the procedure.
  void add_all_labels(BlockId id) {
    BasicBlock& block = procedure_.blocks[id];
    block.flags |= BasicBlock::kMayLeave;
    if (!labels_) {
      labels_.emplace();
      for (BlockId label = 1; label < procedure_.blocks.size(); ++label) {
        const BasicBlock& candidate = procedure_.blocks[label];
        if (candidate.origin != kNone &&
            (lifter_.marks_at(program_.address_of(candidate)) & kAddressTakenMark) != 0)
          labels_->push_back(label);
      }
    }
    if (!Effort::spend(effort_.edges, labels_->size()))
      return too_many_targets(address_of(block.instructions.back()));
    block.successors.reserve(*program_.arena,
                             block.successors.size() + static_cast<uint32_t>(labels_->size()));
    for (const BlockId label : *labels_) add_edge(block, label);
  }

  bool has_address_tables() const {
    return lifter_.machine.abi.jump_table_entry == RelocationRole::address32;
  }

  /// Assumes that the jumps that form the address of a table lead only to targets of such tables,
  /// and adds the jumps to the predecessors of these targets. Then checks that all paths to each of
  /// these jumps come from the table. If they do, the assumption is right, by induction over a run
  /// of the program: the first jump is on a path without jumps, and each later jump is on a path
  /// whose jumps did what was assumed. Example: a loop around a `switch` comes back from the cases
  /// of the switch.
  ///
  /// False when the check fails, or when labels have their addresses elsewhere as well.
  bool assume_tables() {
    const Effort before = effort_;
    const bool right = add_assumed_predecessors() && assumption_holds();
    effort_ = before;
    assumed_.clear();
    return right;
  }

  bool add_assumed_predecessors() {
    std::set<BlockId> reached;
    std::vector<BlockId> others;
    for (const BlockId jump : jumps_) {
      bool complete = true;
      std::vector<uint64_t> tables = tables_of(jump, complete);
      const bool only_tables =
          std::ranges::all_of(tables, [&](uint64_t table) { return is_jump_table(table); });
      if (tables.empty() || !only_tables) {
        others.push_back(jump);
        continue;
      }
      std::set<BlockId> targets;
      for (const uint64_t table : tables)
        for (const BlockId target : entries_of(table)) targets.insert(target);
      if (!Effort::spend(effort_.edges, targets.size())) return false;
      for (const BlockId target : targets) predecessors_[target].push_back(jump);
      reached.insert(targets.begin(), targets.end());
      assumed_.emplace(jump, std::move(tables));
    }
    for (const BlockId label : taken_labels())
      if (!reached.contains(label)) return false;
    for (const BlockId target : reached)
      if ((marks_of(target) & (kEntryMark | kLabelMark)) != 0) return false;
    // Jumps that use no table may lead to all labels.
    if (!Effort::spend(effort_.edges, others.size() * reached.size())) return false;
    for (const BlockId jump : others)
      for (const BlockId label : reached) predecessors_[label].push_back(jump);
    return !assumed_.empty();
  }

  bool assumption_holds() {
    return std::ranges::all_of(assumed_, [&](const auto& assumed) {
      bool complete = true;
      const std::vector<uint64_t> tables = tables_of(assumed.first, complete);
      return complete && tables == assumed.second;
    });
  }

  uint8_t marks_of(BlockId id) const {
    const BasicBlock& block = procedure_.blocks[id];
    return block.origin == kNone ? uint8_t{0} : lifter_.marks_at(program_.address_of(block));
  }

  /// Whether control comes to a block from outside of the procedure.
  bool is_entered(BlockId id) const { return id == 0 || (marks_of(id) & kEntryMark) != 0; }

  /// Whether a jump that uses no table certainly leads to the labels or, if there are none, out of
  /// the procedure.
  bool is_understood(BlockId jump, const std::vector<BlockId>& labels) {
    LabelTracer tracer(lifter_, id_, predecessors_, jumps_, labels, effort_);
    if (!tracer.jumps_to_stored_address(jump)) return false;
    if (labels.empty() && is_tail_call(procedure_.blocks[jump].instructions.back())) return true;
    return !tracer.from_call() && !has_hidden_label() && (labels.empty() || labels_are_passed_on());
  }

  bool is_tail_call(const Instruction& jump) const {
    const Operands operands = lifter_.machine.operands(jump);
    const auto pv = lifter_.machine.abi.procedure_value;
    const auto end = operands.registers + operands.uses;
    return pv && std::find(operands.registers, end, *pv) != end;
  }

  /// The blocks whose addresses are taken, except as entries of tables.
  const std::vector<BlockId>& taken_labels() {
    if (!labels_) {
      labels_.emplace();
      for (BlockId label = 0; label < procedure_.blocks.size(); ++label) {
        const BasicBlock& candidate = procedure_.blocks[label];
        if (candidate.origin == kNone) continue;
        const uint8_t marks = lifter_.marks_at(program_.address_of(candidate));
        if ((marks & kAddressTakenMark) != 0 && (marks & kEntryMark) == 0)
          labels_->push_back(label);
      }
    }
    return *labels_;
  }

  void too_many_targets(uint64_t place) {
    lifter_.make_opaque(procedure_,
                        fmt::format("the indirect jump at {:#x} has too many targets", place));
  }

  void find_predecessors() {
    predecessors_.assign(procedure_.blocks.size(), {});
    for (BlockId id = 0; id < procedure_.blocks.size(); ++id)
      for (const Edge& edge : procedure_.blocks[id].successors)
        if (edge.kind != Edge::Kind::landing_pad) predecessors_[edge.target].push_back(id);
  }

  /// The tables from which the register of the jump may come: follows definitions backwards along
  /// all paths until they reach the load of a table's address.
  std::vector<uint64_t> tables_of(BlockId jump, bool& complete) {
    using Registers = std::set<Register>;
    const Operands operands = lifter_.machine.operands(procedure_.blocks[jump].instructions.back());
    std::vector<uint64_t> tables;
    std::vector<std::pair<BlockId, Registers>> work;
    std::map<BlockId, Registers> seen;
    const auto visit = [&](BlockId id, const Registers& wanted) {
      Registers& known = seen[id];
      if (std::includes(known.begin(), known.end(), wanted.begin(), wanted.end()) && !known.empty())
        return;
      known.insert(wanted.begin(), wanted.end());
      work.emplace_back(id, wanted);
    };
    const bool predicated = procedure_.blocks[jump].instructions.back().predicate != 0;
    work.emplace_back(jump, Registers(operands.registers + (predicated ? 1 : 0),
                                      operands.registers + operands.uses));
    constexpr int kMostBlocks = 4096;
    for (int blocks = 0; !work.empty() && blocks < kMostBlocks; ++blocks) {
      auto [id, wanted] = std::move(work.back());
      work.pop_back();
      if (!Effort::spend(effort_.instructions, procedure_.blocks[id].instructions.size() + 16 +
                                                   predecessors_[id].size())) {
        complete = false;
        return {};
      }
      const size_t found = tables.size();
      const bool ended = follow_back(procedure_.blocks[id], wanted, tables);
      // On a path that ends without a table, the address came through memory or from outside.
      if (tables.size() == found &&
          (ended || predecessors_[id].empty() || (has_address_tables() && is_entered(id))))
        complete = false;
      if (ended) continue;
      for (BlockId before : predecessors_[id]) {
        Registers kept = wanted;
        const BasicBlock& block = procedure_.blocks[before];
        if (is_call(lifter_.machine.facts(block.instructions.back()).flow)) {
          const Survivors survivors(lifter_, procedure_, block, effort_);
          std::erase_if(kept, [&](Register r) { return !survivors.contains(r); });
        }
        // A callee's result alone does not lead to a table.
        if (kept.empty())
          complete = false;
        else
          visit(before, kept);
      }
    }
    if (!work.empty()) {
      complete = false;
      return {};
    }
    std::sort(tables.begin(), tables.end());
    tables.erase(std::unique(tables.begin(), tables.end()), tables.end());
    return tables;
  }

  /// Follows one block backwards. True when the path ends: a table was found, or no register is
  /// wanted.
  bool follow_back(const BasicBlock& block, std::set<Register>& wanted,
                   std::vector<uint64_t>& tables) const {
    for (uint32_t i = block.instructions.size(); i-- > 0;) {
      const Instruction& instruction = block.instructions[i];
      if (instruction.is_pseudo() || instruction.origin == kNone) continue;
      const Operands operands = lifter_.machine.operands(instruction);
      bool defines = false;
      for (unsigned d = operands.uses; d < operands.size; ++d)
        defines |= wanted.erase(operands.registers[d]) != 0;
      if (!defines) continue;
      const auto table =
          std::lower_bound(lifter_.tables.begin(), lifter_.tables.end(), address_of(instruction),
                           [](const TableReference& t, uint64_t a) { return t.place < a; });
      if (table != lifter_.tables.end() && table->place == address_of(instruction)) {
        tables.push_back(table->table);
        return true;
      }
      for (unsigned u = instruction.predicate != 0 ? 1 : 0; u < operands.uses; ++u)
        if (operands.registers[u] != lifter_.machine.global_pointer())
          wanted.insert(operands.registers[u]);
    }
    return wanted.empty();
  }

  /// The answer is the same for all jumps of the procedure.
  bool labels_are_passed_on() {
    if (!passed_on_)
      passed_on_ =
          LabelTracer(lifter_, id_, predecessors_, jumps_, taken_labels(), effort_).are_passed_on();
    return *passed_on_;
  }

  /// Whether code to which nothing known leads follows a jump. It may be a label that is reached by
  /// adding a distance to another label, so that its own address is kept nowhere. A procedure that
  /// an earlier rewriting moved has no such label, but in it dead code may have lost the code
  /// before it.
  bool has_hidden_label() const {
    if (!Effort::spend(effort_.instructions, procedure_.blocks.size())) return true;
    if (lifter_.provenance &&
        std::any_of(lifter_.provenance->fragments.begin(), lifter_.provenance->fragments.end(),
                    [&](const auto& f) { return f.owner == procedure_.address; }))
      return false;
    for (BlockId id = 1; id < procedure_.blocks.size(); ++id) {
      const BasicBlock& block = procedure_.blocks[id];
      if (block.origin != kNone && predecessors_[id].empty() &&
          (lifter_.marks_at(program_.address_of(block)) & kReferenced) == 0)
        return true;
    }
    return false;
  }

  /// Whether the jump's register is an offset to which gp was added. Then it is an entry of a
  /// table, even where the table's address comes through memory.
  bool adds_gp(const BasicBlock& block) const {
    const Operands jump = lifter_.machine.operands(block.instructions.back());
    const auto gp = lifter_.machine.global_pointer();
    if (jump.uses != 1 || !gp) return false;
    for (uint32_t i = block.instructions.size() - 1; i-- > 0;) {
      const Instruction& instruction = block.instructions[i];
      if (instruction.is_pseudo()) continue;
      const Operands operands = lifter_.machine.operands(instruction);
      const auto uses = operands.registers + operands.uses,
                 end = operands.registers + operands.size;
      if (std::find(uses, end, jump.registers[0]) != end)
        return std::find(operands.registers, uses, *gp) != uses;
    }
    return false;
  }

  /// All tables whose addresses the procedure forms.
  std::vector<uint64_t> all_tables() {
    std::vector<uint64_t> tables = formed_tables();
    tables.erase(std::unique(tables.begin(), tables.end()), tables.end());
    return tables;
  }

  /// The tables whose addresses the procedure forms, once for each place that forms the address.
  std::vector<uint64_t> formed_tables() {
    std::vector<uint64_t> tables;
    for (uint32_t index : ranges_) {
      const CodeRange& range = program_.ranges[index];
      auto table =
          std::lower_bound(lifter_.tables.begin(), lifter_.tables.end(), range.start,
                           [](const TableReference& t, uint64_t a) { return t.place < a; });
      for (; table != lifter_.tables.end() && table->place < range.end; ++table) {
        if (!Effort::spend(effort_.instructions, 1)) return {};
        tables.push_back(table->table);
      }
      if (!Effort::spend(effort_.instructions, 16)) return {};
    }
    std::sort(tables.begin(), tables.end());
    return tables;
  }

  /// `certain`: the jump uses only these tables.
  void add_tables(BlockId jump, const std::vector<uint64_t>& tables, std::vector<BlockId> targets,
                  bool certain) {
    BasicBlock& block = procedure_.blocks[jump];
    if (!certain) sharing_.insert(jump);
    for (uint64_t address : tables) {
      const size_t before = targets.size();
      if (effort_.edges != 0) add_entries(address, targets);
      const auto [user, fresh] = users_.try_emplace(address, jump);
      if (!fresh) sharing_.insert({user->second, jump});
      if (Effort::spend(effort_.edges, targets.size() - before + 1)) continue;
      sharing_.insert(jump);
      return too_many_targets(address_of(block.instructions.back()));
    }
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    for (BlockId target : targets) add_edge(block, target);
    if (targets.empty())
      lifter_.make_opaque(procedure_,
                          fmt::format("the jump table at {:#x} is not understood", tables.front()));
  }

  /// Where jump tables hold whole addresses, other words look like entries: pointers, perhaps to
  /// labels, or addresses of procedures. In a jump table the first two entries lead into the
  /// procedure.
  bool is_jump_table(uint64_t address) const {
    if (!has_address_tables()) return true;
    constexpr uint64_t kEntry = 4;
    const auto leads_inside = [&](uint64_t word) {
      const CodePointer* pointer = pointer_at(program_, word);
      if (pointer == nullptr) return false;
      const auto location = block_at(program_, pointer->target.address);
      return location && location->procedure == id_;
    };
    return leads_inside(address) && leads_inside(address + kEntry);
  }

  /// The targets of one table, entry by entry. The table ends where the run of words ends or
  /// another table starts.
  std::vector<BlockId> entries_of(uint64_t address) const {
    auto word = std::lower_bound(lifter_.table_words.begin(), lifter_.table_words.end(), address);
    auto pointer =
        std::lower_bound(program_.code_pointers.begin(), program_.code_pointers.end(), address,
                         [](const CodePointer& p, uint64_t a) { return p.address < a; });
    std::vector<BlockId> entries;
    const bool wide = lifter_.machine.abi.jump_table_entry == RelocationRole::pc_relative64;
    for (uint64_t at = address; word != lifter_.table_words.end() && *word == at;
         ++word, at += wide ? 8 : 4) {
      if (at != address && is_table_start(at)) break;
      if (pointer == program_.code_pointers.end() || pointer->address != at) break;
      const auto location = block_at(program_, pointer->target.address);
      if (!location || location->procedure != id_) break;
      entries.push_back(location->block);
      ++pointer;
    }
    return entries;
  }

  /// Adds the targets of one table.
  void add_entries(uint64_t address, std::vector<BlockId>& targets) {
    const std::vector<BlockId> entries = entries_of(address);
    targets.insert(targets.end(), entries.begin(), entries.end());
    if (known_tables_.insert(address).second)
      procedure_.jump_tables.push_back(
          {.address = address, .entries = static_cast<uint32_t>(entries.size())});
  }

  /// Finds the tables that belong to one jump: the jump does not share any of its tables with
  /// another jump, and no other procedure forms their addresses.
  void find_owners() {
    if (!lifter_.knows_users_of_tables) return;
    const std::vector<uint64_t> here = formed_tables();
    const auto count = [](const std::vector<uint64_t>& addresses, uint64_t address) {
      const auto [first, last] = std::equal_range(addresses.begin(), addresses.end(), address);
      return last - first;
    };
    for (const JumpTable& table : procedure_.jump_tables)
      if (table.entries == 0 ||
          count(here, table.address) != count(lifter_.table_starts, table.address))
        sharing_.insert(users_.at(table.address));
    for (JumpTable& table : procedure_.jump_tables) {
      const BlockId jump = users_.at(table.address);
      if (!sharing_.contains(jump)) table.jump = jump;
    }
  }

  bool is_table_start(uint64_t address) const {
    return std::binary_search(lifter_.table_starts.begin(), lifter_.table_starts.end(), address);
  }

  Lifter& lifter_;
  Program& program_;
  ProcedureId id_;
  Procedure& procedure_;
  std::span<const uint32_t> ranges_;  // of the procedure: indices of Program::ranges
  Effort& effort_;
  std::unordered_set<uint64_t> known_tables_;
  std::map<uint64_t, BlockId> users_;  // table address -> the first jump that uses it
  std::set<BlockId> sharing_;          // jumps that may share a table with others
  std::map<BlockId, std::vector<uint64_t>> assumed_;  // see assume_tables(): tables by jump
  std::optional<bool> passed_on_;                     // see labels_are_passed_on()
  std::vector<BlockId> jumps_;                        // blocks that end with an indirect jump
  std::vector<std::vector<BlockId>> predecessors_;
  std::optional<std::vector<BlockId>> labels_;
};

}  // namespace

void connect_jumps(Lifter& lifter, ProcedureId id, std::span<const uint32_t> ranges,
                   Effort& effort) {
  JumpConnector(lifter, id, ranges, effort).run();
}

}  // namespace respike

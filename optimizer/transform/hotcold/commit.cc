// The hot procedure replaces the hot blocks.
//
// Hot blocks keep their numbers, so all calls, pointers and symbols of the procedure lead to its
// hot part without a change. Stubs, and clones of hot blocks that cold code needs, come after the
// other blocks. A stub without code becomes no block: its edge leads to the cold block. Example:
// hot blocks 0 and 2, cold block 1, which leads to 2. The new blocks are 3, the clone of 2, to
// which 1 leads now, and 4, the stub on the edge from 0 to 1.
//
// Unwind states. In the hot procedure a register that is no longer saved holds the caller's value
// itself, so its rule goes; without a frame the CFA is computed as at the entry. In a stub, the
// original's CFA holds from the allocation of the frame on, and the original's rules from the last
// save on, since the code after the stub may overwrite the saved registers.
//
// Clones have references of their own, since two instructions may not share a reference. A
// reference relative to a return point or a landing pad becomes relative to the clone of the call
// or pad.
//
// Entries of jump tables that belong to one jump follow the edges of the jump: to a clone, a stub,
// or the block after an empty block.
//
// The counts of a hot block are divided between the block and its clone.

#include "optimizer/transform/hotcold/commit.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <unordered_map>

namespace respike {
namespace {

using Role = FrameShape::Role;

/// Turns unwind states of the original into those of the hot procedure.
class HotStates {
 public:
  HotStates(UnwindTables& unwind, const Abi& abi, const Procedure& procedure,
            const HotProcedure& hot)
      : unwind_(unwind), abi_(abi), hot_(hot) {
    const uint32_t entry = procedure.blocks.front().cfi_state;
    if (entry < unwind.states.size()) cfa_at_entry_ = unwind.states[entry].cfa_offset;
  }

  /// The state of the hot procedure for `state` of the original. `frame`: the frame is allocated
  /// here even if the hot procedure is frameless.
  uint32_t find(uint32_t state, bool frame) {
    if (state >= unwind_.states.size() || (hot_.unsaved.empty() && !hot_.frameless)) return state;
    const auto [known, fresh] = known_.try_emplace({state, frame}, state);
    if (!fresh) return known->second;
    CfiState changed = unwind_.states[state];
    std::erase_if(changed.rules,
                  [&](const auto& rule) { return is_gone(rule.first, rule.second); });
    if (hot_.frameless && !frame) changed.cfa_offset = cfa_at_entry_;
    // Only looks for an equal state among the last ones; a duplicate state is no error.
    constexpr size_t kFew = 4096;
    const size_t from = unwind_.states.size() > kFew ? unwind_.states.size() - kFew : 0;
    const auto same = std::find(unwind_.states.begin() + static_cast<ptrdiff_t>(from),
                                unwind_.states.end(), changed);
    known->second = static_cast<uint32_t>(same - unwind_.states.begin());
    if (same == unwind_.states.end()) unwind_.states.push_back(std::move(changed));
    return known->second;
  }

 private:
  bool is_gone(uint32_t reg, const CfiRule& rule) const {
    if (rule.kind != CfiRule::Kind::offset) return false;
    return std::any_of(hot_.shape.slots.begin(), hot_.shape.slots.end(), [&](const auto& slot) {
      return slot.reg == abi_.register_in_tables(reg) && hot_.unsaved.contains(slot.reg) &&
             slot.offset == rule.value + cfa_at_entry_;
    });
  }

  UnwindTables& unwind_;
  const Abi& abi_;
  const HotProcedure& hot_;
  int64_t cfa_at_entry_ = 0;
  std::map<std::pair<uint32_t, bool>, uint32_t> known_;
};

class Committer {
 public:
  Committer(Program& program, const Region& region, const HotProcedure& hot)
      : program_(program),
        procedure_(program[region.procedure]),
        region_(region),
        hot_(hot),
        original_blocks_(static_cast<BlockId>(procedure_.blocks.size())),
        states_(program.unwind, program.machine->abi, procedure_, hot) {}

  CommittedBlocks run() {
    read_tables();
    make_clones();
    for (BlockId b = 0; b < original_blocks_; ++b)
      if (!region_.is_hot[b]) lead_to_clones(procedure_.blocks[b]);
    share_counts();
    for (uint32_t i = hot_.hot; i < hot_.blocks.size(); ++i) make_stub(hot_.blocks[i]);
    for (uint32_t i = 0; i < hot_.hot; ++i) {
      write_hot(hot_.blocks[i]);
      result_.hot_calls += hot_.calls_at_end(i) ? 1 : 0;
    }
    skip_empty_blocks();
    turn_tables();
    result_.copies.assign(procedure_.blocks.size(), kNone);
    for (BlockId b = 0; b < original_blocks_; ++b) {
      result_.copies[b] = b;
      if (clones_[b] != kNone) result_.copies[clones_[b]] = b;
    }
    return result_;
  }

 private:
  struct TableEntry {
    size_t pointer = 0;  // index of Program::code_pointers
    BlockId jump = kNone;
    size_t edge = 0;  // index of the successors of that block
  };

  Arena& arena() { return *program_.arena; }

  BlockId clone_of(BlockId block) const {
    return block < original_blocks_ && clones_[block] != kNone ? clones_[block] : block;
  }

  /// Finds the edge that each entry of a jump table stands for.
  void read_tables() {
    for (const JumpTable& table : procedure_.jump_tables) {
      if (table.jump == kNone) continue;
      const auto& edges = procedure_.blocks[table.jump].successors;
      std::unordered_map<BlockId, size_t> edge_to;
      for (size_t e = 0; e < edges.size(); ++e)
        if (edges[e].kind == Edge::Kind::indirect) edge_to.emplace(edges[e].target, e);
      const auto [first, last] = entries_of(program_, table);
      for (size_t i = first; i < last; ++i)
        table_entries_.push_back(
            {i, table.jump, edge_to.at(program_.code_pointers[i].target.block)});
    }
  }

  void turn_tables() {
    for (const TableEntry& entry : table_entries_) {
      const BlockId to = procedure_.blocks[entry.jump].successors[entry.edge].target;
      program_.code_pointers[entry.pointer].target.block = to;
      procedure_.blocks[to].flags |= BasicBlock::kAddressTaken;
    }
  }

  void make_clones() {
    clones_.assign(original_blocks_, kNone);
    BlockId next = original_blocks_;
    for (const BlockId b : region_.hot) {
      if (!region_.is_cloned[b]) continue;
      clones_[b] = next++;
    }
    for (const BlockId b : region_.hot) {
      if (!region_.is_cloned[b]) continue;
      BasicBlock clone = procedure_.blocks[b];
      clone.instructions.assign(arena(), procedure_.blocks[b].instructions.span());
      clone.successors.assign(arena(), procedure_.blocks[b].successors.span());
      clone.flags &= ~unsigned{BasicBlock::kEntry | BasicBlock::kAddressTaken};
      for (Instruction& i : clone.instructions) {
        if (i.has_reference()) i.immediate = clone_reference(i.immediate);
        result_.clone_instructions += i.is_pseudo() ? 0 : 1;
      }
      lead_to_clones(clone);
      procedure_.blocks.push_back(clone);
    }
  }

  /// The clone of a reference. The two halves of an address share a reference, also in the clone.
  int32_t clone_reference(int32_t index) {
    const auto [known, fresh] = references_.try_emplace(index, 0);
    if (!fresh) return known->second;
    Reference reference = procedure_.references[static_cast<uint32_t>(index)];
    CodeLocation& to = reference.target;
    if (to.procedure == region_.procedure &&
        (to.where == CodeLocation::Where::return_point ||
         (to.where == CodeLocation::Where::block_start &&
          procedure_.blocks[to.block].has(BasicBlock::kLandingPad))))
      to.block = clone_of(to.block);
    known->second = static_cast<int32_t>(procedure_.references.size());
    procedure_.references.push_back(reference);
    return known->second;
  }

  /// Makes the edges and the call site of a cold block lead to clones.
  void lead_to_clones(BasicBlock& block) {
    for (Edge& edge : block.successors) edge.target = clone_of(edge.target);
    if (block.call_site == kNone) return;
    const BlockId pad = procedure_.call_sites[block.call_site].landing_pad;
    if (pad != kNone) block.call_site = call_site(block.call_site, clone_of(pad));
  }

  /// The call site that equals `like` but has the landing pad `pad`; added if there is none.
  uint32_t call_site(uint32_t like, BlockId pad) {
    const auto [known, fresh] = call_sites_.try_emplace({like, pad});
    if (!fresh) return known->second;
    CallSite wanted = procedure_.call_sites[like];
    wanted.landing_pad = pad;
    auto& sites = procedure_.call_sites;
    const auto found = std::find(sites.begin(), sites.end(), wanted);
    known->second = static_cast<uint32_t>(found - sites.begin());
    if (found == sites.end()) sites.push_back(wanted);
    return known->second;
  }

  void share_counts() {
    for (const BlockId b : region_.hot) {
      if (clones_[b] == kNone) continue;
      BasicBlock& hot = procedure_.blocks[b];
      BasicBlock& clone = procedure_.blocks[clones_[b]];
      for (size_t e = 0; e < hot.successors.size(); ++e) {
        clone.successors[e].count =
            share_of(hot.successors[e].count, region_.cold_runs[b], hot.count);
        hot.successors[e].count -= clone.successors[e].count;
      }
      clone.count = region_.cold_runs[b];
      hot.count -= clone.count;
    }
  }

  void put(std::vector<Instruction>& list, uint32_t& state, uint32_t wanted) {
    if (state == wanted) return;
    Instruction change;
    change.opcode = kCfiState;
    change.immediate = static_cast<int32_t>(wanted);
    list.push_back(change);
    state = wanted;
  }

  void make_stub(const HotBlock& stub) {
    if (stub.code.empty()) {
      stubs_.push_back(stub.place);
      return;
    }
    stubs_.push_back(static_cast<BlockId>(procedure_.blocks.size()));
    const uint32_t goal = stub.end_state;
    const auto last_save = std::find_if(stub.code.rbegin(), stub.code.rend(), [](const auto& i) {
                             return i.role == Role::save || i.role == Role::allocate;
                           }).base();
    BasicBlock block;
    block.origin = procedure_.blocks[stub.place].origin;
    block.flags |= BasicBlock::kHotCopy;
    block.cfi_state = states_.find(goal, false);
    uint32_t state = block.cfi_state;
    std::vector<Instruction> list;
    for (auto i = stub.code.begin(); i != stub.code.end(); ++i) {
      if (i == last_save) put(list, state, goal);
      list.push_back(i->instruction);
      if (i->role == Role::allocate && i + 1 != last_save)
        put(list, state, states_.find(goal, true));
    }
    if (last_save == stub.code.end()) put(list, state, goal);
    block.instructions.assign(arena(), list);
    block.successors.push_back(
        arena(), Edge{stub.place, Edge::Kind::fall_through, 0});  // write_hot() sets the count
    result_.stub_instructions += stub.code.size();
    procedure_.blocks.push_back(block);
  }

  void write_hot(const HotBlock& hot) {
    BasicBlock& block = procedure_.blocks[hot.place];
    block.flags |= BasicBlock::kHotCopy;
    std::vector<Instruction> list;
    block.cfi_state =
        states_.find(hot.code.empty() ? hot.end_state : hot.code.front().state, false);
    uint32_t state = block.cfi_state;
    for (const HotInstruction& i : hot.code) {
      put(list, state, states_.find(i.state, false));
      list.push_back(i.instruction);
    }
    if (!hot.code.empty() && !ends_in_jump(hot))
      put(list, state, states_.find(hot.end_state, false));
    if (hot.code.empty()) list.push_back(program_.machine->codec.nop);
    for (const Instruction& i : block.instructions)
      result_.copied_instructions += i.is_pseudo() ? 0 : 1;
    block.instructions.assign(arena(), list);
    result_.hot_instructions += hot.code.size();
    result_.hot_executed += hot.code.size() * block.count;
    ArenaList<Edge> edges;
    edges.assign(arena(), block.successors.span());
    if (hot.only_edge) {
      Edge edge = edges[*hot.only_edge];
      edge.kind = Edge::Kind::fall_through;
      edge.count = block.count;
      edges.assign(arena(), {&edge, 1});
    }
    for (size_t e = 0; e < edges.size(); ++e) {
      const uint32_t to = hot.successors[e];
      if (!hot_.is_stub(to)) continue;
      const BlockId stub = stubs_[to - hot_.hot];
      Edge& edge = edges[e];
      edge.target = stub;
      result_.stubs_entered += edge.count;
      if (stub < original_blocks_) continue;
      assert(edge.kind != Edge::Kind::landing_pad);
      BasicBlock& target = procedure_.blocks[stub];
      target.count = target.successors.front().count = edge.count;
    }
    procedure_.blocks[hot.place].successors = edges;
  }

  bool ends_in_jump(const HotBlock& hot) const {
    return program_.machine->facts(hot.code.back().instruction).flow != ControlFlow::none;
  }

  /// Makes edges to empty blocks lead to the next block. An empty block stays in use if it is an
  /// entry of the procedure.
  void skip_empty_blocks() {
    for (uint32_t i = 0; i < hot_.hot; ++i) {
      if (!hot_.blocks[i].code.empty()) continue;
      const BlockId empty = hot_.blocks[i].place;
      const BlockId behind = procedure_.blocks[empty].successors.front().target;
      if (behind == empty) continue;
      for (uint32_t j = 0; j < hot_.hot; ++j)
        for (Edge& edge : procedure_.blocks[hot_.blocks[j].place].successors)
          if (edge.target == empty && edge.kind != Edge::Kind::landing_pad) {
            edge.target = behind;
            procedure_.blocks[empty].count -= std::min(procedure_.blocks[empty].count, edge.count);
          }
      procedure_.blocks[empty].successors.front().count = procedure_.blocks[empty].count;
    }
  }

  Program& program_;
  Procedure& procedure_;
  const Region& region_;
  const HotProcedure& hot_;
  const BlockId original_blocks_;
  HotStates states_;
  std::vector<BlockId> clones_;            // per original block: its clone, or kNone
  std::map<int32_t, int32_t> references_;  // of the original -> of clones
  std::map<std::pair<uint32_t, BlockId>, uint32_t> call_sites_;  // see call_site()
  std::vector<TableEntry> table_entries_;  // of tables that belong to one jump
  std::vector<BlockId> stubs_;             // per stub: its block, or the cold block after the stub
  CommittedBlocks result_;
};

}  // namespace

CommittedBlocks commit(Program& program, const Region& region, const HotProcedure& hot) {
  return Committer(program, region, hot).run();
}

}  // namespace respike

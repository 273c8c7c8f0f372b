// Private slots, from the shape of the frame.
//
// The address of the frame is only in the stack pointer, so no access through another register can
// reach a slot, except in callees, see PrivateSlots::live. It remains to check that all accesses to
// a place are loads and stores of whole registers there. A place that is read before it is written
// is not a slot, since the value read is unknown. Places in unwind information, which hold saved
// registers, are not slots either.
//
// Example: stq $1,16($30) and ldq $2,16($30) are all accesses near 16($30): a slot. If there is
// also ldl $3,20($30), which reads half of the place, the place is not a slot.

#include "optimizer/analysis/private_slots.h"

#include <algorithm>
#include <set>

#include "optimizer/analysis/dataflow.h"
#include "optimizer/machine/machine.h"

namespace respike {
namespace {

constexpr int64_t kBytes = 8;

class SlotSearch {
 public:
  SlotSearch(const Program& program, ProcedureId id, const FrameShape& shape,
             std::span<const BlockId> entries)
      : program_(program),
        procedure_(program[id]),
        machine_(*program.machine),
        shape_(shape),
        entries_(entries),
        position_(procedure_.blocks.size()) {}

  PrivateSlots run() {
    if (machine_.rewrite == nullptr || !procedure_.movable() || !shape_.regular ||
        shape_.frame_pointer || shape_.address_escapes || shape_.size <= 0)
      return {};
    follow_stack_pointer();
    if (!find_accesses() || !find_declared()) return {};
    choose();
    if (slots_.offsets.empty()) return {};
    const BlockGraph graph = make_block_graph(procedure_);
    solve_blocks<Direction::backward>(graph, Liveness{*this, false});
    uint64_t unwritten = unwritten_;
    for (const BlockId entry : entries_) unwritten |= live_[entry];
    size_t number = 0;
    std::erase_if(slots_.offsets, [&](int32_t) { return (unwritten >> number++ & 1) != 0; });
    if (slots_.offsets.empty()) return {};
    slots_.live = solve_blocks<Direction::backward>(graph, Liveness{*this, true}).before;
    return std::move(slots_);
  }

 private:
  enum : uint8_t { kUp = 1, kDown = 2 };  // the stack pointer: as at the entry; with the frame

  /// The position of the stack pointer after an instruction.
  uint8_t behind(BlockId block, uint32_t index, uint8_t position) const {
    const auto step = std::lower_bound(
        shape_.steps.begin(), shape_.steps.end(), std::pair(block, index),
        [](const auto& s, const auto& at) { return std::pair(s.block, s.index) < at; });
    if (step == shape_.steps.end() || step->block != block || step->index != index) return position;
    if (step->role == FrameShape::Role::allocate) return kDown;
    if (step->role == FrameShape::Role::release) return kUp;
    return position;
  }

  void follow_stack_pointer() {
    for (const BlockId entry : entries_) position_[entry] = kUp;
    std::vector<BlockId> work(entries_.begin(), entries_.end());
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      uint8_t position = position_[b];
      for (uint32_t i = 0; i < procedure_.blocks[b].instructions.size(); ++i)
        position = behind(b, i, position);
      for (const Edge& edge : procedure_.blocks[b].successors) {
        if ((position_[edge.target] | position) == position_[edge.target]) continue;
        position_[edge.target] |= position;
        work.push_back(edge.target);
      }
    }
  }

  /// Finds all accesses to the frame; false when a use of the stack pointer is not understood.
  bool find_accesses() {
    for (BlockId b = 0; b < procedure_.blocks.size(); ++b) {
      uint8_t position = position_[b];
      if (position == 0) continue;  // control never gets there
      const auto& list = procedure_.blocks[b].instructions;
      for (uint32_t i = 0; i < list.size(); ++i) {
        const uint8_t next = behind(b, i, position);
        if (next == position && !list[i].is_pseudo() && !note_access(list[i], position))
          return false;
        position = next;
      }
    }
    return true;
  }

  bool note_access(const Instruction& i, uint8_t position) {
    if (machine_.facts(i).nop) return true;
    const Register sp = machine_.abi.stack_pointer;
    const Operands operands = machine_.operands(i);
    const auto uses_end = operands.registers + operands.uses;
    if (std::find(operands.registers, uses_end, sp) == uses_end) return true;
    if (position != kUp && position != kDown) return false;
    const auto operand = machine_.based_operand(i);
    if (i.has_reference() || !operand || std::count(operands.registers, uses_end, sp) != 1 ||
        *(uses_end - 1) != sp)
      return machine_.facts(i).system_call;
    const int64_t offset = operand->displacement - (position == kDown ? shape_.size : 0);
    const bool plain = position == kDown && whole_register_access(machine_, i);
    (plain ? found_ : others_).insert(offset);
    return true;
  }

  /// Adds the places that unwind information names to others_. False when unwinders may read places
  /// that the information does not name by an offset.
  bool find_declared() {
    const auto& states = program_.unwind.states;
    const uint32_t first = procedure_.blocks.front().cfi_state;
    const int64_t cfa = first < states.size() ? states[first].cfa_offset : 0;
    std::set<uint32_t> seen;
    bool understood = true;
    const auto visit = [&](uint32_t number) {
      if (number >= states.size() || !seen.insert(number).second) return;
      const CfiState& state = states[number];
      understood &= !state.opaque && !state.cfa_is_expression;
      for (const auto& [reg, rule] : state.rules) {
        understood &= rule.expression.empty();
        if (rule.kind == CfiRule::Kind::offset) others_.insert(rule.value + cfa);
      }
    };
    for (const BasicBlock& block : procedure_.blocks) {
      visit(block.cfi_state);
      for (const Instruction& i : block.instructions)
        if (i.is_pseudo()) visit(static_cast<uint32_t>(i.immediate));
    }
    for (const FrameShape::Slot& slot : shape_.slots) others_.insert(slot.offset);
    return understood;
  }

  /// Whether a place of the set is less than 8 bytes from `offset`. `itself`: `offset` also counts.
  static bool is_near(const std::set<int64_t>& places, int64_t offset, bool itself) {
    for (auto at = places.lower_bound(offset - kBytes + 1);
         at != places.end() && *at < offset + kBytes; ++at)
      if (itself || *at != offset) return true;
    return false;
  }

  void choose() {
    for (const int64_t offset : found_)
      if (offset >= -shape_.size && offset <= -kBytes && !is_near(found_, offset, false) &&
          !is_near(others_, offset, true) && slots_.offsets.size() < PrivateSlots::kMost)
        slots_.offsets.push_back(static_cast<int32_t>(offset));
  }

  struct Liveness {
    SlotSearch& search;
    bool calls_read;

    uint64_t start() const { return 0; }
    uint64_t initial(BlockId) const { return 0; }
    void meet(uint64_t& into, uint64_t from, BlockId, BlockId) const { into |= from; }
    uint64_t transfer(BlockId block, uint64_t live) const {
      return search.live_before(block, live, calls_read);
    }
  };

  uint64_t live_before(BlockId b, uint64_t live, bool calls_read) {
    const auto& list = procedure_.blocks[b].instructions;
    std::vector<uint8_t> positions = {position_[b]};
    for (uint32_t i = 0; i < list.size(); ++i) positions.push_back(behind(b, i, positions.back()));
    const uint64_t all = (uint64_t{2} << (slots_.offsets.size() - 1)) - 1;
    for (uint32_t i = static_cast<uint32_t>(list.size()); i-- > 0;) {
      if (list[i].is_pseudo()) continue;
      if (positions[i] != kDown) {
        unwritten_ |= live;  // allocated here
        live = 0;
        continue;
      }
      if (positions[i + 1] != kDown) live = 0;
      if (enters_other_code(machine_, list[i])) {
        if (calls_read) live = all;
        continue;
      }
      const auto access = whole_register_access(machine_, list[i]);
      if (!access || access->base != machine_.abi.stack_pointer) continue;
      const auto slot = slots_.find(access->displacement - shape_.size);
      if (!slot) continue;
      const uint64_t bit = uint64_t{1} << *slot;
      live = access->store ? live & ~bit : live | bit;
    }
    if (!calls_read) live_.resize(procedure_.blocks.size());
    if (!calls_read) live_[b] = live;
    return live;
  }

  const Program& program_;
  const Procedure& procedure_;
  const Machine& machine_;
  const FrameShape& shape_;
  const std::span<const BlockId> entries_;
  std::vector<uint8_t> position_;     // per block, at its start
  std::set<int64_t> found_, others_;  // places of plain accesses, and of all other accesses
  PrivateSlots slots_;
  std::vector<uint64_t> live_;  // per block, if calls read nothing
  uint64_t unwritten_ = 0;      // slots that are read before they are written
};

}  // namespace

std::optional<WholeRegisterAccess> whole_register_access(const Machine& machine,
                                                         const Instruction& i) {
  const auto operand = machine.based_operand(i);
  if (!operand || !operand->whole || operand->count != 1 || operand->size != 8) return std::nullopt;
  if (i.has_reference() || i.predicate != 0) return std::nullopt;
  const Operands operands = machine.operands(i);
  WholeRegisterAccess access;
  access.store = operand->kind == BasedOperand::Kind::store;
  if (operands.uses == 0 || operands.size > 2 || (!access.store && operands.size != 2))
    return std::nullopt;
  access.base = operands.registers[operands.uses - 1];
  if (operands.size == 2) access.value = operands.registers[access.store ? 0 : 1];
  access.displacement = operand->displacement;
  return access;
}

bool enters_other_code(const Machine& machine, const Instruction& instruction) {
  return is_call(machine.facts(instruction).flow) || machine.facts(instruction).system_call;
}

std::optional<size_t> PrivateSlots::find(int64_t offset) const {
  const auto found = std::lower_bound(offsets.begin(), offsets.end(), offset);
  if (found == offsets.end() || *found != offset) return std::nullopt;
  return static_cast<size_t>(found - offsets.begin());
}

PrivateSlots find_private_slots(const Program& program, ProcedureId id, const FrameShape& shape,
                                std::span<const BlockId> entries) {
  return SlotSearch(program, id, shape, entries).run();
}

}  // namespace respike

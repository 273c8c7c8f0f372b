// Whether addresses of labels are only passed on.
//
// A label whose address is taken can be moved if every jump to the label gets the address as it was
// formed or stored in data, where emission changes it. A value computed from the address, such as
// the address of another label by their distance, would be wrong.
//
// Backwards: the register of a jump is followed to the source of its value, over all paths and
// through the stack. Forwards: each address of a label that an instruction forms is followed in the
// same way, to see that it is only passed on. A store whose place cannot be distinguished from
// others counts as arithmetic, since the search cannot see what happens to the address there.
//
// Example: "goto *table[op]" loads a whole address from data: passed on. "goto *(&&base +
// distance[op])" adds to the address of base: not passed on.
//
// Limits: words of data and values that a caller passes in are assumed to be whole addresses.

#include "optimizer/lift/labels.h"

#include <algorithm>
#include <set>

#include "optimizer/ir/lookup.h"
#include "optimizer/lift/calls.h"

namespace respike {
namespace {

bool contains(const std::vector<Register>& registers, Register r) {
  return std::find(registers.begin(), registers.end(), r) != registers.end();
}

bool uses(const Operands& operands, Register r) {
  const auto end = operands.registers + operands.uses;
  return std::find(operands.registers, end, r) != end;
}

bool defines(const Operands& operands, Register r) {
  const auto end = operands.registers + operands.size;
  return std::find(operands.registers + operands.uses, end, r) != end;
}

}  // namespace

// ---- backwards ----

bool LabelTracer::jumps_to_stored_address(BlockId jump) {
  from_call_ = false;
  const BasicBlock& block = procedure_.blocks[jump];
  const Operands operands = lifter_.machine.operands(block.instructions.back());
  if (operands.uses != 1) return false;
  std::vector<Place> work = {{jump, block.instructions.size(), operands.registers[0]}};
  std::set<Place> seen(work.begin(), work.end());
  while (!work.empty()) {
    const Place wanted = work.back();
    work.pop_back();
    if (!Effort::spend(effort_.instructions,
                       wanted.index + 16 + predecessors_[wanted.block].size()))
      return false;
    std::vector<Place> sources;
    if (!passes_on(wanted, sources)) return false;
    for (const Place& source : sources)
      if (seen.insert(source).second) work.push_back(source);
  }
  return true;
}

/// Follows a register backwards through a block. `sources`: the registers that hold its value where
/// the predecessors end, or where the value was stored to the stack. False when the value is
/// computed.
bool LabelTracer::passes_on(const Place& wanted, std::vector<Place>& sources) {
  const BasicBlock& block = procedure_.blocks[wanted.block];
  std::set<Register> open = {wanted.value};
  for (uint32_t i = wanted.index; i-- > 0 && !open.empty();) {
    const Instruction& instruction = block.instructions[i];
    if (instruction.is_pseudo()) continue;
    const Operands operands = lifter_.machine.operands(instruction);
    for (unsigned d = operands.uses; d < operands.size; ++d) {
      if (open.erase(operands.registers[d]) == 0) continue;
      if (instruction.predicate != 0) open.insert(operands.registers[d]);  // or it keeps its value
      if (is_label(instruction)) continue;
      switch (lifter_.machine.facts(instruction).source) {
        case ValueSource::computed:
        case ValueSource::equality:
          return false;
        case ValueSource::loaded:
          if (!find_stores(instruction, sources)) return false;
          break;
        case ValueSource::copied:
          if (operands.uses != 0) open.insert(operands.registers[operands.uses - 1]);
          break;
        case ValueSource::selected:
          // The first operand is the condition.
          open.insert(operands.registers + 1, operands.registers + operands.uses);
          break;
      }
    }
  }
  if (open.empty()) return true;
  for (const BlockId before : predecessors_[wanted.block]) {
    const auto& list = procedure_.blocks[before].instructions;
    std::optional<Survivors> survivors;
    if (is_call(lifter_.machine.facts(list.back()).flow))
      survivors.emplace(lifter_, procedure_, procedure_.blocks[before], effort_);
    for (const Register source : open)
      if (survivors && !survivors->contains(source))
        from_call_ = true;
      else
        sources.push_back({before, list.size(), source});
  }
  if (!std::binary_search(labels_.begin(), labels_.end(), wanted.block)) return true;
  if (!Effort::spend(effort_.instructions, jumps_.size())) return false;
  for (const BlockId before : jumps_)
    for (const Register source : open)
      sources.push_back({before, procedure_.blocks[before].instructions.size(), source});
  return true;
}

/// The registers stored to the place on the stack that `load` reads; other memory is trusted. Where
/// the procedure has two registers for its frame, the distance between the two is unknown.
bool LabelTracer::find_stores(const Instruction& load, std::vector<Place>& sources) {
  const Operands loaded = lifter_.machine.operands(load);
  if (loaded.uses != 1 || load.has_reference() || !is_frame_register(loaded.registers[0]))
    return true;
  for (BlockId id = 0; id < procedure_.blocks.size(); ++id) {
    const auto& list = procedure_.blocks[id].instructions;
    if (!Effort::spend(effort_.instructions, list.size())) return false;
    for (uint32_t i = 0; i < list.size(); ++i) {
      if (list[i].is_pseudo() || list[i].has_reference() ||
          lifter_.machine.facts(list[i]).flow != ControlFlow::none)
        continue;
      const Operands stored = lifter_.machine.operands(list[i]);
      if (stored.uses != 2 || stored.size != 2) continue;
      const bool same = stored.registers[1] == loaded.registers[0];
      if (same ? list[i].immediate == load.immediate : is_frame_register(stored.registers[1]))
        sources.push_back({id, i, stored.registers[0]});
    }
  }
  return true;
}

// ---- forwards ----

bool LabelTracer::are_passed_on() {
  std::vector<Place> work;
  for (BlockId id = 0; id < procedure_.blocks.size(); ++id) {
    const auto& list = procedure_.blocks[id].instructions;
    if (!Effort::spend(effort_.instructions, list.size())) return false;
    for (uint32_t i = 0; i < list.size(); ++i) {
      if (!is_own_label(list[i])) continue;
      const Operands operands = lifter_.machine.operands(list[i]);
      for (unsigned d = operands.uses; d < operands.size; ++d)
        work.push_back({id, i + 1, operands.registers[d]});
    }
  }
  std::set<Place> seen(work.begin(), work.end());
  std::vector<Place> next;
  while (!work.empty()) {
    const Place from = work.back();
    work.pop_back();
    next.clear();
    if (!follow(from, next)) return false;
    for (const Place& place : next)
      if (seen.insert(place).second) work.push_back(place);
  }
  return true;
}

/// Follows a label's address through a block. `next`: further places that hold the address. False
/// when the address is used for more than passing it on.
bool LabelTracer::follow(const Place& from, std::vector<Place>& next) {
  const BasicBlock& block = procedure_.blocks[from.block];
  const auto& list = block.instructions;
  if (!Effort::spend(effort_.instructions, list.size() - from.index + 16)) return false;
  for (uint32_t i = from.index; i < list.size(); ++i) {
    if (list[i].is_pseudo()) continue;
    const Operands operands = lifter_.machine.operands(list[i]);
    bool copies = false;
    if (uses(operands, from.value) && !use(list[i], operands, from.value, copies, next))
      return false;
    if (copies)
      for (unsigned d = operands.uses; d < operands.size; ++d)
        next.push_back({from.block, i + 1, operands.registers[d]});
    if (defines(operands, from.value)) return true;
  }
  const ControlFlow flow = lifter_.machine.facts(list.back()).flow;
  // The search does not look into what a callee does with its arguments, but does follow the result
  // (see from_call()).
  if (is_call(flow) && !Survivors(lifter_, procedure_, block, effort_).contains(from.value))
    return true;
  const auto go_to = [&](BlockId to) { next.push_back({to, 0, from.value}); };
  for (const Edge& edge : block.successors) go_to(edge.target);
  if (flow != ControlFlow::indirect_jump) return true;
  if (!Effort::spend(effort_.instructions, labels_.size())) return false;
  for (const BlockId label : labels_) go_to(label);
  return true;
}

/// Looks at an instruction that uses a register with a label's address. `copies`: the result is the
/// same address.
bool LabelTracer::use(const Instruction& instruction, const Operands& operands, Register value,
                      bool& copies, std::vector<Place>& next) {
  switch (lifter_.machine.facts(instruction).flow) {
    case ControlFlow::none:
      break;
    case ControlFlow::conditional_branch:
    case ControlFlow::indirect_jump:
    case ControlFlow::return_jump:
      return true;
    default:
      return false;
  }
  if (operands.uses == operands.size) {  // the address is stored, not the place of a store
    if (operands.uses != 2 || operands.registers[1] == value) return false;
    return find_loads(instruction, operands.registers[1], next);
  }
  switch (lifter_.machine.facts(instruction).source) {
    case ValueSource::copied:
      return copies = true;
    case ValueSource::selected:
      copies = std::find(operands.registers + 1, operands.registers + operands.uses, value) !=
               operands.registers + operands.uses;
      return true;
    case ValueSource::equality:
      return true;
    case ValueSource::computed:
    case ValueSource::loaded:
      return false;
  }
  return false;
}

/// The registers into which the value that `store` puts onto the stack is loaded.
bool LabelTracer::find_loads(const Instruction& store, Register base, std::vector<Place>& next) {
  if (store.has_reference() || !is_frame_register(base) || !frame_is_known()) return false;
  for (BlockId id = 0; id < procedure_.blocks.size(); ++id) {
    const auto& list = procedure_.blocks[id].instructions;
    if (!Effort::spend(effort_.instructions, list.size())) return false;
    for (uint32_t i = 0; i < list.size(); ++i) {
      if (list[i].is_pseudo() || list[i].has_reference() ||
          lifter_.machine.facts(list[i]).flow != ControlFlow::none ||
          lifter_.machine.facts(list[i]).source != ValueSource::loaded)
        continue;
      const Operands loaded = lifter_.machine.operands(list[i]);
      if (loaded.uses != 1 || loaded.size != 2) continue;
      const bool same = loaded.registers[0] == base;
      if (same ? list[i].immediate == store.immediate : is_frame_register(loaded.registers[0]))
        next.push_back({id, i + 1, loaded.registers[1]});
    }
  }
  return true;
}

/// Whether `r` is the stack pointer, or the register to which the entry copies it.
bool LabelTracer::is_frame_register(Register r) {
  if (!frame_registers_) {
    // Every jump has a tracer of its own. Without effort left, the rest of this tracer gives up as
    // well.
    if (!Effort::spend(effort_.instructions, procedure_.blocks.front().instructions.size()))
      return true;
    const Register sp = lifter_.machine.abi.stack_pointer;
    frame_registers_ = {sp};
    for (const Instruction& i : procedure_.blocks.front().instructions) {
      if (i.is_pseudo() || lifter_.machine.facts(i).source != ValueSource::copied) continue;
      const Operands operands = lifter_.machine.operands(i);
      if (operands.size > operands.uses && operands.uses != 0 &&
          operands.registers[operands.uses - 1] == sp)
        frame_registers_->push_back(operands.registers[operands.uses]);
    }
  }
  return contains(*frame_registers_, r);
}

/// Whether all instructions that read the stack can be seen: no other register holds an address of
/// the stack.
bool LabelTracer::frame_is_known() {
  if (frame_is_known_) return *frame_is_known_;
  frame_is_known_ = false;
  for (const BasicBlock& block : procedure_.blocks) {
    if (!Effort::spend(effort_.instructions, block.instructions.size())) return false;
    for (const Instruction& instruction : block.instructions) {
      if (instruction.is_pseudo() || lifter_.machine.facts(instruction).flow != ControlFlow::none)
        continue;
      const Operands operands = lifter_.machine.operands(instruction);
      const auto first = operands.registers, end = operands.registers + operands.uses;
      if (std::none_of(first, end, [&](Register r) { return is_frame_register(r); })) continue;
      if (operands.uses == operands.size) {  // a store to the stack
        if (operands.uses == 2 && !is_frame_register(operands.registers[0])) continue;
        return false;
      }
      if (lifter_.machine.facts(instruction).source == ValueSource::loaded) continue;
      if (!std::all_of(end, first + operands.size,
                       [&](Register r) { return is_frame_register(r); }))
        return false;
    }
  }
  return *(frame_is_known_ = true);
}

/// Whether the instruction is the lower half of an address of code.
bool LabelTracer::is_label(const Instruction& instruction) const {
  const Reference* reference = reference_of(procedure_, instruction);
  return reference != nullptr &&
         (reference->kind == ReferenceKind::gp_low || reference->kind == ReferenceKind::gp_offset ||
          reference->kind == ReferenceKind::address_low);
}

/// Whether the instruction is the lower half of an address inside of this procedure, or loads such
/// an address.
bool LabelTracer::is_own_label(const Instruction& instruction) const {
  if (instruction.is_pseudo() || instruction.origin == kNone) return false;
  if (is_label(instruction)) {
    const CodeLocation& target = reference_of(procedure_, instruction)->target;
    return target.where == CodeLocation::Where::block_start && target.procedure == id_ &&
           std::binary_search(labels_.begin(), labels_.end(), target.block);
  }
  return std::binary_search(lifter_.label_loads.begin(), lifter_.label_loads.end(),
                            lifter_.program.origin_base + instruction.origin);
}

}  // namespace respike

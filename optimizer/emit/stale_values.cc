// Stale values, by comparing each block with its code in the input.
//
// Hot-cold optimization removes instructions, moves them to stubs, and makes the remaining
// instructions use other registers (transform/hotcold/). Its proof shows that the values which the
// program needs later are the same; a debugger may ask for other values as well. So only two facts
// are taken from the proof: an instruction that reads other registers than in the input finds in
// them the same values as in the input, and a stub computes the values that cold code needs.
//
// A stale value stays stale over a call: compilers keep values in scratch registers across calls of
// procedures that do not use these registers (gcc: -fipa-ra). Loads of gp are left out only where
// gp holds their value.
//
// Saves of registers do not count as missing stores: a saved register is a caller's, and debuggers
// find it by the unwind information, which says whether it is saved. Cold code is followed as well:
// it, too, may lack values that are dead in it.

#include "optimizer/emit/stale_values.h"

#include <algorithm>
#include <utility>

#include "optimizer/analysis/dataflow.h"

namespace respike {
namespace {

bool contains(std::span<const Register> registers, Register r) {
  return std::ranges::find(registers, r) != registers.end();
}

std::span<const Register> used(const Operands& operands) {
  return {operands.registers, operands.uses};
}

std::span<const Register> defined(const Operands& operands) {
  return std::span(operands.registers, operands.size).subspan(operands.uses);
}

bool is_store(const InstructionFacts& facts, const Operands& operands) {
  return facts.flow == ControlFlow::none && !facts.nop && operands.uses == operands.size;
}

}  // namespace

struct StaleFlow::Problem {
  const StaleFlow& flow;
  const BlockGraph& graph;

  Reasons start() const { return {}; }
  Reasons initial(BlockId block) const {
    const bool is_entry = std::ranges::binary_search(graph.entries, block);
    return is_entry ? Reasons(flow.registers_ + flow.stores_.size(), kRight) : Reasons();
  }
  void meet(Reasons& into, const Reasons& from, BlockId, BlockId) const {
    if (from.empty()) return;
    if (into.empty()) {
      into = from;
      return;
    }
    for (size_t i = 0; i < into.size(); ++i)
      if (into[i] != from[i]) into[i] = kUnknown;
  }
  Reasons transfer(BlockId block, Reasons reasons) const {
    if (reasons.empty()) return reasons;
    const bool in_stub = flow.is_stub(flow.procedure_.blocks[block]);
    for (const Work& work : flow.work_[block]) flow.step(work, in_stub, reasons);
    return reasons;
  }
};

StaleFlow::StaleFlow(const Image& image, const Program& program, ProcedureId id)
    : image_(image),
      program_(program),
      procedure_(program[id]),
      machine_(*program.machine),
      registers_(machine_.register_count) {
  find_saves();
  work_.reserve(procedure_.blocks.size());
  for (const BasicBlock& block : procedure_.blocks) work_.push_back(work_of(block));
  const BlockGraph graph = make_block_graph(procedure_);
  before_ = solve_blocks<Direction::forward>(graph, Problem{*this, graph}).before;
}

bool StaleFlow::is_stub(const BasicBlock& block) const {
  return block.has(BasicBlock::kHotCopy) && block.origin_size == 0;
}

/// The slots in which the procedure saves registers, when the frame has its full size.
void StaleFlow::find_saves() {
  const auto add = [&](uint32_t index) {
    if (index >= program_.unwind.states.size()) return;
    const CfiState& state = program_.unwind.states[index];
    for (const auto& [reg, rule] : state.rules)
      if (const auto saved = program_.machine->abi.register_in_tables(reg);
          saved && rule.kind == CfiRule::Kind::offset)
        saves_.emplace_back(*saved, state.cfa_offset + rule.value);
  };
  for (const BasicBlock& block : procedure_.blocks) {
    add(block.cfi_state);
    for (const Instruction& instruction : block.instructions)
      if (instruction.is_pseudo()) add(static_cast<uint32_t>(instruction.immediate));
  }
  std::ranges::sort(saves_);
  saves_.erase(std::unique(saves_.begin(), saves_.end()), saves_.end());
}

bool StaleFlow::is_save(const Instruction& store, const Operands& operands) const {
  if (!contains(used(operands), machine_.abi.stack_pointer)) return false;
  return std::ranges::any_of(used(operands), [&](Register r) {
    return std::ranges::binary_search(saves_, std::pair(r, int64_t{store.immediate}));
  });
}

bool StaleFlow::has_stale_store(const Reasons& reasons) const {
  return std::any_of(reasons.begin() + registers_, reasons.end(),
                     [](uint32_t reason) { return reason != kRight; });
}

/// The group of the input's instructions around an address, without references.
std::vector<Instruction> StaleFlow::decode(uint64_t address) const {
  const uint64_t group = program_.map.group(address), next = program_.map.group_end(address);
  const auto bytes = image_.bytes_at(group, next - group);
  if (!bytes) return {};
  std::vector<Instruction> decoded(machine_.codec.groups.slots);
  machine_.codec.decode(*bytes, static_cast<uint32_t>(group - program_.origin_base),
                        decoded.data());
  return decoded;
}

std::vector<StaleFlow::Work> StaleFlow::work_of(const BasicBlock& block) {
  std::vector<Work> result;
  std::vector<std::pair<uint64_t, const Instruction*>> left;
  for (const Instruction& instruction : block.instructions)
    if (!instruction.is_pseudo() && instruction.origin != kNone)
      left.emplace_back(program_.origin_base + instruction.origin, &instruction);
  const auto add = [&](uint64_t address, const Instruction* now) {
    const std::vector<Instruction> group = decode(address);
    if (group.empty()) return;
    const Instruction& before = group[program_.map.slot(address)];
    const InstructionFacts facts = machine_.facts(before);
    Work work;
    work.old_address = address;
    work.before = machine_.operands(before);
    work.loads = facts.flow == ControlFlow::none &&
                 contains(used(work.before), machine_.abi.stack_pointer) &&
                 work.before.size > work.before.uses;
    work.removed = now == nullptr;
    if (now != nullptr) work.now = machine_.operands(*now);
    if (work.removed && (facts.nop || facts.flow != ControlFlow::none)) return;
    if (is_store(facts, work.before) && (work.removed || is_stub(block)) &&
        !is_save(before, work.before))
      work.store = stores_.try_emplace(address, static_cast<uint32_t>(registers_ + stores_.size()))
                       .first->second;
    result.push_back(work);
  };
  if (is_stub(block)) {
    for (const auto& [address, instruction] : left) add(address, instruction);
    return result;
  }
  const uint64_t start = block.origin == kNone ? 0 : program_.address_of(block);
  uint64_t at = start;
  const uint64_t end = start + block.origin_size;
  for (const auto& [address, instruction] : left) {
    if (at <= address && address < end) {
      for (; at < address; at = program_.map.next(at)) add(at, nullptr);
      at = program_.map.next(address);
    }
    add(address, instruction);
  }
  for (; at < end; at = program_.map.next(at)) add(at, nullptr);
  return result;
}

void StaleFlow::step(const Work& work, bool in_stub, Reasons& reasons) const {
  const auto reason = static_cast<uint32_t>(work.old_address - program_.origin_base) + 1;
  if (work.removed) {
    for (const Register r : defined(work.before)) reasons[r] = reason;
    if (work.store != 0) reasons[work.store] = reason;
  } else if (in_stub) {
    const auto is_back = [&](uint32_t& old) { old = old == reason ? kRight : kUnknown; };
    for (const Register r : defined(work.now)) is_back(reasons[r]);
    if (work.store != 0) is_back(reasons[work.store]);
  } else {
    const auto was_used = used(work.before), was_defined = defined(work.before);
    const bool spoilt = std::ranges::any_of(used(work.now),
                                            [&](Register r) {
                                              return reasons[r] != kRight && contains(was_used, r);
                                            }) ||
                        (work.loads && has_stale_store(reasons));
    for (const Register r : was_defined) reasons[r] = kUnknown;
    for (const Register r : defined(work.now))
      reasons[r] = spoilt || !contains(was_defined, r) ? kUnknown : kRight;
  }
  if (const auto gp = machine_.global_pointer()) reasons[*gp] = kRight;
}

StaleValues StaleFlow::values(const Reasons& reasons) const {
  StaleValues result;
  if (reasons.empty()) return result;
  for (Register r = 0; r < registers_; ++r)
    if (reasons[r] != kRight) result.add(r);
  result.memory = has_stale_store(reasons);
  return result;
}

std::vector<StaleFlow::Step> StaleFlow::steps(BlockId id) const {
  std::vector<Step> result;
  const bool stub = is_stub(procedure_.blocks[id]);
  StaleValues everything;
  everything.all = true;
  Reasons reasons = before_[id];
  for (const Work& work : work_[id]) {
    if (!work.removed) result.push_back({work.old_address, stub ? everything : values(reasons)});
    if (!reasons.empty()) step(work, stub, reasons);
  }
  result.push_back({0, stub ? everything : values(reasons)});
  return result;
}

}  // namespace respike

// Stale values, by comparing each block with its code in the input.
//
// Hot-cold optimization removes instructions, moves them to stubs, and makes the ones that stay use
// other registers (transform/hotcold/). Its proof shows that what the program needs later is the
// same; a debugger may ask for the rest, too. So nothing is taken from the proof but this: an
// instruction that reads other registers than in the input finds in them what it found before.
//
// Saves of registers do not count as missing stores: a saved register is a caller's, and debuggers
// find it by the unwind information, which says whether it is saved. Cold code is followed, too:
// what nobody needs may be missing there as well.

#include "optimizer/emit/stale_values.h"

#include <algorithm>
#include <utility>

#include "optimizer/analysis/block_graph.h"
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

  Stale start() const { return {}; }
  Stale initial(BlockId) const { return {}; }
  void meet(Stale& into, const Stale& from, BlockId, BlockId) const { into |= from; }
  Stale transfer(BlockId block, Stale stale) const {
    for (const Work& work : flow.work_[block]) flow.step(work, stale);
    return stale;
  }
};

StaleFlow::StaleFlow(const Image& image, const Program& program, ProcedureId id)
    : image_(image),
      program_(program),
      procedure_(program[id]),
      machine_(*program.machine),
      registers_(static_cast<Register>(machine_.register_count)) {
  kept_equal_.add(machine_.global_pointer());
  for (const auto& registers : {machine_.abi.scratch, machine_.abi.arguments, machine_.abi.results})
    lost_at_calls_ |= Stale(registers);
  find_saves();
  work_.reserve(procedure_.blocks.size());
  for (const BasicBlock& block : procedure_.blocks) work_.push_back(work_of(block));
  before_ = solve_blocks<Direction::forward>(make_block_graph(procedure_), Problem{*this}).before;
}

bool StaleFlow::is_stub(const BasicBlock& block) const {
  return block.has(BasicBlock::kHotCopy) && block.origin_size == 0;
}

/// The slots in which the procedure saves registers, where the frame has its full size.
void StaleFlow::find_saves() {
  const auto add = [&](uint32_t index) {
    if (index >= program_.unwind.states.size()) return;
    const CfiState& state = program_.unwind.states[index];
    for (const auto& [reg, rule] : state.rules)
      if (rule.kind == CfiRule::Kind::offset)
        saves_.emplace_back(static_cast<Register>(reg), state.cfa_offset + rule.value);
  };
  for (const BasicBlock& block : procedure_.blocks) {
    add(block.cfi_state);
    for (const Instruction& instruction : block.instructions)
      if (instruction.is_pseudo()) add(static_cast<uint32_t>(instruction.immediate));
  }
  std::ranges::sort(saves_);
  const auto doubles = std::ranges::unique(saves_);
  saves_.erase(doubles.begin(), doubles.end());
}

bool StaleFlow::is_save(const Instruction& store, const Operands& operands) const {
  if (!contains(used(operands), machine_.abi.stack_pointer)) return false;
  return std::ranges::any_of(used(operands), [&](Register r) {
    return std::ranges::binary_search(saves_, std::pair(r, int64_t{store.immediate}));
  });
}

/// Stores beyond the size of the set share its last number, and are never found to be back.
Register StaleFlow::store_number(uint64_t old_address) {
  const auto next = static_cast<Register>(registers_ + stores_.size());
  return std::min<Register>(stores_.try_emplace(old_address, next).first->second,
                            Stale::kCapacity - 1);
}

bool StaleFlow::has_stale_store(const Stale& stale) const {
  return !(stale - Stale::first(registers_)).empty();
}

/// The group of instructions of the input around an address, without references.
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
    work.is_call = is_call(facts.flow);
    work.loads = facts.flow == ControlFlow::none && contains(used(work.before), machine_.abi.stack_pointer) &&
                 work.before.size > work.before.uses;
    work.removed = now == nullptr;
    if (now != nullptr) work.now = machine_.operands(*now);
    if (work.removed && (facts.nop || facts.flow != ControlFlow::none)) return;
    if (is_store(facts, work.before) && (work.removed || is_stub(block)) &&
        !is_save(before, work.before))
      work.store = store_number(address);
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

void StaleFlow::step(const Work& work, Stale& stale) const {
  if (work.removed) {
    for (const Register r : defined(work.before))
      if (!kept_equal_.contains(r)) stale.add(r);
    if (work.store != 0) stale.add(work.store);
    return;
  }
  if (work.store != 0 && work.store != Stale::kCapacity - 1) stale.remove(work.store);
  const auto was_used = used(work.before);
  const bool spoilt = std::ranges::any_of(used(work.now), [&](Register r) {
    return stale.contains(r) && contains(was_used, r);
  }) || (work.loads && has_stale_store(stale));
  for (const Register r : defined(work.before))
    if (!contains(defined(work.now), r)) stale.add(r);
  for (const Register r : defined(work.now)) {
    if (spoilt || !contains(defined(work.before), r))
      stale.add(r);
    else
      stale.remove(r);
  }
  if (work.is_call) stale -= lost_at_calls_;
  stale -= kept_equal_;
}

StaleValues StaleFlow::values(const Stale& stale) const {
  StaleValues result;
  for (Register r = 0; r < registers_; ++r)
    if (stale.contains(r)) result.add(r);
  result.memory = has_stale_store(stale);
  return result;
}

std::vector<StaleFlow::Step> StaleFlow::steps(BlockId id) const {
  std::vector<Step> result;
  const bool stub = is_stub(procedure_.blocks[id]);
  StaleValues everything;
  everything.all = true;
  Stale stale = before_[id];
  for (const Work& work : work_[id]) {
    if (!work.removed)
      result.push_back({work.old_address, stub ? everything : values(stale)});
    step(work, stale);
  }
  result.push_back({0, stub ? everything : values(stale)});
  return result;
}

}  // namespace respike

// Running a pair of blocks: each side on its own, on the values of both.
//
// The result of a pure instruction gets the number of its computation, so that equal numbers mean
// equal values whichever side computes them. An instruction that is not pure is an event: the
// changed procedure has to do the events of the original in the same order with equal values, and
// gets equal results.
//
// Example: the original does r3 = r1 + r2, then stores r3. The hot copy does r5 = r1 + r2, then
// stores r5. Both sums get one number, so the stores are the same event.

#include "optimizer/check/proof_step.h"

#include <algorithm>

#include <fmt/format.h>

#include "optimizer/analysis/private_slots.h"

namespace respike {

PairRun::PairRun(const Program& program, const ProcedureBefore& before,
                 std::span<const BlockId> copies)
    : program_(program),
      machine_(*program.machine),
      abi_(machine_.abi),
      before_(before),
      after_(program[before.id]),
      copies_(copies),
      operations_(machine_, before.id, copies) {
  RegisterSet mentioned;
  mentioned.add(abi_.stack_pointer);
  mentioned.add(abi_.return_address);
  for (const Procedure* procedure : {&before.procedure, &after_})
    for (const BasicBlock& block : procedure->blocks)
      for (const Instruction& i : block.instructions) {
        const Operands operands = machine_.operands(i);
        for (unsigned k = 0; k < operands.size; ++k) mentioned.add(operands.registers[k]);
      }
  number_.assign(machine_.register_count, kNone);
  mentioned.for_each([&](Register r) {
    number_[r] = static_cast<uint32_t>(used_.size());
    used_.push_back(r);
  });
  const RegisterSet preserved(std::span(abi_.preserved));
  preserved_ = preserved & mentioned;
  preserved_.add(abi_.return_address);  // for calls that leave theirs elsewhere
}

KnownValues PairRun::at_entry() const {
  KnownValues known;
  const size_t registers = used_.size(), slots = before_.slots.size();
  const auto put = [&](size_t first, size_t count) {
    for (size_t id = first; id < first + count; ++id) known.at.push_back(static_cast<ValueId>(id));
  };
  const size_t nothing_called = registers + 2 * slots;
  for (const size_t side : {kBefore, kAfter}) {
    put(0, registers);
    // Slots lie below the stack pointer, where nothing is known. Private slots start equal on both
    // sides: only a callee that reads more than it may could read their values, and it reads the
    // same values on both sides.
    for (size_t s = 0; s < slots; ++s)
      put(registers + (before_.is_private[s] ? 0 : side * slots) + s, 1);
    put(nothing_called, 1);
  }
  put(0, registers);
  put(nothing_called, 1);
  known.values.resize(nothing_called + 1);
  known.classes.resize(known.values.size(), kAnyClass);
  return simplified(known);
}

KnownValues PairRun::simplified(const KnownValues& known) const {
  return canonical(known, places_of_side(), known.at.size());
}

PairRun::Reached PairRun::run(const ProvenPair& pair, const KnownValues& known, bool check) {
  pair_ = pair;
  checks_ = check;
  table_.emplace(known);
  at_ = known.at;
  stack_ = at_[entry_place(abi_.stack_pointer)];
  events_.clear();
  next_event_ = 0;
  unwinds_[kBefore] = unwinds_[kAfter] = preserved_;
  branches_[kBefore] = branches_[kAfter] = {};
  skips_ = false;
  const bool stub = copies_[pair.after] == kNone;
  if (stub && after_.blocks[pair.after].successors.size() != 1) {
    expect(false, "a stub leads to several places");
    return {};
  }
  // The original runs ahead to the stub's cold block before the stub runs: the stub may compute the
  // values that the original computes on the way.
  const BlockId next = stub ? after_.blocks[pair.after].successors.front().target : pair.after;
  if (copies_[next] != pair.before) return run_skipped();
  return stub ? run_stub() : run_both();
}

size_t PairRun::slot_place(Side side, size_t slot) const {
  return side * places_of_side() + used_.size() + slot;
}

const Procedure& PairRun::procedure(Side side) const {
  return side == kBefore ? before_.procedure : after_;
}

void PairRun::expect(bool condition, std::string_view fault) {
  if (condition || !checks_ || fault_) return;
  fault_ = fmt::format("{} (block {})", fault, pair_.before);
}

PairRun::Reached PairRun::run_stub() {
  const BasicBlock& stub = after_.blocks[pair_.after];
  note_unwinding(kBefore, before_.procedure.blocks[pair_.before].cfi_state);
  execute(kAfter, stub);
  compare_unwinding();
  return {{{pair_.before, stub.successors.front().target}, result()}};
}

PairRun::Reached PairRun::run_skipped() {
  const BasicBlock& block = before_.procedure.blocks[pair_.before];
  execute(kBefore, block);
  const std::vector<Edge> ways = ways_of(kBefore, block);
  skips_ = ways.size() == 1 && events_.empty() && !before_.calls.contains(pair_.before);
  expect(skips_, "code that does something was left out");
  if (!skips_) return {};
  return {{{ways.front().target, pair_.after}, result()}};
}

PairRun::Reached PairRun::run_both() {
  const BasicBlock& before = before_.procedure.blocks[pair_.before];
  const BasicBlock& after = after_.blocks[pair_.after];
  execute(kBefore, before);
  execute(kAfter, after);
  expect(next_event_ == events_.size(), "something is not done any more");
  expect(before.has(BasicBlock::kGluedToNext) == after.has(BasicBlock::kGluedToNext),
         "code that must stay together is parted");
  compare_unwinding();
  compare_end();
  compare_call_sites(before, after);
  const std::vector<Edge> ways = ways_of(kBefore, before), ways_now = ways_of(kAfter, after);
  // Where control can only go one way, the branch may be gone.
  const bool alike =
      ways.size() == ways_now.size() &&
      (is_decided(kBefore) || std::equal(ways.begin(), ways.end(), ways_now.begin(),
                                         [](auto& a, auto& b) { return a.kind == b.kind; }));
  expect(alike, "control goes on elsewhere");
  if (!alike) return {};
  if (checks_ && before.edge(Edge::Kind::indirect) != nullptr) compare_tables(before, after);
  Reached reached;
  const bool calls = calls_at_end();
  for (size_t e = 0; e < ways.size(); ++e) {
    const Edge& edge = ways[e];
    const BlockId target = ways_now[e].target;
    if (edge.kind == Edge::Kind::landing_pad && after.call_site != kNone)
      expect(after_.call_sites[after.call_site].landing_pad == target, "exceptions go elsewhere");
    if (calls && edge.kind != Edge::Kind::landing_pad && !comes_back()) continue;
    const std::vector<ValueId> here = at_;
    if (calls) return_to(edge);
    const ValueClasses classes = narrow(edge);
    reached.push_back({{edge.target, target}, result()});
    at_ = here;
    if (branches_[kBefore].value) table_->set_classes(*branches_[kBefore].value, classes);
  }
  return reached;
}

bool PairRun::is_decided(Side side) const {
  const Branch& branch = branches_[side];
  if (!branch.value) return false;
  const ValueClasses classes = table_->classes(*branch.value);
  return (classes & branch.taken) == 0 || (classes & ~branch.taken) == 0;
}

std::vector<Edge> PairRun::ways_of(Side side, const BasicBlock& block) const {
  std::vector<Edge> ways(block.successors.begin(), block.successors.end());
  if (!is_decided(side)) return ways;
  const bool taken = (table_->classes(*branches_[side].value) & branches_[side].taken) != 0;
  std::erase_if(ways, [&](const Edge& e) { return (e.kind == Edge::Kind::taken) != taken; });
  return ways;
}

ValueClasses PairRun::narrow(const Edge& edge) {
  const Branch& branch = branches_[kBefore];
  if (!branch.value) return kAnyClass;
  const bool taken = edge.kind == Edge::Kind::taken;
  return narrow(*branch.value, taken ? branch.taken : kAnyClass & ~branch.taken);
}

ValueClasses PairRun::narrow(ValueId value, unsigned to) {
  const ValueClasses classes = table_->classes(value);
  table_->set_classes(value, static_cast<ValueClasses>(classes & to));
  return classes;
}

bool PairRun::branch(Side side, const Instruction& i, const Operands& operands) {
  if (machine_.facts(i).flow != ControlFlow::conditional_branch) return false;
  const auto taken = machine_.rewrite->taken_for(i);
  if (!taken || operands.uses != operands.size || operands.uses > 1) return false;
  branches_[side].taken = *taken;
  if (operands.uses == 1) {
    branches_[side].value = at(side, operands.registers[0]);
  } else {
    branches_[side].value = table_->fresh();
    narrow(*branches_[side].value, kZeroValue);
  }
  return is_decided(side);
}

void PairRun::execute(Side side, const BasicBlock& block) {
  uint32_t state = block.cfi_state;
  note_unwinding(side, state);
  for (const Instruction& i : block.instructions) {
    if (i.is_pseudo()) {
      state = static_cast<uint32_t>(i.immediate);
      continue;
    }
    note_unwinding(side, state);
    step(side, i);
  }
  const bool leaves = !block.instructions.empty() &&
                      machine_.facts(block.instructions.back()).flow != ControlFlow::none;
  if (!leaves) note_unwinding(side, state);
}

void PairRun::step(Side side, const Instruction& i) {
  if (machine_.facts(i).nop) return;
  if (machine_.facts(i).flow == ControlFlow::branch && !i.has_reference()) return;
  const Operands operands = machine_.operands(i);
  expect(i.opcode != kInvalid && i.predicate == 0, "an instruction is not understood");
  const auto result = [&]() -> ValueId& { return at(side, operands.registers[operands.uses]); };
  if (const auto added = constant_added(i, operands))
    result() = table_->sum(at(side, operands.registers[0]), *added);
  else if (is_copy(i, operands))
    result() = at(side, operands.registers[operands.uses - 1]);
  else if (machine_.rewrite->is_pure(i))
    compute(side, i, operands);
  else if (!access_slot(side, i, operands) && !branch(side, i, operands))
    note_event(side, i, operands);
  const auto end = operands.registers + operands.size;
  if (std::find(operands.registers + operands.uses, end, abi_.stack_pointer) != end)
    forget_slots(side);
}

void PairRun::forget_slots(Side side) {
  const auto bottom = table_->distance(at(side, abi_.stack_pointer), stack_);
  for (size_t s = 0; s < before_.slots.size(); ++s)
    if (!bottom || before_.slots[s] < *bottom) at_[slot_place(side, s)] = table_->fresh();
}

std::optional<int64_t> PairRun::constant_added(const Instruction& i,
                                               const Operands& operands) const {
  if (i.has_reference() || operands.uses != 1 || operands.size != 2) return std::nullopt;
  if (machine_.fixups.is_upper_half(i)) return machine_.fixups.field(i, ReferenceKind::gp_high);
  const auto operand = machine_.based_operand(i);
  if (!operand || operand->kind != BasedOperand::Kind::address) return std::nullopt;
  return operand->displacement;
}

bool PairRun::is_copy(const Instruction& i, const Operands& operands) const {
  return !i.has_reference() && operands.uses >= 1 && operands.size == operands.uses + 1 &&
         machine_.facts(i).source == ValueSource::copied;
}

void PairRun::compute(Side side, const Instruction& i, const Operands& operands) {
  Computation computation;
  computation.operation = operations_.number(side, procedure(side), i);
  computation.size = operands.uses;
  const bool fits = operands.uses <= computation.from.size();
  for (unsigned k = 0; fits && k < operands.uses; ++k)
    computation.from[k] = at(side, operands.registers[k]);
  for (unsigned k = operands.uses; k < operands.size; ++k, ++computation.operation)
    at(side, operands.registers[k]) = fits ? table_->compute(computation) : table_->fresh();
  if (operands.size == operands.uses + 1)
    narrow(at(side, operands.registers[operands.uses]), machine_.rewrite->possible_results(i));
}

bool PairRun::access_slot(Side side, const Instruction& i, const Operands& operands) {
  const auto operand = machine_.based_operand(i);
  if (!operand || i.has_reference() || operands.uses == 0) return false;
  const ValueId base = at(side, operands.registers[operands.uses - 1]);
  const auto from_stack = table_->distance(base, stack_);
  if (!from_stack) {
    const bool of_frame = operands.registers[operands.uses - 1] == abi_.stack_pointer;
    expect(!of_frame || before_.slots.empty(), "the stack pointer is not known");
    return false;
  }
  const int64_t offset = *from_stack + operand->displacement;
  const auto bottom = table_->distance(at(side, abi_.stack_pointer), stack_);
  expect(side == kBefore || !bottom || *bottom <= offset, "a signal would overwrite the frame");
  const auto near = std::lower_bound(before_.slots.begin(), before_.slots.end(), offset - 7);
  if (near == before_.slots.end() || *near > offset + 7) return false;
  const auto number = static_cast<size_t>(near - before_.slots.begin());
  const bool is_private = before_.is_private[number];
  const auto whole = whole_register_access(machine_, i);
  const bool store =
      is_private ? whole && whole->store
                 : operands.size == 2 && operands.uses == 2 && before_.saves.contains(i.opcode);
  const bool load =
      is_private ? whole && !whole->store
                 : operands.size == 2 && operands.uses == 1 && before_.restores.contains(i.opcode);
  if (*near != offset || (!store && !load)) {
    expect(false, "a slot of the frame is used otherwise");
    return false;
  }
  expect(bottom && *bottom <= offset, "a slot is used that is not in the frame");
  ValueId& slot = at_[slot_place(side, number)];
  if (!store)
    at(side, operands.registers[1]) = slot;
  else
    slot = operands.uses == 2 ? at(side, operands.registers[0]) : zero(side, i);
  // A callee, such as setjmp, may return a second time at any later point, and find the values
  // stored now.
  if (store && is_private && called(side)) note_event(side, i, operands);
  return true;
}

ValueId PairRun::zero(Side side, const Instruction& i) {
  return table_->compute({operations_.number(side, procedure(side), i), 0, 0, {}});
}

void PairRun::note_event(Side side, const Instruction& i, const Operands& operands) {
  SharedEvent event;
  event.operation = operations_.number(side, procedure(side), i);
  for (unsigned k = 0; k < operands.uses; ++k)
    event.reads.push_back(at(side, operands.registers[k]));
  if (machine_.facts(i).system_call) event.reads.push_back(at(side, abi_.stack_pointer));
  const std::vector<size_t> seen = slots_seen_by(side, i);
  for (const size_t place : seen) event.reads.push_back(at_[place]);
  const SharedEvent* same = nullptr;
  if (side == kAfter) {
    if (next_event_ < events_.size()) same = &events_[next_event_++];
    if (same != nullptr && (same->operation != event.operation || same->reads != event.reads))
      same = nullptr;
    if (same == nullptr) expect(false, "something else is done: " + machine_.text.print(i, 0));
    if (same != nullptr && checks_) compare_unwinding(same->unwinds, unwound_by(side, state_));
  }
  const auto put = [&](ValueId& place) {
    const size_t k = event.results.size();
    event.results.push_back(same != nullptr ? same->results[k] : table_->fresh());
    place = event.results.back();
  };
  for (unsigned k = operands.uses; k < operands.size; ++k) put(at(side, operands.registers[k]));
  for (const size_t place : seen) put(at_[place]);
  if (enters_other_code(machine_, i)) at_[calls_place(side)] = table_->fresh();
  if (side == kBefore) {
    if (checks_) event.unwinds = unwound_by(side, state_);
    events_.push_back(std::move(event));
  }
}

std::vector<size_t> PairRun::slots_seen_by(Side side, const Instruction& i) const {
  std::vector<size_t> seen;
  if (!enters_other_code(machine_, i)) return seen;
  const auto bottom = table_->distance(at_[place(side, abi_.stack_pointer)], stack_);
  for (size_t s = 0; s < before_.slots.size(); ++s)
    if (before_.is_private[s] && (!bottom || *bottom <= before_.slots[s]))
      seen.push_back(slot_place(side, s));
  return seen;
}

}  // namespace respike

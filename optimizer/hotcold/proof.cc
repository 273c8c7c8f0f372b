// A proof that shares nothing with the optimizations: the procedure as it was and as it is run side
// by side, and what is known of their values at each pair of blocks is found by a forward dataflow
// problem (known_values.h). Then, at each pair,
//
//  - both do the same in the same order: loads, stores, and all else that is not pure, with equal
//    values; they branch by equal values and in the same directions, but for branches whose
//    direction is known from the value: from how it was computed, or from a branch on the way;
//  - callees find what they read, and the stack pointer where it was;
//  - where control leaves for good, all registers that are live in the original hold the same, and
//    preserved ones the caller's values if they did in the original;
//  - wherever unwind information was right in the original it is right now.
//
// Hot blocks and clones are walked together with what they are copies of. A stub runs while the
// original waits in front of the cold block; a hot block of which nothing is left may be skipped,
// but no loop of them.
//
// Slots of saved registers (frame_shape.h) and private ones (private_slots.h) are places like
// registers: what is stored there is found there again, and other accesses that might meet them are
// not allowed. They count from the stack pointer at the entry, and nothing is read from below the
// stack pointer. Callees find private slots as they were, and may leave anything in them; behind a
// call, stores to them have to be done alike.
//
// A callee is the procedure as it is now, which by its own proof leaves what was live behind the
// call as it was left, and preserved registers as they were. Other registers may be changed by it.
// As in the dataflow of registers, control comes back from calls alone, and code behind a call that
// never returns is not reached; landing pads are reached by calls, not by loads that trap.
//
// An entry of a jump table that belongs to one jump (program.h) may lead elsewhere now: to what is
// paired with what it led to, at every copy of that jump. Entries of other tables lead where they
// led. The addresses that entries hold depend on the layout anyway and are for the jump alone.
//
// Left to the comparison behind emission: that all other pointers to code lead where they led, and
// loads of gp from where code is.
//
// Source: Necula: Translation Validation for an Optimizing Compiler, PLDI 2000, for the idea to
// prove each result instead of the optimizer.

#include "optimizer/hotcold/proof.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "optimizer/analysis/private_slots.h"
#include "optimizer/hotcold/known_values.h"
#include "optimizer/ir/target.h"

namespace respike {
namespace {

enum Side : uint8_t { kBefore, kAfter };

/// Something that both have to do alike.
struct Event {
  uint32_t operation = 0;
  std::vector<ValueId> reads, results;
  RegisterSet unwinds;  // of the caller's registers, those that an unwinder would find
};

/// Two blocks that run together, or one that runs while the other side waits in front of its own.
struct Pair {
  BlockId before = kNone, after = kNone;
  auto operator<=>(const Pair&) const = default;
};

/// Numbers operations by what they do but for their registers.
class Operations {
 public:
  Operations(const Target& target, ProcedureId id, std::span<const BlockId> copies)
      : target_(target), id_(id), copies_(copies) {}

  uint32_t number(Side side, const Procedure& procedure, const Instruction& i) {
    // Which fields are operands follows from those that are none.
    Key key{i.opcode, i.predicate, target_.code_motion()->zero_fields(i), 0, {}};
    const ControlFlow flow = target_.control_flow(i);
    const bool direct = flow == ControlFlow::branch || flow == ControlFlow::call ||
                        flow == ControlFlow::conditional_branch;
    if (i.has_reference())
      std::get<4>(key) =
          target_of(side, procedure, procedure.references[static_cast<uint32_t>(i.immediate)]);
    else if (!direct)
      std::get<3>(key) = i.immediate;
    const auto next = static_cast<uint32_t>(numbers_.size());
    return kFirst + kWidest * numbers_.try_emplace(key, next).first->second;
  }

 private:
  using Key = std::tuple<uint16_t, uint8_t, uint8_t, int32_t, std::array<uint64_t, 4>>;
  static constexpr uint32_t kFirst = 16;   // below are kinds of Computation
  static constexpr uint32_t kWidest = 16;  // results of one operation, which have numbers, too

  std::array<uint64_t, 4> target_of(Side side, const Procedure& procedure,
                                    const Reference& reference) const {
    if (reference.kind == ReferenceKind::branch_hint) return {};
    CodeLocation to = reference.target;
    if (side == kAfter && to.procedure == id_ && to.block < copies_.size() &&
        depends_on_place(procedure, to))
      to.block = copies_[to.block];
    return {
        uint64_t{1} + static_cast<uint64_t>(reference.kind) * 8 + static_cast<uint64_t>(to.where),
        to.procedure, to.block, to.address};
  }

  /// Where control is when it gets there by itself; calls and pointers lead to hot code alone.
  static bool depends_on_place(const Procedure& procedure, const CodeLocation& to) {
    return to.where == CodeLocation::Where::return_point ||
           procedure.blocks[to.block].has(BasicBlock::kLandingPad);
  }

  const Target& target_;
  const ProcedureId id_;
  const std::span<const BlockId> copies_;
  std::map<Key, uint32_t> numbers_;
};

/// Runs a pair of blocks on what is known of values, and compares.
class PairRun {
 public:
  PairRun(const Program& program, const ProcedureBefore& before, std::span<const BlockId> copies)
      : program_(program),
        target_(*program.target),
        abi_(target_.abi()),
        before_(before),
        after_(program[before.id]),
        copies_(copies),
        operations_(target_, before.id, copies) {
    RegisterSet mentioned;
    mentioned.add(abi_.stack_pointer);
    mentioned.add(abi_.return_address);
    for (const Procedure* procedure : {&before.procedure, &after_})
      for (const BasicBlock& block : procedure->blocks)
        for (const Instruction& i : block.instructions) {
          const Operands operands = target_.operands(i);
          for (unsigned k = 0; k < operands.size; ++k) mentioned.add(operands.registers[k]);
        }
    number_.assign(target_.register_count(), kNone);
    mentioned.for_each([&](Register r) {
      number_[r] = static_cast<uint32_t>(used_.size());
      used_.push_back(r);
    });
    const RegisterSet preserved(std::span(abi_.preserved));
    preserved_ = preserved & mentioned;
    preserved_.add(abi_.return_address);  // by calls that leave theirs elsewhere
  }

  /// At an entry of the procedure.
  KnownValues at_entry() const {
    KnownValues known;
    const size_t registers = used_.size(), slots = before_.slots.size();
    const auto put = [&](size_t first, size_t count) {
      for (size_t id = first; id < first + count; ++id)
        known.at.push_back(static_cast<ValueId>(id));
    };
    const size_t nothing_called = registers + 2 * slots;
    for (const size_t side : {kBefore, kAfter}) {
      put(0, registers);
      // Below the stack pointer, where nothing is known. What private slots hold there is not read
      // but by callees that read more than they may, which find the same.
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

  /// Without what the changed procedure could not compute again.
  KnownValues simplified(const KnownValues& known) const {
    return canonical(known, places_of_side(), known.at.size());
  }

  using Reached = std::vector<std::pair<Pair, KnownValues>>;

  /// What follows a pair. `check`: notes the first fault, too.
  Reached run(const Pair& pair, const KnownValues& known, bool check) {
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
    // What waits is skipped before a stub runs, which may compute what was skipped.
    const BlockId next = stub ? after_.blocks[pair.after].successors.front().target : pair.after;
    if (copies_[next] != pair.before) return run_skipped();
    return stub ? run_stub() : run_both();
  }

  /// Whether the changed procedure waited in the last run.
  bool skips() const { return skips_; }
  const std::optional<std::string>& fault() const { return fault_; }

 private:
  // Places: registers and slots of both sides, and one that changes with each call; then registers
  // and that one at the entry.
  size_t places_of_side() const { return used_.size() + before_.slots.size() + 1; }
  size_t place(Side side, Register r) const { return side * places_of_side() + number_[r]; }
  size_t slot_place(Side side, size_t slot) const {
    return side * places_of_side() + used_.size() + slot;
  }
  size_t calls_place(Side side) const { return (side + 1) * places_of_side() - 1; }
  size_t entry_place(Register r) const { return 2 * places_of_side() + number_[r]; }
  /// Whether something may have been called since the entry.
  bool called(Side side) const { return at_[calls_place(side)] != at_.back(); }
  ValueId& at(Side side, Register r) { return at_[place(side, r)]; }
  bool equal(Register r) { return at(kBefore, r) == at(kAfter, r); }
  const Procedure& procedure(Side side) const {
    return side == kBefore ? before_.procedure : after_;
  }

  void expect(bool condition, std::string_view fault) {
    if (condition || !checks_ || fault_) return;
    fault_ = fmt::format("{} (block {})", fault, pair_.before);
  }

  Reached run_stub() {
    const BasicBlock& stub = after_.blocks[pair_.after];
    note_unwinding(kBefore, before_.procedure.blocks[pair_.before].cfi_state);
    execute(kAfter, stub);
    compare_unwinding();
    return {{{pair_.before, stub.successors.front().target}, result()}};
  }

  Reached run_skipped() {
    const BasicBlock& block = before_.procedure.blocks[pair_.before];
    execute(kBefore, block);
    const std::vector<Edge> ways = ways_of(kBefore, block);
    skips_ = ways.size() == 1 && events_.empty() && !before_.calls.contains(pair_.before);
    expect(skips_, "code that does something was left out");
    if (!skips_) return {};
    return {{{ways.front().target, pair_.after}, result()}};
  }

  Reached run_both() {
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
    // Where control goes one way, the branch that leads there may be gone.
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

  KnownValues result() const { return simplified(table_->known(at_)); }

  // Conditional branches that end a block.

  struct Branch {
    std::optional<ValueId> value;  // that decides where it goes; nullopt: not understood
    ValueClasses taken = 0;        // for these
  };

  bool is_decided(Side side) const {
    const Branch& branch = branches_[side];
    if (!branch.value) return false;
    const ValueClasses classes = table_->classes(*branch.value);
    return (classes & branch.taken) == 0 || (classes & ~branch.taken) == 0;
  }

  /// Where control may go on.
  std::vector<Edge> ways_of(Side side, const BasicBlock& block) const {
    std::vector<Edge> ways(block.successors.begin(), block.successors.end());
    if (!is_decided(side)) return ways;
    const bool taken = (table_->classes(*branches_[side].value) & branches_[side].taken) != 0;
    std::erase_if(ways, [&](const Edge& e) { return (e.kind == Edge::Kind::taken) != taken; });
    return ways;
  }

  /// The value that a branch of both went by is known better behind it. Returns what it was.
  ValueClasses narrow(const Edge& edge) {
    const Branch& branch = branches_[kBefore];
    if (!branch.value) return kAnyClass;
    const bool taken = edge.kind == Edge::Kind::taken;
    return narrow(*branch.value, taken ? branch.taken : kAnyClass & ~branch.taken);
  }
  ValueClasses narrow(ValueId value, unsigned to) {
    const ValueClasses classes = table_->classes(value);
    table_->set_classes(value, static_cast<ValueClasses>(classes & to));
    return classes;
  }

  /// Notes what a block's last instruction goes by; true when that decides where it goes.
  bool branch(Side side, const Instruction& i, const Operands& operands) {
    if (target_.control_flow(i) != ControlFlow::conditional_branch) return false;
    const auto taken = target_.code_motion()->taken_for(i);
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

  // One side.

  void execute(Side side, const BasicBlock& block) {
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
                        target_.control_flow(block.instructions.back()) != ControlFlow::none;
    if (!leaves) note_unwinding(side, state);
  }

  void step(Side side, const Instruction& i) {
    if (target_.is_nop(i)) return;
    if (target_.control_flow(i) == ControlFlow::branch && !i.has_reference()) return;
    const Operands operands = target_.operands(i);
    expect(i.opcode != kInvalid && i.predicate == 0, "an instruction is not understood");
    const auto result = [&]() -> ValueId& { return at(side, operands.registers[operands.uses]); };
    if (const auto added = constant_added(i, operands))
      result() = table_->sum(at(side, operands.registers[0]), *added);
    else if (is_copy(i, operands))
      result() = at(side, operands.registers[operands.uses - 1]);
    else if (target_.code_motion()->is_pure(i))
      compute(side, i, operands);
    else if (!access_slot(side, i, operands) && !branch(side, i, operands))
      note_event(side, i, operands);
    const auto end = operands.registers + operands.size;
    if (std::find(operands.registers + operands.uses, end, abi_.stack_pointer) != end)
      forget_slots(side);
  }

  /// Of slots below the stack pointer.
  void forget_slots(Side side) {
    const auto bottom = table_->distance(at(side, abi_.stack_pointer), stack_);
    for (size_t s = 0; s < before_.slots.size(); ++s)
      if (!bottom || before_.slots[s] < *bottom) at_[slot_place(side, s)] = table_->fresh();
  }

  std::optional<int64_t> constant_added(const Instruction& i, const Operands& operands) const {
    if (i.has_reference() || operands.uses != 1 || operands.size != 2) return std::nullopt;
    if (target_.is_upper_half(i)) return target_.field(i, ReferenceKind::gp_high);
    Instruction copy = i;
    copy.immediate = 0;
    if (!target_.is_lower_half(i) || target_.value_source(copy) != ValueSource::copied)
      return std::nullopt;
    return target_.field(i, ReferenceKind::gp_low);
  }

  bool is_copy(const Instruction& i, const Operands& operands) const {
    return !i.has_reference() && operands.uses >= 1 && operands.size == operands.uses + 1 &&
           target_.value_source(i) == ValueSource::copied;
  }

  void compute(Side side, const Instruction& i, const Operands& operands) {
    Computation computation;
    computation.operation = operations_.number(side, procedure(side), i);
    computation.size = operands.uses;
    const bool fits = operands.uses <= computation.from.size();
    for (unsigned k = 0; fits && k < operands.uses; ++k)
      computation.from[k] = at(side, operands.registers[k]);
    for (unsigned k = operands.uses; k < operands.size; ++k, ++computation.operation)
      at(side, operands.registers[k]) = fits ? table_->compute(computation) : table_->fresh();
    if (operands.size == operands.uses + 1)
      narrow(at(side, operands.registers[operands.uses]),
             target_.code_motion()->possible_results(i));
  }

  /// Saves and restores; false for what is no access of a slot.
  bool access_slot(Side side, const Instruction& i, const Operands& operands) {
    if (!target_.is_lower_half(i) || i.has_reference() || operands.uses == 0) return false;
    const ValueId base = at(side, operands.registers[operands.uses - 1]);
    const auto from_stack = table_->distance(base, stack_);
    if (!from_stack) {
      const bool of_frame = operands.registers[operands.uses - 1] == abi_.stack_pointer;
      expect(!of_frame || before_.slots.empty(), "the stack pointer is not known");
      return false;
    }
    const int64_t offset = *from_stack + target_.field(i, ReferenceKind::gp_low);
    const auto bottom = table_->distance(at(side, abi_.stack_pointer), stack_);
    expect(side == kBefore || !bottom || *bottom <= offset, "a signal would overwrite the frame");
    const auto near = std::lower_bound(before_.slots.begin(), before_.slots.end(), offset - 7);
    if (near == before_.slots.end() || *near > offset + 7) return false;
    const auto number = static_cast<size_t>(near - before_.slots.begin());
    const bool is_private = before_.is_private[number];
    const auto whole = whole_register_access(target_, i);
    const bool store =
        is_private ? whole && whole->store
                   : operands.size == 2 && operands.uses == 2 && before_.saves.contains(i.opcode);
    const bool load = is_private ? whole && !whole->store
                                 : operands.size == 2 && operands.uses == 1 &&
                                       before_.restores.contains(i.opcode);
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
    // Somebody called may come back a second time, whenever, and find what is stored now.
    if (store && is_private && called(side)) note_event(side, i, operands);
    return true;
  }

  /// What an instruction stores that stores no register.
  ValueId zero(Side side, const Instruction& i) {
    return table_->compute({operations_.number(side, procedure(side), i), 0, 0, {}});
  }

  void note_event(Side side, const Instruction& i, const Operands& operands) {
    Event event;
    event.operation = operations_.number(side, procedure(side), i);
    for (unsigned k = 0; k < operands.uses; ++k)
      event.reads.push_back(at(side, operands.registers[k]));
    if (target_.is_system_call(i)) event.reads.push_back(at(side, abi_.stack_pointer));
    const std::vector<size_t> seen = slots_seen_by(side, i);
    for (const size_t place : seen) event.reads.push_back(at_[place]);
    const Event* same = nullptr;
    if (side == kAfter) {
      if (next_event_ < events_.size()) same = &events_[next_event_++];
      if (same != nullptr && (same->operation != event.operation || same->reads != event.reads))
        same = nullptr;
      if (same == nullptr) expect(false, "something else is done: " + target_.print(i, 0));
      if (same != nullptr && checks_) compare_unwinding(same->unwinds, unwound_by(side, state_));
    }
    const auto put = [&](ValueId& place) {
      const size_t k = event.results.size();
      event.results.push_back(same != nullptr ? same->results[k] : table_->fresh());
      place = event.results.back();
    };
    for (unsigned k = operands.uses; k < operands.size; ++k) put(at(side, operands.registers[k]));
    for (const size_t place : seen) put(at_[place]);
    if (enters_other_code(i)) at_[calls_place(side)] = table_->fresh();
    if (side == kBefore) {
      if (checks_) event.unwinds = unwound_by(side, state_);
      events_.push_back(std::move(event));
    }
  }

  bool enters_other_code(const Instruction& i) const {
    return is_call(target_.control_flow(i)) || target_.is_system_call(i);
  }

  /// Places of private slots of the frame, if an instruction enters code that may read and write
  /// them.
  std::vector<size_t> slots_seen_by(Side side, const Instruction& i) const {
    std::vector<size_t> seen;
    if (!enters_other_code(i)) return seen;
    const auto bottom = table_->distance(at_[place(side, abi_.stack_pointer)], stack_);
    for (size_t s = 0; s < before_.slots.size(); ++s)
      if (before_.is_private[s] && (!bottom || *bottom <= before_.slots[s]))
        seen.push_back(slot_place(side, s));
    return seen;
  }

  // Unwind information.

  void note_unwinding(Side side, uint32_t state) {
    state_ = state;
    if (checks_) unwinds_[side] &= unwound_by(side, state);
  }

  /// The caller's registers that an unwinder would find.
  RegisterSet unwound_by(Side side, uint32_t state) {
    RegisterSet found;
    preserved_.for_each([&](Register r) {
      if (unwound(side, state, r) == at_[entry_place(r)]) found.add(r);
    });
    return found;
  }

  /// What an unwinder takes for the caller's value of a register.
  std::optional<ValueId> unwound(Side side, uint32_t number, Register r) {
    if (number >= program_.unwind.states.size()) return std::nullopt;
    const CfiState& state = program_.unwind.states[number];
    if (state.opaque || state.cfa_is_expression || state.cfa_register >= number_.size() ||
        number_[state.cfa_register] == kNone)
      return std::nullopt;
    const ValueId base = at(side, static_cast<Register>(state.cfa_register));
    const auto from_stack = table_->distance(base, stack_);
    if (!from_stack || *from_stack + state.cfa_offset != before_.cfa_at_entry) return std::nullopt;
    const auto rule = std::find_if(state.rules.begin(), state.rules.end(),
                                   [&](const auto& each) { return each.first == r; });
    if (rule == state.rules.end() || rule->second.kind == CfiRule::Kind::same_value)
      return at(side, r);
    if (rule->second.kind != CfiRule::Kind::offset) return std::nullopt;
    const int64_t offset = rule->second.value + before_.cfa_at_entry;
    const auto slot = std::lower_bound(before_.slots.begin(), before_.slots.end(), offset);
    if (slot == before_.slots.end() || *slot != offset) return std::nullopt;
    return at_[slot_place(side, static_cast<size_t>(slot - before_.slots.begin()))];
  }

  void compare_unwinding(const RegisterSet& before, const RegisterSet& after) {
    (before - after).for_each([&](Register r) {
      expect(false, "unwind information does not find the caller's " + target_.register_name(r));
    });
  }
  void compare_unwinding() { compare_unwinding(unwinds_[kBefore], unwinds_[kAfter]); }

  void compare_call_sites(const BasicBlock& before, const BasicBlock& after) {
    expect((before.call_site == kNone) == (after.call_site == kNone), "exceptions go elsewhere");
    if (before.call_site == kNone || after.call_site == kNone) return;
    const CallSite& a = before_.procedure.call_sites[before.call_site];
    CallSite b = after_.call_sites[after.call_site];
    if (b.landing_pad < copies_.size()) b.landing_pad = copies_[b.landing_pad];
    expect(a == b, "exceptions go elsewhere");
  }

  // Behind the last instruction.

  /// That jumps by tables of their own go where the edges say, others where they went.
  void compare_tables(const BasicBlock& before, const BasicBlock& after) {
    bool own = false;
    for (const ProcedureBefore::TableEntry& entry : before_.table_entries) {
      if (entry.jump != pair_.before) continue;
      own = true;
      const CodeLocation& to = program_.code_pointers[entry.pointer].target;
      bool followed = false;  // by an edge
      for (size_t e = 0; e < before.successors.size(); ++e)
        followed |= before.successors[e].kind == Edge::Kind::indirect &&
                    before.successors[e].target == entry.target.block &&
                    after.successors[e].target == to.block;
      expect(followed && to.procedure == before_.id && to.where == entry.target.where,
             "a jump table leads elsewhere");
    }
    for (size_t e = 0; e < before.successors.size() && !own; ++e)
      expect(before.successors[e].kind != Edge::Kind::indirect ||
                 before.successors[e].target == after.successors[e].target,
             "a jump table leads elsewhere");
  }

  const Call* call() const {
    const auto found = before_.calls.find(pair_.before);
    return found == before_.calls.end() ? nullptr : &found->second;
  }
  bool calls_at_end() const { return call() != nullptr && call()->kind == Call::Kind::call; }

  /// What is written on all ways back may hold another value there, or there is no way back.
  bool comes_back() const {
    return before_.killed.at(pair_.before).includes(before_.defined.at(pair_.before));
  }

  void compare_end() {
    const Call* const way_out = call();
    const BasicBlock& block = before_.procedure.blocks[pair_.before];
    if (way_out == nullptr && !block.successors.empty()) return;
    const bool returns = calls_at_end();
    RegisterSet needed = before_.live_at_end[pair_.before];
    if (returns) needed &= before_.read.at(pair_.before);
    needed.add(abi_.stack_pointer);
    needed.for_each([&](Register r) {
      if (number_[r] != kNone && !equal(r))
        expect(false, target_.register_name(r) + " holds something else at a way out");
    });
    if (returns) return;
    preserved_.for_each([&](Register r) {
      const ValueId callers = at_[entry_place(r)];
      const bool kept = before_.kept.contains(r) || at(kBefore, r) == callers;
      if (kept && at(kAfter, r) != callers)
        expect(false, target_.register_name(r) + " is not preserved");
    });
  }

  /// What the callee leaves, or an unwinder in front of a landing pad.
  void return_to(const Edge& edge) {
    const bool unwinding = edge.kind == Edge::Kind::landing_pad;
    const RegisterSet& live = before_.live_in[edge.target];
    const RegisterSet& defined = before_.defined.at(pair_.before);
    const RegisterSet& killed = before_.killed.at(pair_.before);
    for (const Register r : used_) {
      if (r == abi_.stack_pointer) continue;
      const bool is_preserved = preserved_.contains(r);
      const bool changed = unwinding ? !is_preserved : killed.contains(r);
      const bool same = live.contains(r) && (equal(r) || defined.contains(r) || unwinding);
      if (changed) {
        at(kBefore, r) = table_->fresh();
        at(kAfter, r) = same ? at(kBefore, r) : table_->fresh();
      } else if (!is_preserved && !same) {
        at(kAfter, r) = table_->fresh();
      }
    }
  }

  const Program& program_;
  const Target& target_;
  const Abi& abi_;
  const ProcedureBefore& before_;
  const Procedure& after_;
  const std::span<const BlockId> copies_;
  Operations operations_;
  std::vector<Register> used_;    // that either mentions, by their numbers here
  std::vector<uint32_t> number_;  // per register
  RegisterSet preserved_;         // of these: what unwinding restores

  Pair pair_;
  bool checks_ = false;
  std::optional<ValueTable> table_;
  std::vector<ValueId> at_;
  ValueId stack_ = 0;  // the stack pointer at the entry
  std::vector<Event> events_;
  size_t next_event_ = 0;
  bool skips_ = false;
  std::array<Branch, 2> branches_;  // per side, at the end of the block
  uint32_t state_ = kNone;          // of unwinding, where the side is
  RegisterSet unwinds_[2];          // of preserved_, those found at each instruction so far
  std::optional<std::string> fault_;
};

/// Follows both sides from the entries on until nothing new is learnt, then checks all pairs.
std::optional<std::string> prove(const Program& program, const ProcedureBefore& before,
                                 std::span<const BlockId> copies) {
  constexpr size_t kRounds = 64;
  PairRun pairs(program, before, copies);
  std::map<Pair, KnownValues> known;
  std::set<Pair> due;
  for (const BlockId entry : before.entries) {
    known[{entry, entry}] = pairs.at_entry();
    due.insert({entry, entry});
  }
  size_t left = kRounds * copies.size();
  while (!due.empty()) {
    const Pair pair = *due.begin();
    due.erase(due.begin());
    if (left-- == 0) return "it takes too long to prove";
    for (auto& [next, values] : pairs.run(pair, known.at(pair), false)) {
      const auto [at, fresh] = known.try_emplace(next, values);
      if (!fresh) {
        KnownValues both = pairs.simplified(join(at->second, values));
        if (both == at->second) continue;
        at->second = std::move(both);
      }
      due.insert(next);
    }
  }
  for (const auto& entry : before.table_entries)
    if (entry.jump == kNone && program.code_pointers[entry.pointer].target != entry.target)
      return "a jump table that others may use leads elsewhere";
  std::map<Pair, Pair> skips;
  for (const auto& [pair, values] : known) {
    const PairRun::Reached reached = pairs.run(pair, values, true);
    if (pairs.fault()) return pairs.fault();
    if (pairs.skips()) skips[pair] = reached.front().first;
  }
  for (const auto& [pair, behind] : skips) {
    Pair at = pair;
    for (size_t steps = 0; skips.contains(at); at = skips.at(at))
      if (steps++ > skips.size()) return "a loop was left out";
  }
  return std::nullopt;
}

}  // namespace

HotColdProof::HotColdProof(const Program& program, ProcedureId id, const CallGraph& calls,
                           const RegisterFlow& flow)
    : program_(program), before_(program, id, calls, flow) {}

std::optional<std::string> HotColdProof::find_fault(std::span<const BlockId> copies) const {
  return prove(program_, before_, copies);
}

}  // namespace respike

// Two optimizations of values that compilers keep in the frame for want of registers. Hot code
// needs these values less, since cold code does not lead back to it with other values in registers.
//
// Redundant loads: a forward analysis over all paths finds which registers hold the value of each
// slot, because the value was stored from them, loaded to them, or copied. A load of a value that a
// register holds becomes a copy, or goes if it is the same register. Example: stq $1,16($30); ...;
// ldq $2,16($30) becomes mov $1,$2 if nothing between them writes $1 or the slot.
//
// Partially dead stores: as for computations (partial_dead_code.cc), a store to a slot that no hot
// code may read moves to those stubs after which cold code may read the slot, if on all paths to
// them it is the last store to the slot and its register still holds the value. Calls read all
// slots. Once setjmp has been called, control may come back at any time, even from a signal
// handler, and find what the slots held then. So a store only moves if no hot call can come before
// it.

#include "optimizer/transform/hotcold/slot_accesses.h"

#include <algorithm>
#include <optional>

#include "optimizer/analysis/dataflow.h"
#include "optimizer/transform/hotcold/value_ways.h"

namespace respike {
namespace {

struct SlotAccess {
  size_t slot = 0;
  bool store = false;
  std::optional<Register> value;  // nullopt: zero
};

std::optional<SlotAccess> slot_access(const HotProcedure& procedure, const HotInstruction& i) {
  if (i.role || procedure.slots.offsets.empty()) return std::nullopt;
  const auto access = whole_register_access(procedure.machine(), i.instruction);
  if (!access || access->base != procedure.machine().abi.stack_pointer) return std::nullopt;
  const auto slot = procedure.slots.find(access->displacement - procedure.shape.size);
  if (!slot) return std::nullopt;
  return SlotAccess{*slot, access->store, access->value};
}

class RedundantLoads {
 public:
  explicit RedundantLoads(HotProcedure& procedure)
      : procedure_(procedure), machine_(procedure.machine()), before_(procedure.hot) {}

  Removed run() {
    if (procedure_.slots.offsets.empty()) return {};
    follow();
    for (uint32_t b = 0; b < procedure_.hot; ++b)
      if (!before_[b].empty()) rewrite(b);
    return removed_;
  }

 private:
  /// Per slot: registers that hold its value. Empty: control does not reach this point.
  using Holders = std::vector<RegisterSet>;

  void follow() {
    for (const uint32_t entry : procedure_.entries)
      before_[entry].resize(procedure_.slots.offsets.size());
    std::vector<uint32_t> work(procedure_.entries.begin(), procedure_.entries.end());
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      Holders holders = before_[b];
      for (const HotInstruction& i : procedure_.blocks[b].code) step(i, holders);
      for (const uint32_t next : procedure_.blocks[b].successors)
        if (!procedure_.is_stub(next) && meet(next, holders)) work.push_back(next);
    }
  }

  bool meet(uint32_t block, const Holders& from) {
    Holders& into = before_[block];
    if (into.empty()) {
      into = from;
      return true;
    }
    const Holders old = into;
    for (size_t s = 0; s < into.size(); ++s) into[s] &= from[s];
    return into != old;
  }

  void step(const HotInstruction& i, Holders& holders) const {
    const Operands operands = machine_.operands(i.instruction);
    const auto access = slot_access(procedure_, i);
    RegisterSet loaded;  // registers that hold the loaded value already
    if (access && !access->store) loaded = holders[access->slot];
    const auto copy = as_copy(machine_, i.instruction);
    for (RegisterSet& registers : holders) {
      const bool copied = copy && registers.contains(copy->from);
      registers -= defs_of(operands);
      if (copied) registers.add(copy->to);
    }
    if (enters_other_code(machine_, i.instruction))
      std::fill(holders.begin(), holders.end(), RegisterSet());
    if (!access) return;
    holders[access->slot] = access->store ? RegisterSet() : loaded - defs_of(operands);
    if (access->value) holders[access->slot].add(*access->value);
  }

  void rewrite(uint32_t number) {
    HotBlock& block = procedure_.blocks[number];
    if (block.untouchable) return;
    Holders holders = before_[number];
    for (size_t i = 0; i < block.code.size(); ++i) {
      const auto access = slot_access(procedure_, block.code[i]);
      const RegisterSet held = access ? holders[access->slot] : RegisterSet();
      step(block.code[i], holders);
      if (!access || access->store || held.empty()) continue;
      if (held.contains(*access->value)) {
        removed_.add(block.code[i], block.count);
        block.code.erase(block.code.begin() + static_cast<ptrdiff_t>(i--));
      } else if (const auto copy = copy_from(held, *access->value)) {
        block.code[i].instruction = *copy;
      }
    }
  }

  std::optional<Instruction> copy_from(const RegisterSet& held, Register to) const {
    std::optional<Instruction> copy;
    (held - registers_with_a_role(machine_)).for_each([&](Register r) {
      if (!copy) copy = machine_.rewrite->copy(r, to);
    });
    return copy;
  }

  HotProcedure& procedure_;
  const Machine& machine_;
  std::vector<Holders> before_;  // per hot block
  Removed removed_;
};

class StoreSinker {
 public:
  explicit StoreSinker(HotProcedure& procedure)
      : procedure_(procedure), machine_(procedure.machine()), called_(procedure.hot) {}

  Removed run() {
    if (procedure_.slots.offsets.empty()) return {};
    find_called();
    find_live();
    for (uint32_t b = 0; b < procedure_.hot; ++b)
      if (!called_[b] && !procedure_.blocks[b].untouchable) sink_from(b);
    return removed_;
  }

 private:
  /// Finds the blocks in which, or before which, something may have been called.
  void find_called() {
    std::vector<uint32_t> work;
    for (uint32_t b = 0; b < procedure_.hot; ++b)
      for (const HotInstruction& i : procedure_.blocks[b].code) {
        if (!enters_other_code(machine_, i.instruction)) continue;
        work.push_back(b);
        if (!is_call(machine_.facts(i.instruction).flow)) called_[b] = true;  // not at the end
      }
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      for (const uint32_t next : procedure_.blocks[b].successors) {
        if (procedure_.is_stub(next) || called_[next]) continue;
        called_[next] = true;
        work.push_back(next);
      }
    }
  }

  /// Liveness of slots: a bit per slot that hot code may read.
  struct Liveness {
    const StoreSinker& sinker;

    uint64_t start() const { return 0; }
    uint64_t initial(uint32_t) const { return 0; }
    void meet(uint64_t& into, uint64_t from, uint32_t, uint32_t) const { into |= from; }
    uint64_t transfer(uint32_t block, uint64_t live) const {
      if (sinker.procedure_.is_stub(block)) return 0;
      const auto& code = sinker.procedure_.blocks[block].code;
      for (size_t i = code.size(); i-- > 0;) sinker.step_back(code[i], live);
      return live;
    }
  };

  void find_live() {
    live_ = solve_blocks<Direction::backward>(procedure_.graph, Liveness{*this}).after;
  }

  void step_back(const HotInstruction& i, uint64_t& live) const {
    if (enters_other_code(machine_, i.instruction)) live = ~uint64_t{0};
    if (i.role == FrameShape::Role::release) live = 0;
    const auto access = slot_access(procedure_, i);
    if (!access) return;
    const uint64_t bit = uint64_t{1} << access->slot;
    live = access->store ? live & ~bit : live | bit;
  }

  void sink_from(uint32_t number) {
    HotBlock& block = procedure_.blocks[number];
    uint64_t live = live_[number];
    for (size_t i = block.code.size(); i-- > 0;) {
      const HotInstruction candidate = block.code[i];
      const auto access = slot_access(procedure_, candidate);
      if (access && access->store && (live >> access->slot & 1) == 0 &&
          sink(number, i, access->slot)) {
        removed_.add(candidate, block.count);
        continue;  // without the store `live` stays the same
      }
      step_back(candidate, live);
    }
  }

  /// Moves a store to the stubs that need it; false if it has to stay.
  bool sink(uint32_t number, size_t index, size_t slot) {
    const auto stores = [&](const HotInstruction& i) {
      const auto access = slot_access(procedure_, i);
      return access && access->store && access->slot == slot;
    };
    const ValueWays ways(procedure_, number, index, stores);
    return move_to_stubs(procedure_, number, index, ways, [&](uint32_t s) {
      const HotBlock& stub = procedure_.blocks[s];
      return (procedure_.slots.live[stub.place] >> slot & 1) != 0 &&
             std::ranges::none_of(stub.code, stores);
    });
  }

  HotProcedure& procedure_;
  const Machine& machine_;
  std::vector<bool> called_;    // per hot block: something may have been called before
  std::vector<uint64_t> live_;  // per block, at its end
  Removed removed_;
};

}  // namespace

Removed remove_redundant_loads(HotProcedure& procedure) {
  return RedundantLoads(procedure).run();
}

Removed sink_partial_dead_stores(HotProcedure& procedure) {
  return StoreSinker(procedure).run();
}

}  // namespace respike

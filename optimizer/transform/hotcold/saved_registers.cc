// Preserved-register elimination and return-address-save elimination (Spike, section "Hot-Cold
// Optimization").
//
// A procedure saves a register of its caller because some path through the procedure changes that
// register. When no path through the hot procedure changes it, the hot procedure's restores load
// the value that the register holds anyway, and only cold code needs its saves: restores go, saves
// move to the stubs. The return address is such a register when hot code has no calls.
//
// When hot code changes the register, another register may take its place. That register has to be
// free: not live anywhere in the hot blocks, and not used there. It is a scratch register, so the
// value must not be live across a call. Stubs copy the value to the register where cold code
// expects it. Example: stq $9,8($30); addq $16,1,$9; ...; ldq $9,8($30) becomes addq $16,1,$1; the
// stub is stq $9,8($30); mov $1,$9.
//
// A landing pad of a hot call may be cold, and there is no stub before it. If the pad may need the
// saved value, the saves stay and only the restores go. The same holds where a stub cannot know
// whether the register has been saved.
//
// The analysis follows two facts over all paths through the hot procedure: whether the register
// holds the caller's value (intact) or another one (changed), and whether its slot in the frame has
// been written. Where both are possible and it matters, the register is left alone. frame_shape.h
// knows which instructions are saves and restores.

#include "optimizer/transform/hotcold/saved_registers.h"

#include <algorithm>
#include <utility>

namespace respike {
namespace {

using Role = FrameShape::Role;

enum : uint8_t { kIntact = 1, kChanged = 2, kUnsaved = 4, kSaved = 8 };
constexpr uint8_t kValue = kIntact | kChanged, kSlot = kUnsaved | kSaved;

class SaveElimination {
 public:
  SaveElimination(HotProcedure& procedure, Register reg)
      : procedure_(procedure),
        machine_(procedure.machine()),
        reg_(reg),
        before_(procedure.blocks.size()) {}

  /// Eliminates saves; returns the saves and restores that were removed.
  Removed run() {
    if (!find_slot() || !follow() || !check_code()) return {};
    if (changed_) at_starts_ = live_at_starts(procedure_, true);
    if (changed_ && !check_ends()) return {};
    if (changed_ && !check_stubs()) return {};
    if (changed_ && !rename()) return {};
    if (may_sink_saves()) {
      sink_saves();
      procedure_.unsaved.add(reg_);
    }
    remove_steps(Role::restore);
    return removed_;
  }

 private:
  bool is_step(const HotInstruction& i, Role role) const {
    return i.role == role && i.saved == reg_;
  }

  bool find_slot() {
    for (const FrameShape::Slot& slot : procedure_.shape.slots)
      if (slot.reg == reg_) slot_ = slot.offset;
    for (uint32_t b = 0; b < procedure_.hot; ++b)
      for (const HotInstruction& i : procedure_.blocks[b].code)
        if (is_step(i, Role::save)) {
          if (save_ && save_->instruction.immediate != i.instruction.immediate) return false;
          save_ = i;
        }
    return save_.has_value();
  }

  /// The state after an instruction, given the state before it.
  uint8_t behind(const HotInstruction& i, uint8_t state) const {
    if (is_step(i, Role::save)) return static_cast<uint8_t>((state & kValue) | kSaved);
    if (is_step(i, Role::restore)) return static_cast<uint8_t>((state & kSlot) | kIntact);
    if (i.role == Role::release) return static_cast<uint8_t>((state & kValue) | kUnsaved);
    if (!defs_of(machine_.operands(i.instruction)).contains(reg_)) return state;
    if (i.instruction.predicate != 0) return state | kChanged;
    return static_cast<uint8_t>((state & kSlot) | kChanged);
  }

  /// Computes before_, forward from the entries; false when a callee may change the register.
  bool follow() {
    for (const uint32_t entry : procedure_.entries) before_[entry] = kIntact | kUnsaved;
    std::vector<uint32_t> work(procedure_.entries.begin(), procedure_.entries.end());
    const bool is_return_address = reg_ == machine_.abi.return_address;
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      uint8_t state = before_[b];
      for (const HotInstruction& i : procedure_.blocks[b].code) state = behind(i, state);
      if (!is_return_address && procedure_.changed_by[b].contains(reg_)) return false;
      for (const uint32_t next : procedure_.blocks[b].successors) {
        if ((before_[next] | state) == before_[next]) continue;
        before_[next] |= state;
        if (!procedure_.is_stub(next)) work.push_back(next);
      }
    }
    return true;
  }

  /// Calls f(block, instruction, state before it) for all hot code until it returns false.
  template <typename F>
  bool for_all_code(F f) {
    for (uint32_t b = 0; b < procedure_.hot; ++b) {
      uint8_t state = before_[b];
      for (HotInstruction& i : procedure_.blocks[b].code) {
        if (!f(b, i, state)) return false;
        state = behind(i, state);
      }
    }
    return true;
  }

  bool check_code() {
    const Register sp = machine_.abi.stack_pointer;
    return for_all_code([&](uint32_t b, const HotInstruction& i, uint8_t state) {
             const Operands operands = machine_.operands(i.instruction);
             const bool reads = uses_of(operands).contains(reg_);
             const bool writes = defs_of(operands).contains(reg_);
             const bool own = is_step(i, Role::save) || is_step(i, Role::restore);
             if ((reads || writes) && procedure_.blocks[b].untouchable) return false;
             if (own) return !is_step(i, Role::save) || (state & kChanged) == 0;
             if (i.role == Role::allocate && (state & kSaved) != 0) return false;
             if (writes) changed_ = true;
             // A read of the caller's value needs the register itself, so no other register may
             // take its place.
             if (reads && (state & kIntact) != 0) reads_intact_ = true;
             return i.role || !uses_of(operands).contains(sp) || !touches_slot(i.instruction);
           }) &&
           !(changed_ && (reads_intact_ || reg_ == machine_.abi.return_address));
  }

  /// Whether an access relative to the stack pointer overlaps the slot. Accesses that are not
  /// understood do not: unwind information says that the slot holds the caller's value.
  bool touches_slot(const Instruction& instruction) const {
    const auto operand = machine_.based_operand(instruction);
    if (!operand) return false;
    const int64_t at = operand->displacement - procedure_.shape.size;
    return at > slot_ - kWidest && at < slot_ + kWidest;
  }

  /// Whether no changed value is live across a call or after the procedure's end.
  bool check_ends() const {
    for (uint32_t b = 0; b < procedure_.hot; ++b) {
      uint8_t state = before_[b];
      for (const HotInstruction& i : procedure_.blocks[b].code) state = behind(i, state);
      if ((state & kChanged) == 0) continue;
      if (procedure_.used_at_end[b].contains(reg_)) return false;
      if (!procedure_.calls_at_end(b)) continue;
      for (const uint32_t next : procedure_.blocks[b].successors)
        if (at_starts_[next].contains(reg_)) return false;
    }
    return true;
  }

  /// Whether each stub knows if the register, where live, is intact or changed.
  bool check_stubs() const {
    for (uint32_t s = procedure_.hot; s < procedure_.blocks.size(); ++s) {
      if (!at_starts_[s].contains(reg_) || before_[s] == 0) continue;
      const bool may_be_changed = (before_[s] & kChanged) != 0;
      if ((before_[s] & kValue) == kValue || (procedure_.blocks[s].stays_empty && may_be_changed))
        return false;
    }
    return true;
  }

  bool may_sink_saves() const {
    for (uint32_t s = procedure_.hot; s < procedure_.blocks.size(); ++s)
      if ((before_[s] & kSlot) == kSlot ||
          (procedure_.blocks[s].stays_empty && (before_[s] & kSaved) != 0))
        return false;
    return true;
  }

  bool is_free(Register r) const {
    if (procedure_.live_anywhere.contains(r)) return false;
    for (const HotBlock& block : procedure_.blocks)
      for (const HotInstruction& i : block.code) {
        const Operands operands = machine_.operands(i.instruction);
        if (uses_of(operands).contains(r) || defs_of(operands).contains(r)) return false;
      }
    return true;
  }

  bool rename() {
    for (const Register other : machine_.rewrite->replacements())
      if (is_free(other) && rename_to(other)) return true;
    return false;
  }

  bool rename_to(Register other) {
    const RewriteFacts& motion = *machine_.rewrite;
    const auto copy = motion.copy(other, reg_);
    if (!copy) return false;
    const std::vector<HotBlock> before = procedure_.blocks;
    const bool done = for_all_code([&](uint32_t, HotInstruction& i, uint8_t) {
      if (is_step(i, Role::save) || is_step(i, Role::restore)) return true;
      const Operands operands = machine_.operands(i.instruction);
      if (!uses_of(operands).contains(reg_) && !defs_of(operands).contains(reg_)) return true;
      return motion.rename(i.instruction, reg_, other, true, true);
    });
    if (!done) {
      procedure_.blocks = before;
      return false;
    }
    for (uint32_t s = procedure_.hot; s < procedure_.blocks.size(); ++s)
      if (at_starts_[s].contains(reg_) && (before_[s] & kChanged) != 0)
        add_copy(procedure_.blocks[s].code, *copy);
    return true;
  }

  /// Adds the copy to a stub as late as possible: code there is in the order of the original.
  void add_copy(std::vector<HotInstruction>& code, const Instruction& copy) const {
    const auto at = std::find_if(code.begin(), code.end(), [&](const HotInstruction& i) {
      const Operands operands = machine_.operands(i.instruction);
      return uses_of(operands).contains(reg_) || defs_of(operands).contains(reg_);
    });
    code.insert(at, HotInstruction{copy, kNone, std::nullopt, 0});
  }

  void remove_steps(Role role) {
    for (uint32_t b = 0; b < procedure_.hot; ++b) {
      HotBlock& block = procedure_.blocks[b];
      std::erase_if(block.code, [&](const HotInstruction& i) {
        if (!is_step(i, role)) return false;
        removed_.add(i, block.count);
        return true;
      });
    }
  }

  void sink_saves() {
    remove_steps(Role::save);
    for (uint32_t s = procedure_.hot; s < procedure_.blocks.size(); ++s)
      if ((before_[s] & kSaved) != 0) {
        std::vector<HotInstruction>& code = procedure_.blocks[s].code;
        code.insert(code.begin(), *save_);
      }
  }

  static constexpr int64_t kWidest = 8;  // bytes of an ordinary access

  HotProcedure& procedure_;
  const Machine& machine_;
  const Register reg_;
  int64_t slot_ = 0;                    // from the stack pointer at the entry
  std::optional<HotInstruction> save_;  // one of the saves; all are the same
  std::vector<uint8_t> before_;         // per block: the state at its start
  std::vector<RegisterSet> at_starts_;  // per block: live registers; if changed_
  bool changed_ = false, reads_intact_ = false;
  Removed removed_;
};

}  // namespace

RemovedSaves eliminate_saves(HotProcedure& procedure) {
  RemovedSaves removed;
  if (!procedure.shape.regular || procedure.shape.frame_pointer) return removed;
  std::vector<Register> order;
  for (uint32_t b = 0; b < procedure.hot; ++b)
    for (const HotInstruction& i : procedure.blocks[b].code)
      if (i.role == Role::save && std::find(order.begin(), order.end(), i.saved) == order.end())
        order.push_back(i.saved);
  // Each save goes to the start of the stubs, so the last save of the original goes there first.
  std::reverse(order.begin(), order.end());
  for (const Register reg : order) {
    const Removed now = SaveElimination(procedure, reg).run();
    (reg == procedure.machine().abi.return_address ? removed.return_address : removed.preserved) +=
        now;
  }
  return removed;
}

}  // namespace respike

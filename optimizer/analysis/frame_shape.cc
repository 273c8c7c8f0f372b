// Stack frames, by abstract interpretation of each procedure.
//
// A forward analysis computes for every point: the stack pointer relative to its value at the
// entry; the register that is a copy of it (the frame pointer); the registers that certainly hold
// their value at the entry (intact); the registers that perhaps do (perhaps intact); and the slots
// that certainly hold the value of their register at the entry. A store of an intact register to
// its slot is a save. A load from the slot back to the register is a restore and makes the register
// intact again.
//
// Example: lda $30,-16($30) allocates 16 bytes; stq $9,8($30) saves $9 at -8; addq $16,1,$9 changes
// $9; ldq $9,8($30) restores $9; lda $30,16($30) releases the frame. So $9 is `restored`.
//
// The slots come from the unwind states: there a compiler describes where the caller's values are,
// and all unwinders rely on that description. The instruction alone does not show that a store
// keeps all bits of the register, and that no other value is kept in the slot. Procedures without
// unwind information have no slots.
//
// Machine::based_operand says which instructions add a number to a register, load or store. A load
// whose value nothing gets counts as a store of zero.

#include "optimizer/analysis/frame_shape.h"

#include <algorithm>
#include <optional>

#include "optimizer/analysis/dataflow.h"
#include "optimizer/machine/machine.h"

namespace respike {
namespace {

constexpr Register kNoRegister = 0xffff;

/// The offset of the CFA from the stack pointer at the entry.
std::optional<int64_t> cfa_at_entry(const Program& program, const Procedure& procedure) {
  const uint32_t state = procedure.blocks.empty() ? kNone : procedure.blocks.front().cfi_state;
  if (state >= program.unwind.states.size() || program.unwind.states[state].cfa_is_expression)
    return std::nullopt;
  return program.unwind.states[state].cfa_offset;
}

/// Calls f(state) for the unwind states of a procedure until f returns true.
template <typename F>
void for_each_state(const Program& program, const Procedure& procedure, F f) {
  const auto& states = program.unwind.states;
  uint32_t last = kNone;
  const auto visit = [&](uint32_t state) {
    if (state == last || state >= states.size()) return false;
    last = state;
    return f(states[state]);
  };
  for (const BasicBlock& block : procedure.blocks) {
    if (visit(block.cfi_state)) return;
    for (const Instruction& i : block.instructions)
      if (i.is_pseudo() && visit(static_cast<uint32_t>(i.immediate))) return;
  }
}

/// The places where unwind states say that registers were saved: offsets from the stack pointer at
/// the entry, ascending.
std::vector<int32_t> slot_offsets(const Program& program, const Procedure& procedure) {
  std::vector<int32_t> offsets;
  const auto cfa = cfa_at_entry(program, procedure);
  if (!cfa) return offsets;
  // Real procedures have few slots, and list them in the same order in all their states.
  constexpr size_t kMostSlots = 256;
  for_each_state(program, procedure, [&](const CfiState& state) {
    size_t next = 0;
    for (const auto& [number, rule] : state.rules) {
      if (rule.kind != CfiRule::Kind::offset) continue;
      const auto offset = static_cast<int32_t>(rule.value + *cfa);
      if (next < offsets.size() && offsets[next] == offset) {
        ++next;
      } else if (std::find(offsets.begin(), offsets.end(), offset) == offsets.end()) {
        offsets.push_back(offset);
      }
    }
    return offsets.size() > kMostSlots;
  });
  if (offsets.size() > kMostSlots) offsets.clear();
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

/// An instruction with a base register and a displacement.
struct Access {
  enum class Kind : uint8_t { address, load, store };
  Kind kind = Kind::address;
  Register base = kNoRegister;
  Register value = kNoRegister;  // loaded, stored or computed; kNoRegister: stores a zero
  int64_t displacement = 0;
};

std::optional<Access> access_of(const Machine& machine, const Instruction& i,
                                const Operands& operands) {
  if (i.has_reference()) return std::nullopt;
  const unsigned defs = operands.size - operands.uses;
  Access access;
  if (const auto operand = machine.based_operand(i)) {
    access.displacement = operand->displacement;
    if (operands.uses == 0) return std::nullopt;
    if (defs == 0) {
      access.kind = Access::Kind::store;
      access.base = operands.registers[operands.uses - 1];
      if (operands.uses > 1) access.value = operands.registers[0];
      return access;
    }
    if (defs != 1 || operands.uses != 1) return std::nullopt;
    access.kind =
        operand->kind == BasedOperand::Kind::address ? Access::Kind::address : Access::Kind::load;
  } else if (machine.fixups.is_upper_half(i) && operands.uses == 1 && defs == 1) {
    access.displacement = machine.fixups.field(i, ReferenceKind::gp_high);
  } else if (operands.uses == 1 && defs == 1 && machine.facts(i).source == ValueSource::copied) {
    access.displacement = 0;
  } else {
    return std::nullopt;
  }
  access.base = operands.registers[0];
  access.value = operands.registers[1];
  return access;
}

template <size_t W>
class FrameAnalysis {
 public:
  using Set = BasicRegisterSet<W>;

  FrameAnalysis(const Program& program, ProcedureId id, std::span<const Call> calls,
                std::span<const BlockId> entries)
      : machine_(*program.machine),
        procedure_(program[id]),
        calls_(calls),
        entries_(entries),
        sp_(machine_.abi.stack_pointer),
        all_(Set::first(machine_.register_count)),
        scratch_(std::span(machine_.abi.scratch)),
        preserved_(std::span(machine_.abi.preserved)),
        offsets_(slot_offsets(program, procedure_)) {
    find_effects();
  }

  FrameShape run() {
    if (procedure_.state == Procedure::State::opaque) return {};
    BlockGraph graph = make_block_graph(procedure_);
    const auto values = solve_blocks<Direction::forward>(graph, *this);
    collecting_ = true;
    exits_restored_ = all_;
    overwritten_.resize(procedure_.blocks.size());
    for (BlockId block = 0; block < procedure_.blocks.size(); ++block) {
      const State& state = values.before[block];
      if (!state.reached) continue;
      block_ = block;
      overwritten_[block] = RegisterSet(state.saved - state.maybe_intact);
      const State end = interpret(state);
      if (is_custom_call(block)) used_ |= end.maybe_intact;
      if (leaves(block)) check_exit(end);
    }
    return result();
  }

  // The problem, for solve_blocks().
  struct State {
    bool reached = false;
    bool sp_known = false;
    int64_t sp = 0;
    Register fp = kNoRegister;  // the frame pointer: a copy of the stack pointer ...
    int64_t fp_offset = 0;      // ... when it was at this offset
    Set intact, maybe_intact, saved;

    bool operator==(const State&) const = default;
  };
  State start() const { return {}; }
  State initial(BlockId block) const {
    if (!std::binary_search(entries_.begin(), entries_.end(), block)) return {};
    return {.reached = true,
            .sp_known = true,
            .sp = 0,
            .fp = kNoRegister,
            .fp_offset = 0,
            .intact = all_,
            .maybe_intact = all_,
            .saved = {}};
  }
  void meet(State& into, const State& from, BlockId source, BlockId) const {
    if (!from.reached) return;
    State state = from;
    if (after_call(source)) state.intact -= is_custom_call(source) ? all_ : scratch_;
    if (!into.reached) {
      into = state;
      return;
    }
    if (!state.sp_known || state.sp != into.sp) into.sp_known = false;
    if (!into.sp_known) into.sp = 0;
    if (state.fp != into.fp || state.fp_offset != into.fp_offset) {
      into.fp = kNoRegister;
      into.fp_offset = 0;
    }
    into.intact &= state.intact;
    into.maybe_intact |= state.maybe_intact;
    into.saved &= state.saved;
  }
  State transfer(BlockId block, State state) const {
    auto* self = const_cast<FrameAnalysis*>(this);  // interpret() adds to slots_
    self->block_ = block;
    return self->interpret(state);
  }

 private:
  struct Effect {
    Set uses, defs;
  };

  /// Decodes what instructions read and write. No-ops have no effect, though they may look like an
  /// access to the frame.
  void find_effects() {
    first_effect_.reserve(procedure_.blocks.size());
    for (const BasicBlock& block : procedure_.blocks) {
      first_effect_.push_back(effects_.size());
      for (const Instruction& i : block.instructions) {
        Effect& effect = effects_.emplace_back();
        if (i.is_pseudo() || machine_.facts(i).nop) continue;
        const Operands operands = machine_.operands(i);
        effect = {uses_of<W>(operands), defs_of<W>(operands)};
      }
    }
  }

  bool after_call(BlockId source) const {
    const BasicBlock& block = procedure_.blocks[source];
    if (block.instructions.empty()) return false;
    const ControlFlow flow = machine_.facts(block.instructions.back()).flow;
    return is_call(flow);
  }

  State interpret(State state) {
    if (!state.reached) return state;
    const auto& list = procedure_.blocks[block_].instructions;
    const Effect* effect = effects_.data() + first_effect_[block_];
    for (index_ = 0; index_ < list.size(); ++index_, ++effect) {
      if (concerns_frame(*effect, state))
        step(list[index_], state);
      else
        compute(*effect, state);
    }
    return state;
  }

  bool concerns_frame(const Effect& effect, const State& state) const {
    const auto has = [&](Register r) { return effect.uses.contains(r) || effect.defs.contains(r); };
    return has(sp_) || (state.fp != kNoRegister && has(state.fp));
  }

  void compute(const Effect& effect, State& state) {
    if (collecting_) {
      used_ |= effect.uses & state.maybe_intact;
      changed_ |= effect.defs;
    }
    state.intact -= effect.defs;
    state.maybe_intact -= effect.defs;
  }

  /// Interprets an instruction that reads or writes the stack pointer or the frame pointer.
  void step(const Instruction& i, State& state) {
    const Operands operands = machine_.operands(i);
    bool touches_frame = false;
    for (unsigned k = 0; k < operands.uses; ++k)
      touches_frame |= operands.registers[k] == sp_ || operands.registers[k] == state.fp;
    std::optional<Access> access;
    if (touches_frame) access = access_of(machine_, i, operands);
    const bool saves = access && save(*access, state);
    if (collecting_) {
      for (unsigned k = 0; k < operands.uses; ++k) {
        const Register r = operands.registers[k];
        if (state.maybe_intact.contains(r) && !(saves && r == access->value)) used_.add(r);
      }
    }
    const bool frame_register =
        access && access->kind == Access::Kind::address && frame_offset(*access, state);
    const int64_t address = frame_register ? *frame_offset(*access, state) : 0;
    const bool restores = access && restore(*access, state);
    for (unsigned k = operands.uses; k < operands.size; ++k)
      define(operands.registers[k], frame_register, address, state);
    if (restores) {
      state.intact.add(access->value);
      state.maybe_intact.add(access->value);
    }
    if (collecting_ && touches_frame) note_escape(i, operands, access, state);
  }

  /// The offset of an access in the frame; nullopt when its base is unknown.
  std::optional<int64_t> frame_offset(const Access& access, const State& state) const {
    if (access.base == sp_ && state.sp_known) return state.sp + access.displacement;
    if (access.base == state.fp && state.fp != kNoRegister)
      return state.fp_offset + access.displacement;
    return std::nullopt;
  }

  void define(Register r, bool frame_register, int64_t address, State& state) {
    if (collecting_) changed_.add(r);
    state.intact.remove(r);
    state.maybe_intact.remove(r);
    if (r == sp_) {
      move_stack_pointer(frame_register, address, state);
    } else if (frame_register && state.sp_known && address == state.sp && preserved_.contains(r) &&
               (state.fp == kNoRegister || state.fp == r)) {
      state.fp = r;
      state.fp_offset = address;
      note({block_, index_, FrameShape::Role::set_frame_pointer, r, as_offset(address)});
    } else if (r == state.fp) {
      state.fp = kNoRegister;
      state.fp_offset = 0;
    }
  }

  void move_stack_pointer(bool known, int64_t address, State& state) {
    if (collecting_) {
      if (!known || (address != 0 && lowest_ != 0 && address != lowest_)) irregular_ = true;
      if (known) {
        const bool up = !state.sp_known || address > state.sp;
        note({block_, index_, up ? FrameShape::Role::release : FrameShape::Role::allocate, sp_,
              as_offset(address)});
        lowest_ = std::min(lowest_, address);
      }
    }
    state.sp_known = known;
    state.sp = known ? address : 0;
  }

  /// Returns whether the access saves an intact register to its slot. Other stores spoil slots.
  bool save(const Access& access, State& state) {
    if (access.kind != Access::Kind::store) return false;
    const auto offset = frame_offset(access, state);
    if (!offset || offsets_.empty()) return false;
    const Register r = access.value;
    const bool slot = std::binary_search(offsets_.begin(), offsets_.end(), *offset);
    if (slot && r != kNoRegister && r != sp_ && state.intact.contains(r)) {
      if (find_slot(r) == slots_.end()) slots_.push_back({r, as_offset(*offset)});
      if (find_slot(r)->offset == *offset) {
        spoil(*offset, state);
        state.saved.add(r);
        note({block_, index_, FrameShape::Role::save, r, as_offset(*offset)});
        return true;
      }
    }
    spoil(*offset, state);
    return false;
  }

  void spoil(int64_t offset, State& state) const {
    for (const FrameShape::Slot& slot : slots_)
      if (overlap(offset, slot)) state.saved.remove(slot.reg);
  }

  /// Returns whether the access loads a register from its slot. Any other load from the slot is a
  /// use of the saved value.
  bool restore(const Access& access, const State& state) {
    if (access.kind != Access::Kind::load || slots_.empty()) return false;
    const auto offset = frame_offset(access, state);
    if (!offset) return false;
    if (collecting_)
      for (const FrameShape::Slot& slot : slots_)
        if (overlap(*offset, slot) && state.saved.contains(slot.reg) && slot.reg != access.value)
          used_.add(slot.reg);
    if (!state.saved.contains(access.value)) return false;
    if (find_slot(access.value)->offset != *offset) return false;
    note({block_, index_, FrameShape::Role::restore, access.value, as_offset(*offset)});
    return true;
  }

  /// Notes when an address in the frame escapes, that is, has other uses than loads, stores, and
  /// moves of stack and frame pointer. `state` is the state after the instruction.
  void note_escape(const Instruction& i, const Operands& operands,
                   const std::optional<Access>& access, const State& state) {
    if (machine_.facts(i).nop || machine_.facts(i).flow != ControlFlow::none) return;
    if (!access) {
      escapes_ = true;
    } else if (access->kind == Access::Kind::store) {
      escapes_ |=
          access->value != kNoRegister && (access->value == sp_ || access->value == state.fp);
    } else if (access->kind == Access::Kind::address) {
      const Register result = operands.registers[operands.uses];
      escapes_ |= result != sp_ && result != state.fp;
    }
  }

  const Call* call_at(BlockId block) const {
    const auto call = std::lower_bound(calls_.begin(), calls_.end(), block,
                                       [](const Call& c, BlockId id) { return c.block < id; });
    return call != calls_.end() && call->block == block ? &*call : nullptr;
  }

  /// Whether a block calls an unknown procedure that does not follow the calling standard.
  bool is_custom_call(BlockId block) const {
    const Call* call = call_at(block);
    return call != nullptr && !call->known() && !call->standard;
  }

  bool leaves(BlockId block) const {
    const BasicBlock& b = procedure_.blocks[block];
    if (!b.instructions.empty() &&
        machine_.facts(b.instructions.back()).flow == ControlFlow::return_jump)
      return true;
    const Call* call = call_at(block);
    return call != nullptr && call->kind == Call::Kind::tail;
  }

  void check_exit(const State& end) {
    if (!end.sp_known || end.sp != 0) irregular_ = true;
    // An exit with an unknown stack pointer belongs to an unwinder, which changes frames.
    exits_restored_ &= end.sp_known ? end.intact : Set();
  }

  FrameShape result() {
    FrameShape shape;
    shape.regular = !irregular_;
    shape.size = as_offset(-lowest_);
    shape.address_escapes = escapes_;
    shape.steps = std::move(steps_);
    for (const FrameShape::Step& step : shape.steps)
      if (step.role == FrameShape::Role::set_frame_pointer) shape.frame_pointer = step.reg;
    std::sort(slots_.begin(), slots_.end(),
              [](const auto& a, const auto& b) { return a.reg < b.reg; });
    Set restored;
    for (const FrameShape::Slot& slot : slots_)
      if (exits_restored_.contains(slot.reg) && changed_.contains(slot.reg) &&
          !used_.contains(slot.reg))
        restored.add(slot.reg);
    shape.restored = RegisterSet(restored);
    shape.slots = std::move(slots_);
    shape.overwritten = std::move(overwritten_);
    return shape;
  }

  std::vector<FrameShape::Slot>::iterator find_slot(Register r) {
    return std::find_if(slots_.begin(), slots_.end(), [&](const auto& s) { return s.reg == r; });
  }
  static bool overlap(int64_t offset, const FrameShape::Slot& slot) {
    return offset > slot.offset - kWidest && offset < slot.offset + kWidest;
  }
  void note(const FrameShape::Step& step) {
    if (collecting_) steps_.push_back(step);
  }
  static int32_t as_offset(int64_t offset) { return static_cast<int32_t>(offset); }

  static constexpr int64_t kWidest = 8;  // bytes of an ordinary store

  const Machine& machine_;
  const Procedure& procedure_;
  std::span<const Call> calls_;
  std::span<const BlockId> entries_;
  const Register sp_;
  const Set all_, scratch_, preserved_;
  const std::vector<int32_t> offsets_;
  std::vector<size_t> first_effect_;  // by block: index of its first instruction in `effects_`
  std::vector<Effect> effects_;       // decoded once, since blocks are interpreted several times
  BlockId block_ = kNone;
  uint32_t index_ = 0;
  std::vector<FrameShape::Slot> slots_;
  // Found in the last round, when the states are final.
  bool collecting_ = false;
  std::vector<FrameShape::Step> steps_;
  std::vector<RegisterSet> overwritten_;
  Set used_, changed_, exits_restored_;
  bool irregular_ = false, escapes_ = false;
  int64_t lowest_ = 0;
};

}  // namespace

bool may_have_slots(const Program& program, const Procedure& procedure) {
  bool found = false;
  for_each_state(program, procedure, [&](const CfiState& state) {
    found = std::any_of(state.rules.begin(), state.rules.end(),
                        [](const auto& rule) { return rule.second.kind == CfiRule::Kind::offset; });
    return found;
  });
  return found;
}

FrameShape find_frame_shape(const Program& program, ProcedureId id, std::span<const Call> calls,
                            std::span<const BlockId> entries) {
  return with_smallest_set(program.machine->register_count, [&]<size_t W>() {
    return FrameAnalysis<W>(program, id, calls, entries).run();
  });
}

RegisterSet saved_in(const FrameShape& shape, const Program& program, const Procedure& procedure,
                     uint32_t cfi_state) {
  RegisterSet saved;
  const auto cfa = cfa_at_entry(program, procedure);
  if (!cfa || cfi_state >= program.unwind.states.size()) return saved;
  for (const auto& [number, rule] : program.unwind.states[cfi_state].rules) {
    if (rule.kind != CfiRule::Kind::offset) continue;
    for (const FrameShape::Slot& slot : shape.slots)
      if (slot.offset == rule.value + *cfa) saved.add(slot.reg);
  }
  return saved;
}

}  // namespace respike

// Translates bundles into micro-operations.
//
// A block runs from its first slot to the first branch that is always taken. Branches that may fall
// through stay inside, so a block is a trace with exits. No-ops and stops produce no operations:
// executing instructions one after the other is right for all code that keeps the architecture's
// rules about instruction groups. The rules forbid an instruction to read or write a register that
// an earlier instruction of its group has written, except where the result equals that of
// sequential execution (SDM 1, section 4.4.2 and chapter 3.4: dependency violations are undefined).
//
// Each instruction is checked once, here: its targets must exist in the frame, and it must be
// legal. Its registers become physical numbers. The translator then takes a specialised handler, or
// the general handler if there is none. A qualifying predicate becomes a guard operation before the
// instruction; consecutive instructions with the same predicate share a guard.
//
// Example: `(p6) add r8 = r9, r10 ;; (p6) st8 [r11] = r8` becomes three operations: a guard of p6
// that skips two operations, an add, a store.
//
// With counts, every stretch that control leaves only at its end begins with a counting operation.

#include <csignal>
#include <cstring>

#include "emulators/ia64/handlers.h"
#include "emulators/ia64/process.h"
#include "optimizer/machine/ia64/meaning.h"

namespace respike::emulator::ia64 {

namespace {

using respike::Instruction;
using respike::ia64::Encoding;
using respike::ia64::is_loop_branch;
using respike::ia64::kEncodings;
using respike::ia64::Op;
using respike::ia64::Slot;

constexpr unsigned kMaximumBundles = 64;
constexpr uint8_t kMaximumGuarded = 200;

/// The member of a Slot that holds a field of its row.
uint8_t& field(Slot& slot, unsigned number) {
  uint8_t* fields[] = {&slot.a, &slot.b, &slot.c, &slot.d};
  return *fields[number];
}

bool is_break(Op op) {
  return op == Op::break_m || op == Op::break_i || op == Op::break_b || op == Op::break_f ||
         op == Op::break_x;
}

/// Comparisons of integers, bits and floating-point numbers, whose targets are two predicates.
bool is_compare(Op op) {
  switch (op) {
    case Op::fcmp_eq:
    case Op::fcmp_lt:
    case Op::fcmp_le:
    case Op::fcmp_unord:
    case Op::fclass_m:
    case Op::fcmp_eq_unc:
    case Op::fcmp_lt_unc:
    case Op::fcmp_le_unc:
    case Op::fcmp_unord_unc:
    case Op::fclass_m_unc:
      return true;
    default:
      return family_of(op) == Family::compare;
  }
}

/// Whether an instruction tests its predicate itself.
bool qualifies_itself(const Slot& s) {
  switch (s.op) {
    case Op::frcpa:
    case Op::fprcpa:
    case Op::frsqrta:
    case Op::fprsqrta:
      return true;
    default:
      return family_of(s.op) == Family::branch || is_compare(s.op);
  }
}

/// Whether an illegal instruction faults even under a false predicate.
bool faults_always(Op op) {
  return respike::ia64::is_unconditional_compare(op) || is_loop_branch(op);
}

/// Whether an instruction may change predicates, so that a guard must not reach over it.
bool writes_predicates(const Slot& s) {
  return qualifies_itself(s) || s.op == Op::mov_to_pr || s.op == Op::mov_to_pr_rot;
}

class Translator {
 public:
  Translator(Thread& thread, uint64_t ip, uint64_t key)
      : thread_(thread),
        memory_(thread.process.memory),
        counting_(!thread.process.options.counts.empty()),
        general_only_(thread.process.options.general_only),
        block_(std::make_unique<Block>()),
        nat_(key & kNatKey),
        marker_{key & ~kNatKey} {
    block_->ip = ip_ = ip;
    block_->key = key;
  }

  std::unique_ptr<Block> run() {
    begin_segment();
    for (unsigned bundles = 0; bundles < kMaximumBundles && !done_; ++bundles) {
      if (!translate_bundle()) return std::move(block_);
    }
    if (!done_) jump(ip_, op_continue);
    return std::move(block_);
  }

 private:
  bool translate_bundle();
  void translate_slot(Slot slot, uint64_t next);
  bool legal(const Slot& slot, FrameMarker marker) const;
  Slot physical(Slot slot) const;
  void branch(const Slot& slot);
  void fast_branch(const Slot& slot);
  void allocate(const Slot& slot);

  void emit(MicroOp op) {
    block_->ops.push_back(op);
    const auto slots = static_cast<uint32_t>(slots_between(block_->ip, here_));
    block_->origins.push_back(slots | (is_long_ ? kLongInstruction : 0));
  }
  void emit(Handler handler, const void* data) {
    MicroOp op;
    op.run = handler;
    op.data = data;
    emit(op);
  }
  void emit_illegal(int code) {
    MicroOp op;
    op.run = op_illegal;
    op.immediate = code;
    emit(op);
  }
  const Link* link(uint64_t ip, Handler resolved) {
    block_->links.push_back({ip, resolved});
    return &block_->links.back();
  }
  void jump(uint64_t ip, Handler resolved) { emit(op_jump_unresolved, link(ip, resolved)); }
  const GeneralInstruction* general(const Slot& slot) {
    block_->instructions.push_back({slot, here_, next_});
    return &block_->instructions.back();
  }

  void begin_segment() {
    guard_ = kNoGuard;
    if (!counting_ && thread_.feed == nullptr) return;
    segment_ = thread_.cache.new_count(ip_);
    here_ = ip_;
    block_->segments.emplace_back(block_->ops.size(), segment_);
    if (counting_) emit(op_count, segment_);
    if (thread_.feed == nullptr) return;
    block_->stretches.push_back({ip_, ip_, nullptr});
    emit(op_model, &block_->stretches.back());
  }
  /// Guards the operations that are emitted next; `finish_guard` sets their number.
  void begin_guard(uint8_t predicate);
  void finish_guard();

  static constexpr size_t kNoGuard = ~size_t{0};

  Thread& thread_;
  GuestMemory& memory_;
  const bool counting_, general_only_;
  std::unique_ptr<Block> block_;
  const bool nat_;
  FrameMarker marker_;
  uint64_t ip_ = 0;    ///< of the slot that is translated next
  uint64_t here_ = 0;  ///< of the instruction that is being translated
  uint64_t next_ = 0;  ///< of the next instruction
  bool done_ = false;
  bool is_long_ = false;  ///< the instruction takes two slots
  Count* segment_ = nullptr;
  size_t guard_ = kNoGuard;  ///< index of a guard that the next instruction may join
  uint8_t guard_predicate_ = 0;
};

/// Translates a bundle. Returns false if there is no code at ip_; then the block ends with an
/// operation that faults.
bool Translator::translate_bundle() {
  const uint64_t bundle = ip_ & ~uint64_t{15};
  uint8_t bytes[16];
  {
    std::lock_guard guard(memory_.lock());
    if (!memory_.allows(bundle, 16, PROT_EXEC)) {
      here_ = ip_;
      next_ = ip_;
      emit(op_no_code, general({}));
      return false;
    }
    std::memcpy(bytes, memory_.host(bundle), 16);
  }
  Instruction instructions[3];
  respike::ia64::decode_bundle(bytes, 0, instructions);
  for (unsigned slot = ip_ & 3; slot < 3 && !done_; ++slot) {
    const uint64_t next = slot == 2 ? bundle + 16 : bundle + slot + 1;
    ip_ = next;
    if (segment_ != nullptr) ++segment_->slots;
    if (!block_->stretches.empty()) block_->stretches.back().end = next;
    const Op op = respike::ia64::op_of(instructions[slot]);
    if (op == Op::long_half) continue;
    is_long_ = kEncodings[static_cast<size_t>(op)].type() == 'X';
    here_ = bundle + (is_long_ ? 1 : slot);
    translate_slot(
        respike::ia64::expand(instructions[slot], instructions[slot == 0 ? 0 : slot - 1]), next);
  }
  return true;
}

/// Whether an instruction is legal: targets are in the frame and not constant, the two targets of a
/// pair differ, and loop branches are the last of their bundle.
bool Translator::legal(const Slot& slot, FrameMarker marker) const {
  const Encoding& encoding = kEncodings[static_cast<size_t>(slot.op)];
  Slot copy = slot;
  for (unsigned i = 0; i < encoding.operand_count; ++i) {
    const auto& role = encoding.operands[i];
    if (!role.writes || role.field > 3) continue;
    const unsigned number = field(copy, role.field);
    if (role.kind == 'R' && (number == 0 || number >= 32 + marker.sof())) return false;
    if (role.kind == 'F' && number < 2) return false;
  }
  switch (slot.op) {
    case Op::ld_reg:
    case Op::ld_imm:
    case Op::ld8_fill_reg:
    case Op::ld8_fill_imm:
      return slot.a != slot.c;
    case Op::ldfp:
    case Op::ldfp_imm:
      return (slot.a & 1) != (slot.b & 1);
    default:
      if (is_loop_branch(slot.op)) return (here_ & 3) == 2;
      return !is_compare(slot.op) || slot.a != slot.d;
  }
}

Slot Translator::physical(Slot slot) const {
  if (!marker_.rotated()) return slot;
  const Encoding& encoding = kEncodings[static_cast<size_t>(slot.op)];
  for (unsigned i = 0; i < encoding.operand_count; ++i) {
    const auto& role = encoding.operands[i];
    if (role.field > 3) continue;
    uint8_t& number = field(slot, role.field);
    if (role.kind == 'R') number = static_cast<uint8_t>(marker_.general(number));
    if (role.kind == 'F') number = static_cast<uint8_t>(marker_.floating(number));
    if (role.kind == 'P') number = static_cast<uint8_t>(marker_.predicate(number));
  }
  slot.predicate = static_cast<uint8_t>(marker_.predicate(slot.predicate));
  return slot;
}

void Translator::begin_guard(uint8_t predicate) {
  const bool joins = guard_ != kNoGuard && guard_predicate_ == predicate &&
                     block_->ops.size() - guard_ < kMaximumGuarded;
  if (predicate == 0 || !joins) guard_ = kNoGuard;
  if (predicate == 0 || joins) return;
  guard_ = block_->ops.size();
  guard_predicate_ = predicate;
  MicroOp op;
  op.run = op_guard;
  op.a = predicate;
  emit(op);
}

void Translator::finish_guard() {
  if (guard_ != kNoGuard)
    block_->ops[guard_].size = static_cast<uint8_t>(block_->ops.size() - guard_);
}

void Translator::translate_slot(Slot slot, uint64_t next) {
  next_ = next;
  const Family family = family_of(slot.op);
  if (family == Family::nop) return;
  if (slot.op == Op::alloc) return allocate(slot);
  const bool is_legal = legal(slot, marker_);
  slot = physical(slot);
  if (is_break(slot.op) || family == Family::none || !is_legal) {
    const bool always = slot.predicate == 0 || (!is_legal && faults_always(slot.op));
    begin_guard(always ? 0 : slot.predicate);
    if (is_break(slot.op))
      emit(op_break, general(slot));
    else
      emit_illegal(family == Family::none && slot.op != Op::invalid ? ILL_PRVOPC : ILL_ILLOPC);
    finish_guard();
    if (always)
      done_ = true;
    else
      begin_segment();
    return;
  }
  if (family == Family::branch) return branch(slot);

  MicroOp op;
  if (!nat_ && !general_only_) {
    if (family == Family::integer || family == Family::compare || family == Family::system)
      op = specialise_integer(slot);
    if (family == Family::memory) op = specialise_memory(slot);
    if (family == Family::floating) op = specialise_floating(slot);
  }
  const bool special = op.run != nullptr;
  // Specialised comparisons are guarded; general comparisons test their predicates themselves.
  begin_guard(!special && qualifies_itself(slot) ? 0 : slot.predicate);
  if (special)
    emit(op);
  else
    emit(general_handler(slot, nat_), general(slot));
  finish_guard();
  if (writes_predicates(slot)) guard_ = kNoGuard;
}

void Translator::allocate(const Slot& slot) {
  const FrameMarker fresh = FrameMarker::of(slot.b, slot.c, slot.d * 8u);
  const FrameMarker after{fresh.bits | (marker_.bits & ~uint64_t{0x3ffff})};
  const bool keeps_rotation = !marker_.rotated() || fresh.sor() == marker_.sor();
  if (!after.valid() || !keeps_rotation || slot.a == 0 || slot.a >= 32u + fresh.sof()) {
    emit_illegal(ILL_ILLOPC);
    done_ = true;
    return;
  }
  marker_ = after;
  const Slot target = physical(slot);
  if (nat_ || general_only_ || target.a < 32) {
    emit(general_handler(target, nat_), general(target));
    return;
  }
  MicroOp op;
  op.run = op_alloc;
  op.a = static_cast<uint8_t>(target.a - 32);
  op.b = slot.b;
  op.c = slot.c;
  op.d = slot.d;
  emit(op);
}

void Translator::branch(const Slot& slot) {
  guard_ = kNoGuard;
  const bool always = slot.predicate == 0 && ends_block(slot.op);
  if (nat_ || general_only_) {
    // General branches always leave; general checks leave only if they branch.
    emit(general_handler(slot, nat_), general(slot));
    done_ = ends_block(slot.op);
    if (!done_) begin_segment();
    return;
  }
  fast_branch(slot);
  if (always) done_ = true;
  if (!done_) begin_segment();
}

void Translator::fast_branch(const Slot& slot) {
  const uint64_t bundle = here_ & ~uint64_t{15};
  const uint64_t target = bundle + static_cast<uint64_t>(slot.immediate);
  MicroOp op;
  switch (slot.op) {
    case Op::br_cond:
    case Op::brl_cond:
      if (slot.predicate == 0) return jump(target, op_jump);
      op.run = op_branch_unresolved;
      op.a = slot.predicate;
      op.data = link(target, op_branch);
      return emit(op);
    case Op::br_cloop:
      op.run = op_cloop_unresolved;
      op.data = link(target, op_cloop);
      emit(op);
      jump(next_, op_continue);
      done_ = true;
      return;
    case Op::br_ctop:
      op.run = op_ctop_unresolved;
      op.a = static_cast<uint8_t>(marker_.predicate(63));
      op.data = link(target, op_ctop);
      emit(op);
      emit(op_jump_unresolved, link(next_, op_continue));
      done_ = true;
      return;
    case Op::br_call:
    case Op::brl_call:
    case Op::br_call_ind:
    case Op::br_ret:
    case Op::br_cond_ind:
      break;
    default:
      emit(general_handler(slot, false), general(slot));
      done_ = ends_block(slot.op);
      return;
  }
  begin_guard(slot.predicate);
  op.a = slot.a;
  op.d = slot.b;
  op.b = static_cast<uint8_t>(marker_.sol());
  op.c = static_cast<uint8_t>(marker_.sof() - marker_.sol());
  if (slot.op == Op::br_ret)
    op.run = op_return;
  else if (slot.op == Op::br_cond_ind)
    op.run = op_branch_indirect;
  else if (slot.op == Op::br_call_ind)
    op.run = op_call_indirect;
  else
    op.run = op_call_unresolved;
  if (op.run == op_call_unresolved) op.data = link(target, op_call);
  emit(op);
  if (slot.op != Op::br_ret && slot.op != Op::br_cond_ind) {
    MicroOp return_address;
    return_address.immediate = static_cast<int64_t>(bundle + 16);
    emit(return_address);
  }
  finish_guard();
}

}  // namespace

std::unique_ptr<Block> translate(Thread& thread, uint64_t ip, uint64_t key) {
  return Translator(thread, ip, key).run();
}

}  // namespace respike::emulator::ia64

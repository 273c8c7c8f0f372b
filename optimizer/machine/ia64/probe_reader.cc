// Reading probes of IA-64 from the code of an output.
//
// The reader knows the shapes of probes (probes.cc explains them), and shares no code with the
// writer of probes. Where the writer or the emitter is wrong, the reader finds no probe, and then
// the comparison of the output with its input finds an instruction that the input lacks. A stop has
// to be between two lines if the second reads or rewrites a register that the first wrote.
//
//   probe  = [lower spill...] core [fill... raise]
//   core   = reach fetchadd8.rel b=[b],1 | reach record, in front of the jump
//   reach  = addl b=offset,gp | movl b=offset; add b=b,gp | mov s=ip; movl b=distance; add b=s,b
//   record = mov t=br; ld8 v=[b]; st8 [b]=t; xor v=t,v; adds b=8,b; popcnt v=v; ld8 t=[b];
//            adds v=127,v; extr.u v=v,7,57; add t=v,t; st8 [b]=t
//
// Example: addl r31=64,r1;; fetchadd8.rel r31=[r31],1 adds one to the word at gp + 64.

#include "optimizer/machine/ia64/probe_reader.h"

#include "optimizer/machine/ia64/codec.h"
#include "optimizer/machine/ia64/meaning.h"

namespace respike::ia64 {
namespace {

constexpr uint8_t kGp = 1, kSp = 12, kSaver = 6;  // kSaver: a floating-point register
constexpr uint8_t kEightBytes = 3 << 2;           // registers[3] of a load or store
constexpr int64_t kSpilled = 16;                  // bytes

class Reader {
 public:
  Reader(ProbeText& text, const ProbeSurroundings& surroundings)
      : text_(text), surroundings_(surroundings) {}

  std::optional<FoundProbe> read() {
    if (!save()) return std::nullopt;
    found_.lowered_from = found_.lowered == 0 ? 0 : 1;
    if (!reach() || !(add() || record()) || !restore()) return std::nullopt;
    if (found_.kind == ProbeKind::record_target && !precedes_jump()) return std::nullopt;
    found_.size = at_;
    return found_;
  }

 private:
  /// Whether the line is an instruction that always runs, with these registers a, b, c and this
  /// number.
  bool is(Op op, unsigned a, unsigned b, unsigned c, int64_t number = 0, unsigned d = 0) {
    const Instruction* line = text_[at_];
    return line != nullptr && op_of(*line) == op && line->predicate == 0 &&
           line->registers[0] == a && line->registers[1] == b && line->registers[2] == c &&
           line->registers[3] == d && !line->has_reference() && line->immediate == number;
  }
  bool is_op(Op op) {
    return text_[at_] != nullptr && op_of(*text_[at_]) == op && text_[at_]->predicate == 0;
  }
  bool take(bool wanted) {
    if (wanted) ++at_;
    return wanted;
  }
  /// Whether there is a stop between the previous line and this one.
  bool stop() { return text_[at_] != nullptr && (text_.flags_before(at_) & kStop) != 0; }

  bool save() {
    if (!is_op(Op::adds) || text_[at_]->registers[0] != kSp || text_[at_]->registers[2] != kSp)
      return true;
    const int64_t bytes = -int64_t{text_[at_]->immediate};
    if (bytes < 2 * kSpilled || bytes % kSpilled != 0 || bytes > 8 * kSpilled) return true;
    found_.lowered = static_cast<unsigned>(bytes);
    ++at_;
    if (!stop() || !take(is(Op::stf_spill, 0, kSaver, kSp))) return false;
    const auto count = static_cast<size_t>(bytes / kSpilled - 1);
    while (saved_.size() < count) {
      if (!is_op(Op::setf_sig)) return false;
      const uint8_t r = text_[at_]->registers[1];
      if (!take(is(Op::setf_sig, kSaver, r, 0))) return false;
      if (saved_.empty() && !take(is(Op::adds, r, 0, kSp, kSpilled))) return false;
      saved_.push_back(r);
      if (!take(stop() && is(Op::stf_spill_imm, 0, kSaver, saved_.front(), kSpilled))) return false;
    }
    for (const uint8_t r : saved_) found_.kept.push_back(r);
    found_.kept.insert(found_.kept.end(), {kSp, static_cast<Register>(kFloating + kSaver)});
    return true;
  }
  bool restore() {
    found_.lowered_to = at_;
    if (found_.lowered == 0) return true;
    const uint8_t address = saved_.front();
    const auto count = static_cast<int64_t>(saved_.size());
    const bool is_free = found_.kind == ProbeKind::record_target || address != base_ || stop();
    if (!is_free || !take(is(Op::adds, address, 0, kSp, kSpilled * count)) || !stop()) return false;
    for (size_t i = saved_.size(); i-- > 0;) {
      if (!take(is(Op::ldf_fill_imm, kSaver, 0, address, -kSpilled))) return false;
      if (!take(stop() && is(Op::getf_sig, saved_[i], kSaver, 0))) return false;
    }
    if (!take(is(Op::ldf_fill, kSaver, 0, kSp))) return false;
    if (!take(is(Op::adds, kSp, 0, kSp, found_.lowered))) return false;
    found_.lowered_to = at_;
    return true;
  }

  /// The number of a movl, whose upper half is the previous line.
  std::optional<int64_t> long_number(uint8_t& to, uint64_t place) {
    if (!is_op(Op::long_half)) return std::nullopt;
    const Instruction upper = *text_[at_];
    ++at_;
    if (!is_op(Op::movl)) return std::nullopt;
    const Instruction lower = *text_[at_];
    to = lower.registers[0];
    const auto target = text_.target(at_);
    ++at_;
    if (lower.has_reference()) {
      if (!target || target->where != CodeLocation::Where::address) return std::nullopt;
      return static_cast<int64_t>(target->address - place);
    }
    return int64_t{upper.immediate} * 0x100000000 + static_cast<uint32_t>(lower.immediate);
  }

  bool reach() {
    const uint64_t gp = surroundings_.gp.value_or(0);
    found_.by_gp = !is_op(Op::mov_ip);
    if (found_.by_gp && !surroundings_.gp) return false;
    if (is_op(Op::addl)) {
      base_ = text_[at_]->registers[0];
      base_value_ = gp + static_cast<uint64_t>(int64_t{text_[at_]->immediate});
      return take(base_ != kGp && is(Op::addl, base_, 0, kGp, text_[at_]->immediate)) && stop();
    }
    if (found_.by_gp) {
      const auto number = long_number(base_, gp);
      base_value_ = gp + static_cast<uint64_t>(number.value_or(0));
      return number && base_ != kGp && take(stop() && is(Op::add, base_, base_, kGp)) && stop();
    }
    const uint8_t scratch = text_[at_]->registers[0];
    const uint64_t place = text_.address(at_) & ~uint64_t{15};
    if (!take(is(Op::mov_ip, scratch, 0, 0))) return false;
    const auto number = long_number(base_, place);
    base_value_ = place + static_cast<uint64_t>(number.value_or(0));
    return number && base_ != scratch && take(stop() && is(Op::add, base_, scratch, base_)) &&
           stop();
  }

  bool add() {
    found_.kind = ProbeKind::count_atomic;
    found_.counter = base_value_;
    return take(is(Op::fetchadd8_rel, base_, 0, base_, 1));
  }

  bool record() {
    if (!is_op(Op::mov_from_br)) return false;
    found_.kind = ProbeKind::record_target;
    found_.counter = base_value_;
    const uint8_t target = text_[at_]->registers[0];
    branch_ = text_[at_]->registers[1];
    if (!take(is(Op::mov_from_br, target, branch_, 0)) || !is_op(Op::ld)) return false;
    const uint8_t value = text_[at_]->registers[0];
    if (value == target || value == base_ || target == base_) return false;
    return take(is(Op::ld, value, 0, base_, 0, kEightBytes)) &&
           take(stop() && is(Op::st, 0, target, base_, 0, kEightBytes)) &&
           take(is(Op::xor_, value, target, value)) && take(is(Op::adds, base_, 0, base_, 8)) &&
           take(stop() && is(Op::popcnt, value, 0, value)) &&
           take(is(Op::ld, target, 0, base_, 0, kEightBytes)) &&
           take(stop() && is(Op::adds, value, 0, value, 127)) &&
           take(stop() && is(Op::extr_u, value, 0, value, 7, 64 - 7)) &&
           take(stop() && is(Op::add, target, value, target)) &&
           take(stop() && is(Op::st, 0, target, base_, 0, kEightBytes));
  }
  bool precedes_jump() {
    if (text_[at_] == nullptr || text_[at_]->registers[1] != branch_) return false;
    const ControlFlow flow = facts(*text_[at_]).flow;
    return flow == ControlFlow::indirect_jump || flow == ControlFlow::indirect_call;
  }

  ProbeText& text_;
  const ProbeSurroundings& surroundings_;
  size_t at_ = 0;
  FoundProbe found_;
  std::vector<uint8_t> saved_;
  uint8_t base_ = 0, branch_ = 0;
  uint64_t base_value_ = 0;
};

}  // namespace

bool may_start_probe(const Instruction& instruction) {
  switch (op_of(instruction)) {
    case Op::addl:
      return instruction.registers[2] == kGp;
    case Op::adds:
      return instruction.registers[0] == kSp && instruction.immediate < 0;
    case Op::long_half:
    case Op::mov_ip:
      return true;
    default:
      return false;
  }
}

std::optional<FoundProbe> read_probe(ProbeText& text, const ProbeSurroundings& surroundings) {
  return Reader(text, surroundings).read();
}

}  // namespace respike::ia64

// Reading probes of Alpha from the code of an output.
//
// The reader knows the shapes of probes (probes.cc explains them), and shares no code with the
// writer of probes. Where the writer or the emitter is wrong, the reader finds no probe, and then
// the comparison of the output with its input finds an instruction that the input lacks.
//
//   probe  = [lower store...] core [load... raise]
//   core = reach add | small | reach record, before the jump reach = nothing (a word near gp) |
//   ldah b,high(gp)
//          | br b,.+4; ldah b,high(b); lda b,low(b), or with ldl or ldq for lda: a base
//   add    = ldq v,d(b); lda v,1(v); stq v,d(b), or with ldq_l, stq_c and beq v,the ldq_l
//   small  = lda v,number(zero); bsr link,routine
//   record = ldq v,d(b); ldq c,d+8(b); stq t,d(b); xor v,t,v; cmpult zero,v,v; addq c,v,c;
//            stq c,d+8(b)
//   routine = reach; s8addq v,b,a; add at a; ret (link)
//
// Example: ldah t10,2(gp); ldq t9,-0x7ff8(t10); lda t9,1(t9); stq t9,-0x7ff8(t10) adds one to the
// word at gp + 0x18008.

#include "optimizer/machine/alpha/probe_reader.h"

#include "optimizer/base/bytes.h"
#include "optimizer/machine/alpha/codec.h"
#include "optimizer/machine/alpha/meaning.h"

namespace respike::alpha {
namespace {

constexpr uint16_t kLda = opcode("lda"), kLdah = opcode("ldah"), kLdq = opcode("ldq"),
                   kLdl = opcode("ldl"), kStq = opcode("stq"), kLdqL = opcode("ldq_l"),
                   kStqC = opcode("stq_c"), kBeq = opcode("beq"), kBr = opcode("br"),
                   kBsr = opcode("bsr"), kXor = opcode("xor"), kCmpult = opcode("cmpult"),
                   kAddq = opcode("addq"), kS8addq = opcode("s8addq"), kRet = opcode("ret");

class Reader {
 public:
  Reader(ProbeText& text, const ProbeSurroundings& surroundings)
      : text_(text), surroundings_(surroundings) {}

  std::optional<FoundProbe> read() {
    save();
    // The lock flag is read only between a load-locked and its store-conditional, and there the
    // comparison requires contiguous code.
    found_.kept.push_back(kLockFlag);
    found_.lowered_from = found_.lowered == 0 ? 0 : 1;
    if (!small() && !(reach() && (add(base_, base_value_) || record()))) return std::nullopt;
    if (!restore()) return std::nullopt;
    if (found_.kind == ProbeKind::record_target && !precedes_jump()) return std::nullopt;
    found_.size = at_;
    return found_;
  }

  std::optional<FoundRoutine> read_routine() {
    if (!reach()) return std::nullopt;
    const Instruction* scaled = text_[at_];
    if (!is(kS8addq) || scaled->registers[1] != base_) return std::nullopt;
    const uint8_t number = scaled->registers[0], address = scaled->registers[2];
    ++at_;
    if (number == kZero || address == kZero || number == base_ || number == address ||
        !add(address, base_value_, number))
      return std::nullopt;
    if (!is(kRet) || text_[at_]->registers[0] != kZero) return std::nullopt;
    const uint8_t link = text_[at_]->registers[1];
    if (link == kZero || link == number || link == address || link == base_) return std::nullopt;
    if (text_[++at_] != nullptr) return std::nullopt;
    return FoundRoutine{.counter = found_.counter,
                        .size = at_,
                        .by_gp = found_.by_gp,
                        .kind = found_.kind,
                        .number_register = number,
                        .link = link};
  }

 private:
  bool is(uint16_t wanted) { return text_[at_] != nullptr && text_[at_]->opcode == wanted; }
  uint8_t a() { return text_[at_]->registers[0]; }
  uint8_t b() { return text_[at_]->registers[1]; }
  /// Whether an instruction is a load, store or lda with this register, base and displacement.
  bool is_memory(uint16_t wanted, uint8_t ra, uint8_t rb, int64_t displacement) {
    return is(wanted) && !text_[at_]->has_reference() && a() == ra && b() == rb &&
           text_[at_]->immediate == displacement;
  }
  bool is_operate(uint16_t wanted, uint8_t ra, uint8_t rb, uint8_t rc) {
    return is(wanted) && a() == ra && b() == rb && text_[at_]->registers[2] == rc;
  }
  bool take(bool wanted) {
    if (wanted) ++at_;
    return wanted;
  }

  void save() {
    if (!is(kLda) || text_[at_]->has_reference() || a() != kSp || b() != kSp) return;
    const int32_t bytes = -text_[at_]->immediate;
    if (bytes <= 0 || bytes % 16 != 0 || bytes > 256) return;
    found_.lowered = static_cast<unsigned>(bytes);
    ++at_;
    while (saved_.size() < found_.lowered / 8 && is(kStq) && a() < kZero && a() != kSp &&
           is_memory(kStq, a(), kSp, static_cast<int64_t>(8 * saved_.size()))) {
      saved_.push_back(a());
      ++at_;
    }
    found_.kept.assign(saved_.begin(), saved_.end());
    found_.kept.push_back(kSp);
  }
  bool restore() {
    found_.lowered_to = at_;
    if (found_.lowered == 0) return true;
    for (size_t i = 0; i < saved_.size(); ++i)
      if (!take(is_memory(kLdq, saved_[i], kSp, static_cast<int64_t>(8 * i)))) return false;
    if (!take(is_memory(kLda, kSp, kSp, found_.lowered))) return false;
    found_.lowered_to = at_;
    return true;
  }

  /// Adds a half to `value`: its displacement or, with a reference, its half of the distance from
  /// `place` to the target.
  bool half(uint16_t wanted, uint8_t rb, uint64_t place, uint64_t& value) {
    if (!is(wanted) || b() != rb) return false;
    if (text_[at_]->has_reference()) {
      const auto target = text_.target(at_);
      if (!target || target->where != CodeLocation::Where::address) return false;
      const auto distance = static_cast<int64_t>(target->address - place);
      const int64_t upper = (distance + 0x8000) >> 16;
      value += static_cast<uint64_t>(wanted == kLdah ? upper << 16 : distance - upper * 0x10000);
      return true;
    }
    const int64_t number = text_[at_]->immediate;
    value += static_cast<uint64_t>(wanted == kLdah ? number << 16 : number);
    return true;
  }

  /// Leaves the base register and its value in `base_` and `base_value_`.
  bool reach() {
    const bool has_gp = surroundings_.gp.has_value();
    if (is(kBr)) return reach_by_place();
    base_ = kGp;
    base_value_ = surroundings_.gp.value_or(0);
    found_.by_gp = true;
    if (!is(kLdah) || b() != kGp || text_[at_]->has_reference()) return has_gp;
    base_ = a();
    base_value_ += static_cast<uint64_t>(int64_t{text_[at_]->immediate} * 0x10000);
    ++at_;
    return has_gp && base_ < kZero && base_ != kSp && base_ != kGp;
  }
  bool reach_by_place() {
    base_ = a();
    if (base_ >= kZero || base_ == kSp) return false;
    const uint64_t place = text_.address(at_) + 4;
    const Instruction& get_pc = *text_[at_];
    ++at_;
    if (!facts(get_pc).get_pc || text_[at_] == nullptr || text_.address(at_) != place) return false;
    base_value_ = place;
    if (!take(is(kLdah) && a() == base_ && half(kLdah, base_, place, base_value_))) return false;
    const bool loads = is(kLdl) || is(kLdq);
    const uint16_t low = loads ? text_[at_]->opcode : kLda;
    if (!take(is(low) && a() == base_ && half(low, base_, place, base_value_))) return false;
    return !loads || load_base(low == kLdq ? 8 : 4);
  }
  /// The base register got a word with the address of counters.
  bool load_base(unsigned size) {
    const auto& bases = surroundings_.bases;
    if (!bases || bases->word_size != size) return false;
    const uint64_t offset = base_value_ - bases->words;
    if (offset % size != 0 || offset / size >= surroundings_.base_count) return false;
    base_value_ = bases->counters + offset / size * surroundings_.base_distance;
    return true;
  }

  /// Adds one to a word near a base register; the register for the value may be given.
  bool add(uint8_t base, uint64_t base_value, std::optional<uint8_t> wanted = std::nullopt) {
    const size_t start = at_;
    const bool atomic = is(kLdqL);
    if (!(atomic || is(kLdq)) || b() != base || text_[at_]->has_reference()) return false;
    const uint8_t value = a();
    const int64_t displacement = text_[at_]->immediate;
    if (value >= kZero || value == base || value == kSp || (wanted && value != *wanted))
      return false;
    ++at_;
    const bool is_whole = take(is_memory(kLda, value, value, 1)) &&
                          take(is_memory(atomic ? kStqC : kStq, value, base, displacement)) &&
                          (!atomic || take(is(kBeq) && a() == value && text_.leads_to(at_, start)));
    if (!is_whole) {
      at_ = start;
      return false;
    }
    found_.kind = atomic ? ProbeKind::count_atomic : ProbeKind::count;
    found_.counter = base_value + static_cast<uint64_t>(displacement);
    return true;
  }

  bool record() {
    if (!is(kLdq) || b() != base_ || text_[at_]->has_reference()) return false;
    const uint8_t value = a();
    const int64_t displacement = text_[at_]->immediate;
    ++at_;
    if (!is(kLdq)) return false;
    const uint8_t changes = a();
    if (!take(is_memory(kLdq, changes, base_, displacement + 8)) || !is(kStq)) return false;
    target_ = a();
    if (value == kZero || changes == kZero || value == changes || value == base_ ||
        changes == base_ || target_ == value || target_ == changes || target_ == base_)
      return false;
    found_.kind = ProbeKind::record_target;
    found_.counter = base_value_ + static_cast<uint64_t>(displacement);
    return take(is_memory(kStq, target_, base_, displacement)) &&
           take(is_operate(kXor, value, target_, value)) &&
           take(is_operate(kCmpult, kZero, value, value)) &&
           take(is_operate(kAddq, changes, value, changes)) &&
           take(is_memory(kStq, changes, base_, displacement + 8));
  }
  bool precedes_jump() {
    if (text_[at_] == nullptr || b() != target_) return false;
    const ControlFlow flow = facts(*text_[at_]).flow;
    return flow == ControlFlow::indirect_jump || flow == ControlFlow::indirect_call;
  }

  bool small() {
    if (!is(kLda) || text_[at_]->has_reference() || b() != kZero || a() >= kZero) return false;
    const uint8_t number = a();
    const int64_t value = text_[at_]->immediate;
    if (text_[at_ + 1] == nullptr || text_[at_ + 1]->opcode != kBsr) return false;
    ++at_;
    const auto to = text_.target(at_);
    if (!to || to->where != CodeLocation::Where::block_start || to->block != 0) return false;
    found_.routine = *to;
    found_.number = value;
    found_.number_register = number;
    found_.link = a();
    return take(a() != number && a() != kZero && a() != kSp && number != kSp);
  }

  ProbeText& text_;
  const ProbeSurroundings& surroundings_;
  size_t at_ = 0;
  FoundProbe found_;
  std::vector<uint8_t> saved_;
  uint8_t base_ = kZero, target_ = kZero;
  uint64_t base_value_ = 0;
};

}  // namespace

bool may_start_probe(const Instruction& instruction) {
  const uint8_t base = instruction.registers[1];
  switch (instruction.opcode) {
    case kBr:
      return facts(instruction).get_pc;
    case kLda:
      return base == kZero || (base == kSp && instruction.registers[0] == kSp);
    case kLdah:
    case kLdq:
    case kLdqL:
      return base == kGp;
    default:
      return false;
  }
}

std::optional<FoundProbe> read_probe(ProbeText& text, const ProbeSurroundings& surroundings) {
  return Reader(text, surroundings).read();
}

std::optional<FoundRoutine> read_routine(ProbeText& text, const ProbeSurroundings& surroundings) {
  return Reader(text, surroundings).read_routine();
}

}  // namespace respike::alpha

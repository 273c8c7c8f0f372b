// Reading probes of x86-64 from the bytes of an output.
//
// The reader knows the shapes of probes (probes.cc explains them), and shares no code with the
// writer of probes: it decodes the bytes. Where the writer, the emitter or the encoder is wrong,
// the reader finds no probe, and then the comparison of the output with its input finds an
// instruction that the input lacks.
//
//   probe   = [lower store...] core [load... raise]  |  push record pop, in front of a call
//   core    = inc word | lock inc word
//           | mov word,r; lea 1(r),r; mov r,word
//           | lahf; seto %al; lock inc word; add $0x7f,%al; sahf
//           | record | call routine
//   record  = mov target,r; sub word,r; add r,word; neg r; adc $0,word+8, in front of the jump
//   lower   = lea -128(%rsp),%rsp; store = mov r,-8*n(%rsp), n = 1, 2, ...
//
// `word` is an operand relative to rip, perhaps with the prefix of gs. Example: 48 ff 05 f4 ba fe
// ff at 0x1a8e0d is `inc 0x194908(%rip)`, a probe that adds one to the word at 0x194908.

#include "optimizer/machine/x86_64/probe_reader.h"

#include <cstring>

#include "optimizer/machine/x86_64/instruction.h"

namespace respike::x86_64 {
namespace {

constexpr int32_t kRedZone = 128;  // bytes

class Reader {
 public:
  explicit Reader(ProbeText& text) : text_(text) {}

  std::optional<FoundProbe> read() {
    save();
    found_.lowered_from = found_.lowered == 0 ? 0 : 1;
    if (!core()) return std::nullopt;
    if (!restore()) return std::nullopt;
    if (found_.kind == ProbeKind::record_target && !precedes_jump()) return std::nullopt;
    if (pushed_ && !(found_.kind == ProbeKind::record_target && is_call_)) return std::nullopt;
    if (found_.kind == ProbeKind::find_copy && found_.lowered == 0)
      found_.overwrites_red_zone = true;
    found_.size = at_;
    return found_;
  }

 private:
  /// The line `at_`, decoded; after the end it does not decode.
  const Decoded& now() {
    if (decoded_at_ == at_) return decoded_;
    decoded_at_ = at_;
    decoded_ = {};
    bytes_ = {};
    if (text_[at_] == nullptr) return decoded_;
    bytes_ = text_.bytes(at_);
    decoded_ = decode_unit(bytes_);
    if (decoded_.length != bytes_.size()) decoded_ = {};
    return decoded_;
  }
  bool take(bool wanted) {
    if (wanted) ++at_;
    return wanted;
  }
  int32_t number(unsigned offset, unsigned size) {
    if (size == 1) return static_cast<int8_t>(bytes_[offset]);
    int32_t result = 0;
    if (size == 4) std::memcpy(&result, &bytes_[offset], 4);
    return result;
  }
  int32_t displacement() { return number(now().displacement_at, now().displacement_size); }
  int32_t immediate() { return number(now().immediate_at, now().immediate_size); }
  uint8_t reg() { return static_cast<uint8_t>(now().reg() | now().r); }
  uint8_t base() { return static_cast<uint8_t>(now().rm() | now().b); }

  /// An instruction of one opcode byte, 64 bits wide, without other prefixes.
  bool is_wide(uint8_t opcode, uint8_t prefixes = 0, Segment segment = Segment::none) {
    const Decoded& d = now();
    return d.valid() && form_of(d).space == Space::legacy && d.opcode == opcode && d.w != 0 &&
           (d.prefixes & ~Decoded::kRex) == prefixes && d.segment == segment && map_is_primary() &&
           !d.jumps_over_lock;
  }
  /// An instruction without prefixes, one or two opcode bytes.
  bool is_bare(std::initializer_list<uint8_t> bytes) {
    const Decoded& d = now();
    return d.valid() && bytes_.size() >= bytes.size() &&
           std::equal(bytes.begin(), bytes.end(), bytes_.begin()) && d.length == bytes.size();
  }
  /// Whether the byte before ModRM or the immediate is the only byte of the opcode.
  bool map_is_primary() {
    const Decoded& d = now();
    size_t at = 0;
    while (at < bytes_.size() && (bytes_[at] == 0xf0 || bytes_[at] == 0x65)) ++at;
    return at + 1 < bytes_.size() && (bytes_[at] & 0xf0) == 0x40 && bytes_[at + 1] == d.opcode;
  }
  /// Whether the operand is memory with only a base register and a displacement.
  bool is_memory_at(uint8_t wanted) {
    const Decoded& d = now();
    if (!d.has_memory() || d.is_rip_relative() || (d.modrm >> 6) == 0) return false;
    if (d.rm() != 4) return base() == wanted;
    return (d.sib & 0x3f) == (4 << 3 | (wanted & 7)) && d.x == 0 && d.b == (wanted & 8);
  }
  /// Takes an operation on a word of the counters at the address `word_ + offset`; the first such
  /// operation determines `word_` and its segment.
  bool word(uint8_t opcode, uint64_t offset = 0, bool locked = false) {
    const Decoded& d = now();
    if (!d.valid() || !d.is_rip_relative()) return false;
    if (d.segment != Segment::none && d.segment != Segment::gs) return false;
    if (!is_wide(opcode, locked ? Decoded::kLock : 0, d.segment)) return false;
    const bool own = d.segment == Segment::gs;
    const uint64_t address =
        text_.address(at_) + d.length + static_cast<uint64_t>(int64_t{displacement()}) - offset;
    if (has_word_ && (address != found_.counter || own != found_.own_copy)) return false;
    has_word_ = true;
    found_.counter = address;
    found_.own_copy = own;
    return true;
  }

  bool is_move_of_stack(int32_t by) {
    return is_wide(0x8d) && reg() == kRsp && is_memory_at(kRsp) && displacement() == by;
  }
  bool is_saved(uint8_t opcode, size_t i) {
    return is_wide(opcode) && is_memory_at(kRsp) &&
           displacement() == -8 * static_cast<int32_t>(i + 1);
  }

  void save() {
    if (take(is_move_of_stack(-kRedZone))) {
      found_.lowered = kRedZone;
      while (is_saved(0x89, saved_.size()) && reg() != kRsp) {
        saved_.push_back(reg());
        ++at_;
      }
    } else if (const auto r = stack_register(0x50)) {
      pushed_ = true;
      found_.lowered = 8;
      saved_.push_back(*r);
      ++at_;
    }
    for (const uint8_t r : saved_) found_.kept.push_back(register_of(r));
    if (found_.lowered != 0) found_.kept.push_back(register_of(kRsp));
  }
  bool restore() {
    found_.lowered_to = at_;
    if (found_.lowered == 0) return true;
    if (pushed_) return stack_register(0x58) == saved_.front() && (found_.lowered_to = ++at_, true);
    for (size_t i = 0; i < saved_.size(); ++i)
      if (!take(is_saved(0x8b, i) && reg() == saved_[i])) return false;
    if (!take(is_move_of_stack(kRedZone))) return false;
    found_.lowered_to = at_;
    return true;
  }
  /// The register of a push or pop.
  std::optional<uint8_t> stack_register(uint8_t opcode) {
    const Decoded& d = now();
    const bool extended = bytes_.size() == 2 && bytes_[0] == 0x41;
    if (!d.valid() || (bytes_.size() != 1 && !extended) || (bytes_.back() & 0xf8) != opcode)
      return std::nullopt;
    const auto r = static_cast<uint8_t>((bytes_.back() & 7) | (extended ? 8 : 0));
    return r == kRsp ? std::nullopt : std::optional(r);
  }

  bool core() {
    if (word(0xff, 0, true) && now().reg() == 0) {
      found_.kind = ProbeKind::count_atomic;
      return take(true);
    }
    if (word(0xff) && now().reg() == 0) return take(true);
    if (is_bare({0x9f})) return count_beside_flags();
    if (now().valid() && now().opcode == 0xe8 && bytes_.size() == 5) return call();
    const size_t start = at_;
    if (word(0x8b) && count_by_register()) return true;
    at_ = start;
    has_word_ = false;
    return record();
  }

  bool count_by_register() {
    const uint8_t r = reg();
    ++at_;
    if (!take(is_wide(0x8d) && reg() == r && is_memory_at(r) && displacement() == 1)) return false;
    return r != kRsp && take(word(0x89) && reg() == r);
  }

  bool count_beside_flags() {
    ++at_;
    if (!take(is_bare({0x0f, 0x90, 0xc0}))) return false;
    if (!take(word(0xff, 0, true) && now().reg() == 0)) return false;
    if (!take(is_bare({0x04, 0x7f})) || !take(is_bare({0x9e}))) return false;
    found_.kind = ProbeKind::count_atomic;
    return found_.keeps_flags = true;
  }

  bool call() {
    const auto to = text_.target(at_);
    if (!to || to->where != CodeLocation::Where::address) return false;
    found_.kind = ProbeKind::find_copy;
    found_.kept.push_back(register_of(kRsp));  // the call moves it, the return moves it back
    found_.counter = to->address;
    return take(true);
  }

  bool record() {
    found_.kind = ProbeKind::record_target;
    if (!is_wide(0x8b)) return false;
    const uint8_t r = reg();
    target_ = operand();
    ++at_;
    if (!take(word(0x2b) && reg() == r) || !take(word(0x01) && reg() == r)) return false;
    if (!take(is_wide(0xf7) && now().reg() == 3 && !now().has_memory() && base() == r))
      return false;
    return take(word(0x83, 8) && now().reg() == 2 && immediate() == 0) && r != kRsp;
  }

  /// An operand in a register or in memory.
  struct Operand {
    bool memory = true;
    uint8_t base = kNoRegister, index = kNoRegister, scale = 1;
    Segment segment = Segment::none;
    int64_t number = 0;  // displacement; of rip, the address

    bool operator==(const Operand&) const = default;
  };
  Operand operand() {
    const Decoded& d = now();
    if (!d.has_memory()) return {.memory = false, .base = base()};
    const Effects effects = effects_of(d, bytes_.data());
    for (const MemoryOperand& memory : effects.memory_list()) {
      if (memory.stack) continue;
      int64_t number = memory.displacement;
      if (memory.base == kRip) number += static_cast<int64_t>(text_.address(at_) + d.length);
      return {.base = memory.base,
              .index = memory.index,
              .scale = memory.index == kNoRegister ? uint8_t{1} : memory.scale,
              .segment = memory.segment,
              .number = number};
    }
    return {};
  }
  /// Whether the next line jumps to, or calls, the target that `record` recorded.
  bool precedes_jump() {
    const Decoded& d = now();
    if (!d.valid() || form_of(d).space != Space::legacy || d.opcode != 0xff ||
        (d.reg() != 2 && d.reg() != 4))
      return false;
    is_call_ = d.reg() == 2;
    Operand jump = operand();
    if (jump.memory && jump.base == kRsp) jump.number += found_.lowered;
    return jump == target_;
  }

  ProbeText& text_;
  size_t at_ = 0;
  size_t decoded_at_ = ProbeText::kLongest;
  Decoded decoded_;
  std::span<const uint8_t> bytes_;
  FoundProbe found_;
  std::vector<uint8_t> saved_;
  bool pushed_ = false, has_word_ = false, is_call_ = false;
  Operand target_;
};

}  // namespace

bool may_start_probe(const Instruction& instruction) {
  // The forms that the decoder finds for the first instructions of probes.
  static const auto forms = [] {
    constexpr uint8_t kFirst[][7] = {
        {0x48, 0xff, 0x05}, {0x48, 0x8b, 0x05},      {0x48, 0x8b, 0xc0}, {0x9f}, {0xe8}, {0x50},
        {0x48, 0x8d, 0x05}, {0xf0, 0x48, 0xff, 0x05}};
    std::vector<bool> result(respike::x86_64::forms().forms.size());
    for (const auto& code : kFirst) result[decode(code).form] = true;
    return result;
  }();
  const unsigned form = form_number(instruction);
  return form < forms.size() && forms[form];
}

std::optional<FoundProbe> read_probe(ProbeText& text) {
  return Reader(text).read();
}

}  // namespace respike::x86_64

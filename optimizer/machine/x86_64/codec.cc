// Bytes to instructions.
//
// Prefixes, opcode and ModRM make a key. The candidates of the opcode (forms.h) say which form the
// key selects. Form and ModRM determine displacement and immediate. Checks that no set of a
// candidate expresses follow at the end: lock, vvvv that must be unused, EVEX's masks, rounding and
// broadcasting. Only 64-bit mode exists.
//
// Source: Intel Software Developer's Manual, volume 2, chapter 2: 2.1 (format, prefixes, ModRM),
// 2.2.1 (REX), 2.3 (VEX), 2.7 (EVEX). XOP, 3DNow!, APX (REX2, extended EVEX) and AMX do not decode.
//
// Example: 48 8b 05 10 00 00 00, mov 0x10(%rip),%rax: REX.W, opcode 8b, ModRM 05, a displacement of
// 4 bytes at offset 3.

#include "optimizer/machine/x86_64/codec.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace respike::x86_64 {
namespace {

enum class PrefixKind : uint8_t { none, operand, address, repeat, repeat_not, lock, segment, rex };

constexpr std::array<PrefixKind, 256> make_prefix_kinds() {
  std::array<PrefixKind, 256> kinds{};
  for (unsigned byte = 0x40; byte < 0x50; ++byte) kinds[byte] = PrefixKind::rex;
  for (unsigned byte : {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65}) kinds[byte] = PrefixKind::segment;
  kinds[0x66] = PrefixKind::operand;
  kinds[0x67] = PrefixKind::address;
  kinds[0xf0] = PrefixKind::lock;
  kinds[0xf2] = PrefixKind::repeat_not;
  kinds[0xf3] = PrefixKind::repeat;
  return kinds;
}

constexpr std::array<PrefixKind, 256> kPrefixKinds = make_prefix_kinds();

/// Works on code that is followed by readable bytes: whether the instruction fits is checked last.
class Decoder {
 public:
  Decoder(const Forms& table, const uint8_t* code, unsigned limit)
      : table_(table), code_(code), limit_(limit) {}

  Decoded run();

 private:
  bool read_prefixes();
  void read_rex(uint8_t rex);
  bool read_opcode();
  bool read_vex();
  bool read_evex();
  bool select_form();
  void read_modrm();
  bool is_legal(const Form& form) const;
  bool is_legal_evex(const Form& form) const;
  bool has_legal_masks(const Form& form) const;
  bool has_distinct_registers(const Form& form) const;

  const Forms& table_;
  const uint8_t* code_;
  unsigned limit_;
  unsigned at_ = 0;
  Space space_ = Space::legacy;
  unsigned map_ = 0;
  unsigned prefix_ = 0;  // mandatory: np 66 f3 f2
  unsigned length_ = 0;  // vector length as encoded
  Decoded out_;
};

bool Decoder::read_prefixes() {
  uint8_t rex = 0;
  for (;; ++at_) {
    if (at_ >= limit_) return false;
    const uint8_t byte = code_[at_];
    const PrefixKind kind = kPrefixKinds[byte];
    if (kind == PrefixKind::none) break;
    // A REX prefix counts only right before the opcode.
    rex = kind == PrefixKind::rex ? byte : 0;
    switch (kind) {
      case PrefixKind::operand:
        out_.prefixes |= Decoded::kOperandSize;
        break;
      case PrefixKind::address:
        out_.prefixes |= Decoded::kAddressSize;
        break;
      case PrefixKind::repeat:
        out_.prefixes |= Decoded::kRepeat;
        prefix_ = 2;
        break;
      case PrefixKind::repeat_not:
        out_.prefixes |= Decoded::kRepeatNot;
        prefix_ = 3;
        break;
      case PrefixKind::lock:
        out_.prefixes |= Decoded::kLock;
        break;
      case PrefixKind::segment:
        // The other segments start at 0 and are ignored (volume 1, 3.4.2.1).
        if (byte >= 0x64) out_.segment = byte == 0x64 ? Segment::fs : Segment::gs;
        break;
      default:
        break;
    }
  }
  if (rex != 0) read_rex(rex);
  if (prefix_ == 0 && (out_.prefixes & Decoded::kOperandSize) != 0) prefix_ = 1;
  return true;
}

void Decoder::read_rex(uint8_t rex) {
  out_.prefixes |= Decoded::kRex;
  out_.w = rex >> 3 & 1;
  out_.r = (rex & 4) << 1;
  out_.x = (rex & 2) << 2;
  out_.b = (rex & 1) << 3;
}

bool Decoder::read_vex() {
  const uint8_t* bytes = code_ + at_ + 1;
  out_.r = (~bytes[0] & 0x80) >> 4;
  uint8_t last = bytes[0];
  map_ = 1;
  if (code_[at_] == 0xc4) {
    out_.x = (~bytes[0] & 0x40) >> 3;
    out_.b = (~bytes[0] & 0x20) >> 2;
    map_ = bytes[0] & 0x1f;
    last = bytes[1];
    out_.w = last >> 7;
    ++at_;
  }
  at_ += 2;
  out_.vvvv = ~last >> 3 & 15;
  length_ = last >> 2 & 1;
  prefix_ = last & 3;
  space_ = Space::vex;
  return map_ >= 1 && map_ <= 3;
}

bool Decoder::read_evex() {
  const uint8_t* bytes = code_ + at_ + 1;
  out_.r = (~bytes[0] & 0x80) >> 4;
  out_.x = (~bytes[0] & 0x40) >> 3;
  out_.b = (~bytes[0] & 0x20) >> 2;
  out_.r4 = ~bytes[0] & 0x10;
  map_ = bytes[0] & 7;
  out_.w = bytes[1] >> 7;
  out_.vvvv = ~bytes[1] >> 3 & 15;
  prefix_ = bytes[1] & 3;
  out_.zeroing = bytes[2] >> 7 != 0;
  length_ = bytes[2] >> 5 & 3;
  out_.broadcast = (bytes[2] >> 4 & 1) != 0;
  out_.v4 = (~bytes[2] & 8) << 1;
  out_.mask = bytes[2] & 7;
  at_ += 4;
  space_ = Space::evex;
  if (map_ >= 5)
    --map_;
  else if (map_ == 4)
    return false;
  return map_ != 0 && map_ < kMaps && (bytes[0] & 8) == 0 && (bytes[1] & 4) != 0;
}

bool Decoder::read_opcode() {
  const uint8_t byte = code_[at_];
  if (byte == 0xc4 || byte == 0xc5 || byte == 0x62) {
    constexpr uint8_t kForbidden = Decoded::kOperandSize | Decoded::kRepeat | Decoded::kRepeatNot |
                                   Decoded::kLock | Decoded::kRex;
    if ((out_.prefixes & kForbidden) != 0) return false;
    if (!(byte == 0x62 ? read_evex() : read_vex())) return false;
  } else if (byte == 0x0f) {
    const uint8_t next = code_[++at_];
    map_ = next == 0x38 ? 2 : next == 0x3a ? 3 : 1;
    if (map_ != 1) ++at_;
  }
  out_.opcode = code_[at_++];
  return true;
}

bool Decoder::select_form() {
  const Cell& cell = table_.cell(space_, map_, out_.opcode);
  uint32_t key = 1u << (select::kPrefix + prefix_) | 1u << (select::kW + out_.w) |
                 1u << (select::kLength + length_);
  if (cell.modrm) {
    out_.modrm_at = static_cast<uint8_t>(at_);
    out_.modrm = code_[at_++];
    const bool rounding = space_ == Space::evex && out_.broadcast && out_.modrm >= 0xc0;
    // With rounding, the length's field is the rounding mode and the length is the largest.
    if (rounding) key &= ~(15u << select::kLength);
    key |= 1u << (out_.modrm >= 0xc0 ? select::kRegister : select::kMemory) |
           1u << (select::kReg + out_.reg()) | 1u << (select::kRm + out_.rm());
    out_.vector_length = static_cast<uint8_t>(rounding ? 2 : length_);
  } else {
    key |= 1u << (select::kRm + (out_.b >> 3));
    out_.vector_length = static_cast<uint8_t>(length_);
  }
  for (unsigned i = cell.first; i != cell.end; ++i) {
    if (!table_.candidates[i].matches(key)) continue;
    out_.form = table_.candidates[i].form;
    return true;
  }
  return false;
}

void Decoder::read_modrm() {
  const unsigned mode = out_.modrm >> 6;
  if (mode == 3) return;
  unsigned size = mode == 1 ? 1 : mode == 2 ? 4 : 0;
  if (out_.rm() == 4) {
    out_.sib = code_[at_++];
    if (mode == 0 && (out_.sib & 7) == 5) size = 4;
  } else if (mode == 0 && out_.rm() == 5) {
    size = 4;
  }
  if (size == 0) return;
  out_.displacement_at = static_cast<uint8_t>(at_);
  out_.displacement_size = static_cast<uint8_t>(size);
  at_ += size;
}

bool is_mask_method(char method) {
  return method == 'K' || method == 'T' || method == 'J';
}

bool Decoder::has_legal_masks(const Form& form) const {
  if (out_.mask != 0 && !form.masked) return false;
  if (form.needs_mask && out_.mask == 0) return false;
  if (!out_.zeroing) return true;
  const OperandForm& destination = form.operands[0];
  const bool to_memory =
      out_.has_memory() && (destination.method == 'W' || destination.method == 'M');
  return out_.mask != 0 && (destination.access & kWrite) != 0 && !to_memory &&
         !is_mask_method(destination.method) && !form.vector_index;
}

/// The manual's pages say which registers must differ; the mask of an EVEX gather is not among
/// them.
bool Decoder::has_distinct_registers(const Form& form) const {
  const unsigned destination = out_.reg() | out_.r | out_.r4;
  const unsigned other = out_.vvvv | unsigned{out_.v4};
  if (!form.vector_index) {
    const unsigned last = out_.rm() | out_.b | out_.x << 1;
    return destination != other && (out_.has_memory() || destination != last);
  }
  const unsigned index = (out_.sib >> 3 & 7) | out_.x;
  if (space_ == Space::evex) return destination != (index | out_.v4);
  return destination != index && destination != other && index != other;
}

bool Decoder::is_legal_evex(const Form& form) const {
  if (!has_legal_masks(form)) return false;
  if (!out_.broadcast) return true;
  if (!out_.has_memory()) return form.rounds;
  return std::any_of(form.operands, form.operands + form.operand_count,
                     [](const OperandForm& operand) { return operand.broadcast != 0; });
}

bool Decoder::is_legal(const Form& form) const {
  if ((out_.prefixes & Decoded::kLock) != 0 && !(form.lockable && out_.has_memory())) return false;
  // Among control registers, only 8 needs REX.R; no debug register (odd opcodes) does.
  if (form.register_only && out_.r != 0 && ((out_.opcode & 1) != 0 || out_.reg() != 0))
    return false;
  if (space_ == Space::legacy) return true;
  const bool extends_index = form.vector_index && space_ == Space::evex;
  if (!form.uses_vvvv && (out_.vvvv != 0 || (out_.v4 != 0 && !extends_index))) return false;
  if (form.vector_index && out_.rm() != 4) return false;
  if (form.distinct && !has_distinct_registers(form)) return false;
  for (unsigned i = 0; i < form.operand_count; ++i) {
    const char method = form.operands[i].method;
    if (method == 'K' && (out_.r != 0 || out_.r4 != 0)) return false;
    if (method == 'J' && out_.vvvv > 7) return false;
    if ((method == 'G' && out_.r4 != 0) || (method == 'B' && out_.v4 != 0)) return false;
  }
  return space_ != Space::evex || is_legal_evex(form);
}

Decoded Decoder::run() {
  if (!read_prefixes() || !read_opcode() || !select_form()) return {};
  const Form& form = table_.forms[out_.form];
  if (form.register_only) out_.modrm |= 0xc0;
  if (out_.modrm_at != 0) read_modrm();
  if (form.memory_offset) {
    out_.displacement_at = static_cast<uint8_t>(at_);
    out_.displacement_size = (out_.prefixes & Decoded::kAddressSize) != 0 ? 4 : 8;
    at_ += out_.displacement_size;
  }
  const unsigned size = form.immediate[operand_size_index(form, out_)];
  if (size != 0) {
    out_.immediate_at = static_cast<uint8_t>(at_);
    out_.immediate_size = static_cast<uint8_t>(size);
    at_ += size;
  }
  if (at_ > limit_ || !is_legal(form)) return {};
  out_.length = static_cast<uint8_t>(at_);
  return out_;
}

}  // namespace

unsigned operand_size_index(const Form& form, const Decoded& decoded) {
  if (form.fixed64 || decoded.w != 0) return 2;
  if ((decoded.prefixes & Decoded::kOperandSize) != 0) return 0;
  return form.default64 ? 2 : 1;
}

Decoded decode(std::span<const uint8_t> code) {
  // A read ends at most prefixes, EVEX, opcode, ModRM and SIB after the last legal prefix.
  constexpr size_t kReadable = kLongest + 8;
  const Forms& table = forms();
  if (code.size() >= kReadable) return Decoder(table, code.data(), kLongest).run();
  std::array<uint8_t, kReadable + kLongest> padded{};
  if (!code.empty()) std::memcpy(padded.data(), code.data(), code.size());
  const auto limit = std::min<size_t>(code.size(), kLongest);
  return Decoder(table, padded.data(), static_cast<unsigned>(limit)).run();
}

Decoded decode_unit(std::span<const uint8_t> code) {
  constexpr unsigned kJump = 2;  // bytes
  const bool jumps =
      code.size() > kJump && (code[0] & 0xfe) == 0x74 && code[1] == 1 && code[kJump] == 0xf0;
  if (!jumps) return decode(code);
  Decoded locked = decode(code.subspan(kJump));
  if (!locked.valid() || locked.length + kJump > kLongest) return decode(code);
  locked.jumps_over_lock = true;
  locked.length += kJump;
  for (uint8_t* at : {&locked.modrm_at, &locked.displacement_at, &locked.immediate_at})
    if (*at != 0) *at += kJump;
  return locked;
}

}  // namespace respike::x86_64

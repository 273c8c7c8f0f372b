#pragma once
// The current frame marker and ar.pfs (SDM 1, sections 3.1.7 and 3.1.8.10), and addresses in the
// backing store of the register stack (SDM 2, section 6.5).

#include <cstdint>

namespace respike::emulator::ia64 {

/// sof 6:0, sol 13:7, sor 17:14 (in eights), rrb.gr 24:18, rrb.fr 31:25, rrb.pr 37:32.
struct FrameMarker {
  uint64_t bits = 0;

  unsigned sof() const { return bits & 0x7f; }
  unsigned sol() const { return bits >> 7 & 0x7f; }
  unsigned sor() const { return (bits >> 14 & 0xf) * 8; }
  unsigned rrb_gr() const { return bits >> 18 & 0x7f; }
  unsigned rrb_fr() const { return bits >> 25 & 0x7f; }
  unsigned rrb_pr() const { return bits >> 32 & 0x3f; }

  bool rotated() const { return bits >> 18; }
  bool valid() const {
    return sof() <= 96 && sol() <= sof() && sor() <= sof() && rrb_gr() < (sor() ? sor() : 1) &&
           rrb_fr() < 96 && rrb_pr() < 48 && bits >> 38 == 0;
  }

  static FrameMarker of(unsigned sof, unsigned sol, unsigned sor) {
    return {uint64_t{sof} | uint64_t{sol} << 7 | uint64_t{sor / 8} << 14};
  }
  FrameMarker with_bases(unsigned gr, unsigned fr, unsigned pr) const {
    return {(bits & 0x3ffff) | uint64_t{gr} << 18 | uint64_t{fr} << 25 | uint64_t{pr} << 32};
  }
  /// The marker after one step of a rotating loop: every register's value moves to the next number.
  FrameMarker rotate() const {
    const unsigned size = sor();
    return with_bases(size == 0 ? 0 : (rrb_gr() == 0 ? size : rrb_gr()) - 1,
                      (rrb_fr() == 0 ? 96 : rrb_fr()) - 1, (rrb_pr() == 0 ? 48 : rrb_pr()) - 1);
  }
  /// The marker after br.call: the outputs are the callee's whole frame.
  FrameMarker called() const { return {sof() - sol()}; }

  // Physical from architectural numbers.
  unsigned general(unsigned r) const {
    if (r < 32 || r - 32 >= sor()) return r;
    const unsigned sum = r - 32 + rrb_gr();
    return 32 + (sum >= sor() ? sum - sor() : sum);
  }
  unsigned floating(unsigned f) const {
    if (f < 32) return f;
    const unsigned sum = f - 32 + rrb_fr();
    return 32 + (sum >= 96 ? sum - 96 : sum);
  }
  unsigned predicate(unsigned p) const {
    if (p < 16) return p;
    const unsigned sum = p - 16 + rrb_pr();
    return 16 + (sum >= 48 ? sum - 48 : sum);
  }
};

/// ar.pfs: pfm 37:0, pec 57:52, ppl 63:62.
constexpr uint64_t kPfmMask = (uint64_t{1} << 38) - 1;
constexpr uint64_t make_pfs(uint64_t cfm, uint64_t ec) {
  return cfm | (ec & 0x3f) << 52 | uint64_t{3} << 62;
}
/// The bits of `value` that mov to ar.pfs keeps: reserved bits are 0, the privilege level cannot
/// rise.
constexpr uint64_t writable_pfs(uint64_t value) {
  return (value & (kPfmMask | uint64_t{0x3f} << 52)) | uint64_t{3} << 62;
}

// Every 64th word of the backing store holds the NaT bits of the 63 registers below it.
constexpr unsigned backing_slot(uint64_t address) {
  return address >> 3 & 0x3f;
}
constexpr bool is_collection(uint64_t address) {
  return backing_slot(address) == 63;
}

/// The address of the register `count` registers further, or back if `count` is negative.
constexpr uint64_t skip_registers(uint64_t address, int64_t count) {
  int64_t delta = static_cast<int64_t>(backing_slot(address)) + count;
  if (count < 0) delta -= 62;
  return address + static_cast<uint64_t>(count + delta / 63) * 8;
}
/// The number of registers between two addresses.
constexpr uint64_t registers_between(uint64_t from, uint64_t to) {
  const uint64_t words = (to - from) >> 3;
  return words - (backing_slot(from) + words) / 64;
}

}  // namespace respike::emulator::ia64

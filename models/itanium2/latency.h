#pragma once
// Latencies of the Itanium 2, as tables; see latency.cc for the sources.

#include <cstdint>
#include <span>
#include <string_view>

namespace respike::measure::itanium2 {

/// Classes of instructions with the same latency, with the names of GCC's description.
enum class IssueClass : uint8_t {
  nop,
  ialu,    // type A integer; also the result of a post-increment
  icmp,    // compares, type A
  ishf,    // extract, deposit, shift right pair
  xtd,     // sign and zero extension
  tbit,    // tests of bits
  mmalua,  // multimedia, type A
  mmmul,   // multimedia multiplication
  mmshf,   // multimedia shifts and permutations
  mmshfi,  // shifts left by a constant
  long_i,  // movl
  load,    // integer
  load_c,  // checks that find their entry, of integer and floating-point loads
  fload,   // floating-point: from the second level
  store,   // integer and floating-point
  sem,     // cmpxchg, xchg, fetchadd: done in the second level
  lfetch,
  fmac,       // floating-point and fixed-point multiply and add
  fmisc,      // other floating-point
  fcvtfx,     // conversions
  fcmp,       // floating-point compares
  getf,       // floating-point to general register
  setf,       // general to floating-point register
  from_br,    // mov =b, mov =ip
  from_pr,    // mov =pr
  from_ar_i,  // of I units: pfs, lc, ec
  from_ar_m,  // of M units
  from_bsp,   // mov =ar.bsp, mov =ar.bspstore
  from_slow,  // control registers and others of the system
  to_br,
  to_pr,
  to_ar_i,
  to_ar_m,
  probe,  // probe, tpa, tak, thash, ttag
  check,  // chk.s, chk.a
  alloc,
  system,  // everything else
  branch,
};

/// The use of a result, where it makes a difference to the latency.
enum class Use : uint8_t { other, address, multimedia, integer_or_memory, float_exchange, branch };
constexpr unsigned kUses = 6;

struct ClassRow {
  IssueClass id;
  std::string_view name;
  uint8_t latency;
  std::string_view source;
};
std::span<const ClassRow> class_rows();

/// Cycles from the issue of an instruction of class `from` to the issue of a use of its result.
unsigned latency(IssueClass from, Use use);
/// The largest latency of a class.
unsigned longest_latency(IssueClass from);

/// The causes of waits.
enum class Bubble : uint8_t { general, floating, predicate, application, stack, flush };
constexpr unsigned kBubbles = 6;

/// Sets of the kinds of instructions that tables 4 and 5 name.
using KindSet = uint32_t;
enum Kind : KindSet {
  kToRsc = 1u << 0,
  kToBspstore = 1u << 1,
  kFromBspstore = 1u << 2,
  kFromBsp = 1u << 3,
  kFromRnat = 1u << 4,
  kToRnat = 1u << 5,
  kFromUnat = 1u << 6,
  kToUnat = 1u << 7,
  kRseAr = 1u << 8,  // any access to ar.rsc, ar.bspstore, ar.bsp, ar.rnat
  kFpOp = 1u << 9,
  kFlushrs = 1u << 10,
  kLoadrs = 1u << 11,
  kEpc = 1u << 12,
  kBsw = 1u << 13,
  kRfi = 1u << 14,
  kSrlzD = 1u << 15,
  kSrlzI = 1u << 16,
  kToUserMask = 1u << 17,  // sum, rum, mov psr.um=
  kToStatus = 1u << 18,    // ssm, rsm, mov psr.l=
  kFromStatus = 1u << 19,  // mov =psr, mov =psr.um
  kToRegion = 1u << 20,    // mov pkr=, mov rr=
  kSerial = 1u << 21,      // sync, fwb, mf, invala; with srlz, the targets of a row
  kAny = 1u << 22,
};
constexpr KindSet kSrlz = kSrlzD | kSrlzI;

/// A row of the tables of measured latencies.
struct PairRow {
  std::string_view from, to;
  KindSet from_kinds, to_kinds;
  uint8_t cycles;
  Bubble bubble;
  std::string_view source;
};
std::span<const PairRow> pair_rows();

}  // namespace respike::measure::itanium2

#pragma once
// What the model of the Itanium 2 knows of an instruction: ports, latencies, and the rows of the
// tables of measured latencies that it takes part in. See instruction.cc for the rows and their
// sources.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace respike::simulator::itanium2 {

/// Which ports an instruction can be dispersed to.
enum class Ports : uint8_t {
  m,         // M0 to M3
  load,      // M0 or M1
  store,     // M2 or M3
  m0,        // M0
  m2,        // M2
  i,         // I0 or I1
  i0,        // I0
  i_or_m,    // type A in an I slot: I0 or I1, else a free M port
  f,         // F0 or F1, by its bundle
  long_i,    // the I port and the F port of its bundle
  branch,    // the B port of its slot
  no_branch  // nop.b and brp: the same, but the bundle need not be the last of its cycle
};

/// Instructions whose results arrive alike. The names are those of GCC's description.
enum class IssueClass : uint8_t {
  nop,
  ialu,    // type A integer; also what a post-increment writes
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
  system,  // all else
  branch,
};

/// What a result is needed for, where that makes a difference.
enum class Use : uint8_t { other, address, multimedia, integer_or_memory, float_exchange, branch };
constexpr unsigned kUses = 6;

struct ClassRow {
  IssueClass id;
  std::string_view name;
  uint8_t latency;
  std::string_view source;
};
std::span<const ClassRow> class_rows();

/// Cycles from the issue of an instruction of a class to that of one which uses its result.
unsigned latency(IssueClass from, Use use);
/// The largest of them.
unsigned longest_latency(IssueClass from);

/// What waits are counted as.
enum class Bubble : uint8_t { general, floating, predicate, application, stack, flush };
constexpr unsigned kBubbles = 6;

// Sets of the kinds of instructions that tables 4 and 5 name; bits.
using KindSet = uint32_t;

/// A row of the tables of measured latencies.
struct PairRow {
  std::string_view from, to;
  KindSet from_kinds, to_kinds;
  uint8_t cycles;
  Bubble bubble;
  std::string_view source;
};
std::span<const PairRow> pair_rows();

/// An operand: a register in the numbering of instruction.cc.
struct Operand {
  uint16_t number = 0;
  Use use = Use::other;
  IssueClass writer = IssueClass::nop;  // of a result: whose latency it has
};

constexpr uint16_t kGeneralRegister = 0, kFloatingRegister = 128, kPredicateRegister = 256,
                   kBranchRegister = 320, kApplicationRegister = 328, kAllPredicates = 456;

/// An instruction, as far as issuing it goes.
struct IssueInstruction {
  IssueClass issue_class = IssueClass::nop;
  Ports ports = Ports::m;
  uint8_t slot = 0;
  bool first = false;         // of its bundle
  bool stop = false;          // a stop behind it
  bool ends_cycle = false;    // split issue behind it
  bool begins_cycle = false;  // split issue before it: mf
  bool is_fwb = false, reads_bsp = false;
  bool three_b = false;  // of a BBB bundle
  uint8_t use_count = 0, result_count = 0;
  std::array<Operand, 7> uses{};
  std::array<Operand, 4> results{};
  KindSet kinds = 0;  // as what it takes part in pair_rows()
};

/// Instructions from a place (bundle's address and slot) to another, out of the bundles of `code`,
/// the first of which holds the first place. An instruction of two slots belongs to its first.
std::vector<IssueInstruction> read_for_issue(uint64_t begin, uint64_t end,
                                             std::span<const uint8_t> code);

}  // namespace respike::simulator::itanium2

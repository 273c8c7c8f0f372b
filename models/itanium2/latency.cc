// Latencies of the Itanium 2.
//
// Sources of the rows: ISI is "Itanium - A System Implementor's Tale", tables 4 and 5 (measured)
// and sections 2.4.1 and 4.1; GCC is the machine description gcc/config/ia64/itanium2.md of GCC,
// written from Intel's manual, which it quotes; memory is the Itanium 2 reference manual for
// software development and optimization (251110), not available; "assumed" is Respike's assumption.
// Integer loads hit the first level of the data cache, floating-point loads the second.
//
// The measured pairs are separate from the classes, since they are not dependences through
// registers. Each instruction has some kinds, and a row of pairs says how long an instruction of
// one kind waits for an instruction of another kind. ANY is every instruction except no-ops. No-ops
// wait for nothing, so a row holds for every distance of its two instructions that no-ops fill. If
// several rows apply, an instruction waits for the latest. The last row of table 5 (probe and
// similar instructions) is a class instead, since only uses of the result wait there.
//
// Example: `srlz.i` and an `add` two groups later have the row srlz.i, ANY, 12: the add waits for
// 10 cycles.

#include "models/itanium2/latency.h"

#include <algorithm>
#include <iterator>

namespace respike::measure::itanium2 {
namespace {

constexpr ClassRow kRows[] = {
    {IssueClass::nop, "nop", 0, "GCC"},
    {IssueClass::ialu, "IALU: add, logic, post-increments", 1, "GCC; 3 to multimedia"},
    {IssueClass::icmp, "ICMP: compares", 1, "GCC; 0 to a branch"},
    {IssueClass::ishf, "ISHF: extr, dep, shrp", 1, "GCC"},
    {IssueClass::xtd, "XTD: sxt, zxt", 1, "GCC"},
    {IssueClass::tbit, "TBIT: tbit, tnat, tf", 1, "GCC; 0 to a branch"},
    {IssueClass::mmalua, "MMALU: padd, psub, pcmp", 2, "GCC; 3 to integer and memory"},
    {IssueClass::mmmul, "MMMUL: pmpy, popcnt", 2, "GCC; 3 to integer and memory"},
    {IssueClass::mmshf, "MMSHF: shl, shr, mix, pack, mux, czx", 2, "GCC; 3 to integer and memory"},
    {IssueClass::mmshfi, "MMSHFI: dep.z", 1, "GCC"},
    {IssueClass::long_i, "LONG_I: movl", 1, "GCC"},
    {IssueClass::load, "LD", 1, "ISI 2.4.1, GCC; 2 to addresses and multimedia"},
    {IssueClass::load_c, "LDC: ld.c, ldf.c", 0, "GCC"},
    {IssueClass::fload, "FLD", 6, "GCC"},
    {IssueClass::store, "ST", 1, "GCC"},
    {IssueClass::sem, "SEM: cmpxchg, xchg, fetchadd", 5, "assumed: second level, ISI 4.1"},
    {IssueClass::lfetch, "LFETCH", 1, "GCC"},
    {IssueClass::fmac, "FMAC: fma, xma", 4, "GCC"},
    {IssueClass::fmisc, "FMISC", 4, "GCC"},
    {IssueClass::fcvtfx, "FCVTFX", 4, "GCC"},
    {IssueClass::fcmp, "FCMP: fcmp, fclass", 2, "GCC; 1 to a branch"},
    {IssueClass::getf, "FRFR: getf", 5, "GCC"},
    {IssueClass::setf, "TOFR: setf", 5, "GCC; 6 to getf and stores"},
    {IssueClass::from_br, "FRBR: mov =b, mov =ip", 2, "GCC"},
    {IssueClass::from_pr, "FRPR: mov =pr", 2, "GCC"},
    {IssueClass::from_ar_i, "FRAR_I: mov =ar.pfs, ar.lc, ar.ec", 2, "memory"},
    {IssueClass::from_ar_m, "FRAR_M: mov =ar.unat, ar.ccv and others", 6, "GCC"},
    {IssueClass::from_bsp, "FRAR: mov =ar.bsp, ar.bspstore", 13, "GCC"},
    {IssueClass::from_slow, "FRCR: control and other system registers", 12, "ISI 2.4.1"},
    {IssueClass::to_br, "TOBR: mov b=", 1, "GCC; 0 to a branch"},
    {IssueClass::to_pr, "TOPR: mov pr=", 1, "GCC; 0 to a branch: assumed"},
    {IssueClass::to_ar_i, "TOAR_I: mov ar.pfs=, ar.lc=, ar.ec=", 0, "GCC"},
    {IssueClass::to_ar_m, "TOAR_M: mov ar.unat=, ar.ccv= and others", 5, "GCC"},
    {IssueClass::probe, "PROBE: probe, tpa, tak, thash, ttag", 5, "ISI, table 5"},
    {IssueClass::check, "CHK: chk.s, chk.a", 0, "GCC"},
    {IssueClass::alloc, "ALLOC", 1, "memory"},
    {IssueClass::system, "SYST", 0, "GCC"},
    {IssueClass::branch, "BR", 0, "GCC"},
};

consteval bool rows_are_in_order() {
  for (size_t i = 0; i < std::size(kRows); ++i)
    if (static_cast<size_t>(kRows[i].id) != i) return false;
  return std::size(kRows) == static_cast<size_t>(IssueClass::branch) + 1;
}
static_assert(rows_are_in_order());

constexpr KindSet kSrlz = kSrlzD | kSrlzI;

constexpr PairRow kPairs[] = {
    {"mov ar.rsc=", "RSE_AR", kToRsc, kRseAr, 13, Bubble::stack, "ISI 4"},
    {"mov ar.bspstore=", "RSE_AR", kToBspstore, kRseAr, 6, Bubble::stack, "ISI 4"},
    {"mov =ar.bspstore", "mov ar.rnat=", kFromBspstore, kToRnat, 8, Bubble::application, "ISI 4"},
    {"mov =ar.bsp", "mov ar.rnat=", kFromBsp, kToRnat, 8, Bubble::application, "ISI 4"},
    {"mov =ar.rnat/ar.unat", "mov ar.rnat/ar.unat=", kFromRnat | kFromUnat, kToRnat | kToUnat, 6,
     Bubble::application, "ISI 4"},
    {"mov ar.rnat/ar.unat=", "mov =ar.rnat/ar.unat", kToRnat | kToUnat, kFromRnat | kFromUnat, 6,
     Bubble::application, "ISI 4"},
    {"mov =ar.unat", "FP_OP", kFromUnat, kFpOp, 6, Bubble::application, "ISI 4"},
    {"mov ar.bspstore=", "flushrs", kToBspstore, kFlushrs, 12, Bubble::stack, "ISI 4"},
    {"mov ar.rsc=", "loadrs", kToRsc, kLoadrs, 12, Bubble::stack, "ISI 4"},
    {"mov ar.bspstore=", "loadrs", kToBspstore, kLoadrs, 12, Bubble::stack, "ISI 4"},
    {"mov =ar.bspstore", "loadrs", kFromBspstore, kLoadrs, 2, Bubble::stack, "ISI 4"},
    {"loadrs", "loadrs", kLoadrs, kLoadrs, 8, Bubble::stack, "ISI 4"},
    {"epc", "ANY", kEpc, kAny, 1, Bubble::flush, "ISI 5"},
    {"bsw", "ANY", kBsw, kAny, 6, Bubble::stack, "ISI 5"},
    {"rfi", "ANY", kRfi, kAny, 13, Bubble::flush, "ISI 5"},
    {"srlz.d", "ANY", kSrlzD, kAny, 1, Bubble::flush, "ISI 5"},
    {"srlz.i", "ANY", kSrlzI, kAny, 12, Bubble::flush, "ISI 5"},
    {"sum/rum/mov psr.um=", "ANY", kToUserMask, kAny, 5, Bubble::application, "ISI 5"},
    {"sum/rum/mov psr.um=", "srlz", kToUserMask, kSrlz, 10, Bubble::application, "ISI 5"},
    {"ssm/rsm/mov psr.l=", "srlz", kToStatus, kSrlz, 5, Bubble::application, "ISI 5"},
    {"mov =psr.um/psr", "srlz", kFromStatus, kSrlz, 2, Bubble::application, "ISI 5"},
    {"mov pkr/rr=", "srlz/sync/fwb/mf/invala", kToRegion, kSrlz | kSerial, 14, Bubble::application,
     "ISI 5"},
};

}  // namespace

std::span<const ClassRow> class_rows() {
  return kRows;
}
std::span<const PairRow> pair_rows() {
  return kPairs;
}

unsigned latency(IssueClass from, Use use) {
  using C = IssueClass;
  const bool multimedia = from == C::mmalua || from == C::mmmul || from == C::mmshf;
  if (use == Use::branch) {
    if (from == C::fcmp) return 1;
    return from == C::to_ar_m ? 5 : 0;
  }
  if (from == C::load && (use == Use::address || use == Use::multimedia)) return 2;
  if (from == C::ialu && use == Use::multimedia) return 3;
  if (multimedia && (use == Use::integer_or_memory || use == Use::address)) return 3;
  if (from == C::setf && use == Use::float_exchange) return 6;
  return kRows[static_cast<size_t>(from)].latency;
}

unsigned longest_latency(IssueClass from) {
  unsigned longest = 0;
  for (unsigned use = 0; use < kUses; ++use)
    longest = std::max(longest, latency(from, static_cast<Use>(use)));
  return longest;
}

}  // namespace respike::measure::itanium2

// Issue of the Itanium 2: two bundles a cycle, in order, according to templates and stops.
//
// A cycle disperses the instructions of a window of two bundles, in order, up to the first stop,
// the first instruction that finds no port, or a rule that splits issue. The next window begins
// with the remaining instructions. Groups end at stops and taken branches. So a group costs one
// cycle, and one more for each split. If an operand is not ready, all instructions that the cycle
// dispersed wait together.
//
// Example: a group MII MII with four sign extensions (sxt4), which need I0 or I1: the third sxt4
// finds no port, so issue is split and the group costs two cycles.
//
// Ports (GCC, which quotes Intel's manual; see instruction.cc for sources). M0 and M1 load, M2 and
// M3 store; other M instructions take any M port that loads and stores leave free, which the
// measurements of ISI confirm. The first I instruction goes to I0, the second to I1, further
// instructions of type A to M ports; some instructions can only go to I0. The F slot of the first
// bundle is F0, the F slot of the second F1. A long instruction takes I0 and F0 in the first
// bundle, I1 and F1 in the second. Bundles MBB and BBB are the last of their cycle, and so are MIB,
// MFB and MMB with a branch in them; BBB does not follow a bundle with a B slot. ISI 5.3.3: issue
// is split after srlz, sync and mov =ar.unat; before mf; between mov =ar.bsp and an instruction on
// a B unit; and between an instruction on an M unit and fwb.
//
// Fetch delivers aligned pairs of bundles (memory). Fetch runs ahead, but not past a taken branch:
// if the target is the second bundle of its pair, the first window there has only one bundle.
//
// Inside a group, the only dependences are those of branches on compares, so only branches wait for
// results of their own group. A wait from tables 4 and 5 can be inside a group, and splits it.
//
// Not modelled: stalls of data caches and of the queues of slow registers, write-after-write
// delays, false predicates.

#include "models/itanium2/issue.h"

#include <algorithm>

namespace respike::measure::itanium2 {
namespace {

constexpr unsigned kOldest = 40;  // ages stop here: longer than any latency

uint8_t older(uint8_t age, unsigned cycles) {
  return static_cast<uint8_t>(std::min(age + cycles, kOldest));
}

unsigned longest_pair(KindSet kind) {
  unsigned longest = 0;
  for (const PairRow& row : pair_rows())
    if ((row.from_kinds & kind) != 0) longest = std::max<unsigned>(longest, row.cycles);
  return longest;
}

KindSet all_from_kinds() {
  static const KindSet kinds = [] {
    KindSet all = 0;
    for (const PairRow& row : pair_rows()) all |= row.from_kinds;
    return all;
  }();
  return kinds;
}

Bubble bubble_of(uint16_t number) {
  if (number < kFloatingRegister) return Bubble::general;
  if (number < kPredicateRegister) return Bubble::floating;
  if (number < kApplicationRegister || number == kAllPredicates) return Bubble::predicate;
  return Bubble::application;
}

}  // namespace

IssueCycles IssueState::issue(std::span<const IssueInstruction> code, bool odd) {
  IssueCycles cycles;
  for (const IssueInstruction& instruction : code) {
    if (instruction.first && &instruction != code.data()) odd = !odd;
    if (!group_open_) {
      begin_group();
      ++cycles.groups;
    }
    disperse(instruction, odd, cycles);
    wait_for_kinds(instruction, cycles);
    wait_for_operands(instruction, cycles);
    deliver(instruction);
    if (instruction.ends_cycle) window_.closed = true;
    if (instruction.stop) group_open_ = false;
  }
  return cycles;
}

void IssueState::branch() {
  group_open_ = false;
  fetching_ = true;
}

void IssueState::forget_stacked() {
  std::erase_if(flights_, [](const Flight& f) { return f.number >= 32 && f.number < 128; });
}

void IssueState::rotate() {
  for (Flight& f : flights_) {
    const auto turn = [&](uint16_t from, uint16_t size) {
      if (f.number >= from && f.number < from + size)
        f.number = static_cast<uint16_t>(from + (f.number - from + 1) % size);
    };
    turn(kGeneralRegister + 32, 96);
    turn(kFloatingRegister + 32, 96);
    turn(kPredicateRegister + 16, 48);
  }
  std::sort(flights_.begin(), flights_.end());
}

void IssueState::simplify() {
  if (!group_open_)
    for (Flight& f : flights_) f.in_group = false;
  // When can a result still delay an instruction? A result of the open group delays branches of the
  // group, and other instructions from the next cycle on. A result of an earlier group delays
  // instructions in this cycle, if the group is still open. Multimedia instructions, the only ones
  // that wait longer for integer results, are ignored here.
  std::erase_if(flights_, [&](const Flight& f) {
    const unsigned longest = f.writer == IssueClass::ialu ? 1 : longest_latency(f.writer);
    const bool matters_to_branch = f.in_group && latency(f.writer, Use::branch) > f.age;
    const unsigned earliest = group_open_ && !f.in_group ? f.age : f.age + 1u;
    return earliest >= longest && !matters_to_branch;
  });
  std::erase_if(recent_, [](const Recent& r) { return r.age >= longest_pair(r.kind); });
  // The contents of a closed window do not matter, since no instruction can enter it.
  if (!group_open_ || window_.closed) {
    window_ = {};
    window_.closed = true;
  }
}

void IssueState::next_cycle(unsigned cycles) {
  for (Flight& f : flights_) f.age = older(f.age, cycles);
  for (Recent& r : recent_) r.age = older(r.age, cycles);
}

void IssueState::new_window() {
  window_ = {};
}

void IssueState::begin_group() {
  next_cycle(1);
  new_window();
  group_open_ = true;
  for (Flight& f : flights_) f.in_group = false;
}

/// Puts the instruction into the window, or into a new window.
void IssueState::disperse(const IssueInstruction& instruction, bool odd, IssueCycles& cycles) {
  const bool one_bundle = window_.limit == 1;
  if (!window_.closed && enters_bundle(instruction, odd) && fits(instruction))
    return take_ports(instruction);
  const bool is_target = one_bundle && !window_.closed && window_.bundles > 1;
  ++(is_target ? cycles.targets : cycles.splits);
  next_cycle(1);
  new_window();
  window_.bundles = 1;
  take_ports(instruction);
}

/// Whether the window has room; counts the bundle if the instruction begins one.
bool IssueState::enters_bundle(const IssueInstruction& instruction, bool odd) {
  if (!instruction.first && window_.bundles > 0) return true;
  if (fetching_ && window_.bundles == 0) window_.limit = odd ? 1 : 2;
  fetching_ = false;
  if (instruction.three_b && window_.had_branch_slot) return false;
  return ++window_.bundles <= window_.limit;
}

bool IssueState::fits(const IssueInstruction& instruction) const {
  const Window& w = window_;
  const bool room_m = w.m < 4;
  if (instruction.begins_cycle && w.m + w.i + w.f > 0) return false;
  if (instruction.is_fwb && w.m > 0) return false;
  switch (instruction.ports) {
    case Ports::m:
      return room_m;
    case Ports::load:
      return room_m && w.load < 2;
    case Ports::store:
      return room_m && w.store < 2;
    case Ports::m0:
      return room_m && w.load < 2 && w.m0 == 0;
    case Ports::m2:
      return room_m && w.store < 2 && w.m2 == 0;
    case Ports::i:
      return w.i < 2;
    case Ports::i0:
      return w.i == 0;
    case Ports::i_or_m:
      return w.i < 2 || room_m;
    case Ports::f:
      return true;
    case Ports::long_i:
      return w.bundles == 1 ? w.i == 0 : w.i < 2;
    case Ports::branch:
    case Ports::no_branch:
      return !w.reads_bsp;
  }
  return true;
}

void IssueState::take_ports(const IssueInstruction& instruction) {
  Window& w = window_;
  switch (instruction.ports) {
    case Ports::m0:
      ++w.m0;
      [[fallthrough]];
    case Ports::load:
      ++w.load;
      ++w.m;
      break;
    case Ports::m2:
      ++w.m2;
      [[fallthrough]];
    case Ports::store:
      ++w.store;
      [[fallthrough]];
    case Ports::m:
      ++w.m;
      break;
    case Ports::i_or_m:
      ++(w.i < 2 ? w.i : w.m);
      break;
    case Ports::i:
    case Ports::i0:
      ++w.i;
      break;
    case Ports::long_i:
      w.i = w.bundles == 1 ? 1 : 2;
      ++w.f;
      break;
    case Ports::f:
      ++w.f;
      break;
    case Ports::branch:
    case Ports::no_branch:
      w.had_branch_slot = true;
      break;
  }
  w.reads_bsp |= instruction.reads_bsp;
}

/// Waits for the pairs of tables 4 and 5. If the partner was dispersed in the same cycle, the
/// partner goes ahead and `instruction` follows later.
void IssueState::wait_for_kinds(const IssueInstruction& instruction, IssueCycles& cycles) {
  if (recent_.empty() || instruction.kinds == 0) return;
  unsigned longest = 0;
  Bubble bubble = Bubble::flush;
  for (const PairRow& row : pair_rows()) {
    if ((row.to_kinds & instruction.kinds) == 0) continue;
    for (const Recent& r : recent_) {
      if ((row.from_kinds & r.kind) == 0 || r.age >= row.cycles) continue;
      const unsigned wait = row.cycles - r.age;
      if (wait <= longest) continue;
      longest = wait;
      bubble = row.bubble;
    }
  }
  if (longest == 0) return;
  cycles.waits[static_cast<size_t>(bubble)] += longest;
  next_cycle(longest);
}

void IssueState::wait_for_operands(const IssueInstruction& instruction, IssueCycles& cycles) {
  unsigned longest = 0;
  Bubble bubble = Bubble::general;
  for (unsigned i = 0; i < instruction.use_count; ++i) {
    const Operand& use = instruction.uses[i];
    for (const Flight& f : flights_) {
      const bool one_of_all = (use.number == kAllPredicates || f.number == kAllPredicates) &&
                              bubble_of(use.number) == Bubble::predicate &&
                              bubble_of(f.number) == Bubble::predicate;
      if (f.number != use.number && !one_of_all) continue;
      if (f.in_group && use.use != Use::branch) continue;
      const unsigned needed = latency(f.writer, use.use);
      if (needed <= f.age || needed - f.age <= longest) continue;
      longest = needed - f.age;
      bubble = bubble_of(f.number);
    }
  }
  if (longest == 0) return;
  cycles.waits[static_cast<size_t>(bubble)] += longest;
  // Instructions of this cycle wait as well, except compares for which a branch waits: they went
  // ahead.
  for (Flight& f : flights_)
    if (!f.in_group || f.age > 0 || instruction.ports == Ports::branch)
      f.age = older(f.age, longest);
  for (Recent& r : recent_)
    if (r.age > 0) r.age = older(r.age, longest);
}

void IssueState::deliver(const IssueInstruction& instruction) {
  for (unsigned i = 0; i < instruction.result_count; ++i) {
    const Operand& result = instruction.results[i];
    std::erase_if(flights_, [&](const Flight& f) { return f.number == result.number; });
    const Flight flight = {result.number, result.writer, 0, true};
    flights_.insert(std::lower_bound(flights_.begin(), flights_.end(), flight), flight);
  }
  const KindSet kinds = instruction.kinds & all_from_kinds();
  for (KindSet rest = kinds; rest != 0; rest &= rest - 1) {
    const KindSet kind = rest & (0u - rest);
    std::erase_if(recent_, [&](const Recent& r) { return r.kind == kind; });
    const Recent recent = {kind, 0};
    recent_.insert(std::lower_bound(recent_.begin(), recent_.end(), recent), recent);
  }
}

}  // namespace respike::measure::itanium2

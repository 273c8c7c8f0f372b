// Descriptors of unwind regions (region_encoding.h): code is cut into regions, prologues and
// bodies, each with a length in slots. Descriptors of a prologue say where registers are saved, and
// by which of its slots; descriptors of a body say where the frame goes away, or give the state a
// label or the state of a label. Prologues nest: the end of an epilogue restores the previous
// state.
//
// Example: a prologue of 6 slots saves b0 in r33 by slot 2, and a body of 30 slots follows: rows
// start at slot 0 (b0 holds the return address) and at slot 3 (r33 holds it).
//
// The meaning of a descriptor is the effect that it has in libgcc's unwinder
// (libgcc/config/ia64/unwind-ia64.c), because that is what runs; the unwinders of the Linux kernel
// and of libunwind have the same ancestor. libgcc executes the regions up to the region of its
// target, a slot, with all their descriptors. Then it believes the places whose `when`, the slot
// that fills them, is before the target. So a region is executed here once, and the state is taken
// at its start and after every `when` in it. Only explicit places (formats X1, X2) look at the
// target while they are executed: a region that has such places is executed again for each state.
//
// Peculiarities of libgcc that are kept: a time beyond its region counts as the region's last slot,
// which in an empty region is the slot before it; a second place for a register takes the time of
// the first; in an epilogue, saves below the previous stack pointer stay believed; implicit saves
// are resolved only when another region follows. A return address that an epilogue took from memory
// counts as being in its branch register again, though unwinders find it nowhere.
//
// States name places by CFA, the previous stack pointer. A place relative to the stack pointer
// becomes relative to the CFA when the size of the frame is known, and an expression otherwise. The
// file is not trusted: nesting and labels have limits far above what compilers write.

#include "optimizer/unwind/ia64/descriptor_reader.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "optimizer/base/bytes.h"
#include "optimizer/unwind/ia64/descriptor_decoder.h"
#include "optimizer/unwind/ia64/region_encoding.h"

namespace respike {
namespace {

using namespace regions;

constexpr int64_t kNever = INT64_MAX;
constexpr unsigned kMaxNesting = 64;
constexpr size_t kMaxLabels = 4096;

/// Where a register is, once slot `when` has been executed.
struct Place {
  Where where = Where::none;
  int64_t when = kNever;
  int64_t value = 0;
};

/// An element of the stack of states.
struct Frame {
  Place places[kPlaces];
  std::shared_ptr<const Frame> outer;
  unsigned depth = 0;
};

class Unwinder {
 public:
  void enter(const Region& region);
  /// Executes the region for an unwinder whose target is slot `target` in the region, or its end.
  void execute(const Region& region, int64_t target);
  CfiState state_at(int64_t target) const;
  /// The slots in the region at which the state may change.
  std::set<int64_t> changes(const Region& region) const;

 private:
  void execute(const Region& region, const Descriptor& descriptor, int64_t target);
  void set(const Region& region, const Descriptor& descriptor);
  void copy(uint64_t label);
  void finish_prologue(const Region& region);
  void time_spills(const Region& region);
  void lay_out_spills();
  void find_frame(const Place& place, CfiState& state) const;
  CfiRule rule_of(const Place& place, const CfiState& state) const;
  size_t primary_nat(int64_t target) const;

  Frame current_;
  std::vector<std::pair<uint64_t, std::shared_ptr<const Frame>>> labelled_;
  int64_t epilogue_start_ = kNever;
  uint64_t epilogue_count_ = 0;
  int64_t return_branch_ = 0;
  // The spills of the current prologue.
  int64_t spill_offset_ = 0;
  std::span<const uint8_t> spill_times_;
};

void Unwinder::enter(const Region& region) {
  for (; epilogue_count_ != 0; --epilogue_count_) {
    if (current_.outer == nullptr) throw Error("unwind regions end more prologues than there are");
    current_ = Frame(*current_.outer);
  }
  epilogue_start_ = kNever;
  if (region.body) return;
  if (current_.depth == kMaxNesting) throw Error("unwind regions are nested too deeply");
  auto outer = std::make_shared<const Frame>(current_);
  current_.outer = std::move(outer);
  ++current_.depth;
  spill_offset_ = kScratchArea;
  spill_times_ = {};
}

void Unwinder::execute(const Region& region, int64_t target) {
  for (const Descriptor& descriptor : region.descriptors) execute(region, descriptor, target);
  if (!region.body && !region.last) finish_prologue(region);
}

void Unwinder::execute(const Region& region, const Descriptor& descriptor, int64_t target) {
  using Kind = Descriptor::Kind;
  Place& place = current_.places[descriptor.index];
  switch (descriptor.kind) {
    case Kind::place:
      return set(region, descriptor);
    case Kind::time:
      if (place.where == Where::none && descriptor.index != kStackIndex)
        place.where = Where::next_general;
      place.when = region.clamp(descriptor.time);
      return;
    case Kind::frame_size: {
      Place& frame = current_.places[kStackIndex];
      frame.where = Where::none;
      frame.value = descriptor.value;
      if (frame.when == kNever) frame.when = region.clamp(descriptor.time);
      return;
    }
    case Kind::spill_base:
      spill_offset_ = descriptor.value;
      return;
    case Kind::spill_times:
      spill_times_ = descriptor.mask;
      return;
    case Kind::explicit_place:
      if (target > region.clamp(descriptor.time))
        place = {descriptor.where, region.clamp(descriptor.time), descriptor.value};
      return;
    case Kind::return_branch:
      return_branch_ = descriptor.value;
      return;
    case Kind::epilogue:
      epilogue_start_ = region.end() - 1 - descriptor.time;
      epilogue_count_ = static_cast<uint64_t>(descriptor.value) + 1;
      return;
    case Kind::label:
      if (labelled_.size() == kMaxLabels) throw Error("unwind regions have too many labels");
      labelled_.emplace_back(descriptor.value, std::make_shared<const Frame>(current_));
      return;
    case Kind::copy:
      return copy(static_cast<uint64_t>(descriptor.value));
  }
}

void Unwinder::set(const Region& region, const Descriptor& descriptor) {
  // The outermost frame has its return address in r0. Nothing else can be in r0.
  if (descriptor.where == Where::general && descriptor.value == 0 &&
      descriptor.index >= kFirstGeneral)
    throw Error("unwind regions save a register in one that cannot be");
  Place& place = current_.places[descriptor.index];
  place.where = descriptor.where;
  place.value = descriptor.value;
  if (place.when == kNever) place.when = region.end() - 1;
}

void Unwinder::copy(uint64_t label) {
  for (size_t i = labelled_.size(); i-- > 0;)
    if (labelled_[i].first == label) {
      current_ = *labelled_[i].second;
      return;
    }
  throw Error("unwind regions name a label that is not there");
}

void Unwinder::finish_prologue(const Region& region) {
  int64_t general = region.first_general;
  for (const uint32_t number : kSaveOrder) {
    Place& place = current_.places[index_of_special(number)];
    if (place.where != Where::next_general) continue;
    place.where = Where::general;
    place.value = general++;
  }
  time_spills(region);
  lay_out_spills();
}

/// Two bits for each slot give the kind of register that it spills; registers of a kind are spilled
/// in order.
void Unwinder::time_spills(const Region& region) {
  if (spill_times_.empty()) return;
  constexpr size_t kEnds[] = {kFirstBranch, kFirstFloating, kPlaces};
  size_t next[] = {kFirstFloating, kFirstGeneral, kFirstBranch};
  for (int64_t slot = 0; slot < region.length; ++slot) {
    const unsigned kind = spill_times_[slot / 4] >> 2 * (3 - slot % 4) & 3;
    if (kind == 0) continue;
    size_t& index = next[kind - 1];
    while (index < kEnds[kind - 1] && current_.places[index].where != Where::spill_home) ++index;
    if (index == kEnds[kind - 1]) throw Error("an unwind region spills more than it says");
    current_.places[index++].when = region.start + slot;
  }
}

void Unwinder::lay_out_spills() {
  int64_t offset = spill_offset_;
  const auto lay_out = [&](size_t first, size_t end, int64_t size) {
    for (size_t index = end; index-- > first;) {
      Place& place = current_.places[index];
      if (place.where != Where::spill_home) continue;
      offset -= size;
      place.where = Where::previous;
      place.value = offset;
    }
  };
  lay_out(kFirstFloating, kFirstBranch, 16);
  lay_out(kFirstBranch, kPlaces, 8);
  lay_out(kFirstGeneral, kFirstFloating, 8);
}

/// The word of NaT bits has two places: the place that was filled last counts.
size_t Unwinder::primary_nat(int64_t target) const {
  const int64_t in_general = current_.places[kPrimaryNatInGeneral].when;
  const int64_t in_memory = current_.places[kPrimaryNatInMemory].when;
  if (target < in_general) return kPrimaryNatInMemory;
  if (target < in_memory) return kPrimaryNatInGeneral;
  return in_memory > in_general ? kPrimaryNatInMemory : kPrimaryNatInGeneral;
}

CfiState Unwinder::state_at(int64_t target) const {
  Place places[kPlaces];
  std::copy(std::begin(current_.places), std::end(current_.places), places);
  if (target > epilogue_start_) {
    places[kStackIndex].where = Where::none;
    places[kStackIndex].value = 0;
    for (Place& place : places)
      if (place.where == Where::stack ||
          (place.where == Where::previous && place.value >= 0 && place.value <= kScratchArea))
        place.where = Where::none;
  }
  Place& return_place = places[kReturnIndex];
  if (return_place.when >= target || return_place.where == Where::none)
    return_place = {Where::branch, -1, return_branch_};

  CfiState state;
  find_frame(target > places[kStackIndex].when ? places[kStackIndex] : Place{}, state);
  for (size_t index = 0; index < kPlaces; ++index) {
    const Place& place = places[index];
    if (index == kStackIndex || place.where == Where::none || place.when >= target) continue;
    if (number_of(index) == kPrimaryNat && index != primary_nat(target)) continue;
    CfiRule rule = rule_of(place, state);
    if (index == kReturnIndex && rule.kind == CfiRule::Kind::in_register &&
        rule.value == kReturnAddress)
      continue;  // b0 holds it even without a rule
    state.rules.emplace_back(number_of(index), std::move(rule));
  }
  std::sort(state.rules.begin(), state.rules.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return state;
}

std::vector<uint8_t> stack_place(int64_t offset) {
  ByteWriter out;
  out.write<uint8_t>(dwarf_op::kRegisterOffset + kStackPointer);
  out.sleb128(offset);
  return std::move(out.bytes());
}

void Unwinder::find_frame(const Place& place, CfiState& state) const {
  switch (place.where) {
    case Where::none:
      state.cfa_register = kStackPointer;
      state.cfa_offset = place.value;
      return;
    case Where::general:
      state.cfa_register = static_cast<uint64_t>(rule_of(place, state).value);
      return;
    case Where::stack:
    case Where::previous:  // not known yet: the stack pointer replaces it
      if (place.value < 0)
        throw Error("unwind regions keep the previous stack pointer where none can be");
      state.cfa_is_expression = true;
      state.cfa_expression = stack_place(place.value);
      state.cfa_expression.push_back(dwarf_op::kDereference);
      return;
    default:
      throw Error("unwind regions keep the previous stack pointer where none can be");
  }
}

CfiRule Unwinder::rule_of(const Place& place, const CfiState& state) const {
  using Kind = CfiRule::Kind;
  switch (place.where) {
    case Where::general:
      if (place.value == 1 || place.value > 127)
        throw Error("unwind regions save a register in one that cannot be");
      return {.kind = Kind::in_register, .value = kGeneral + place.value, .expression = {}};
    case Where::floating:
      if (place.value < 2 || place.value > 31)
        throw Error("unwind regions save a register in one that cannot be");
      return {.kind = Kind::in_register, .value = kFloating + place.value, .expression = {}};
    case Where::branch:
      if (place.value > 7) throw Error("unwind regions save a register in one that cannot be");
      return {.kind = Kind::in_register, .value = kBranch + place.value, .expression = {}};
    case Where::previous:
      return {.kind = Kind::offset, .value = place.value, .expression = {}};
    case Where::stack:
      if (!state.cfa_is_expression && state.cfa_register == kStackPointer)
        return {.kind = Kind::offset, .value = place.value - state.cfa_offset, .expression = {}};
      return {.kind = Kind::expression, .value = 0, .expression = stack_place(place.value)};
    default:
      throw Error("unwind regions leave a place open");
  }
}

std::set<int64_t> Unwinder::changes(const Region& region) const {
  std::set<int64_t> slots = {region.start};
  const auto add = [&](int64_t when) {
    if (when >= region.start && when < region.end() - 1) slots.insert(when + 1);
  };
  for (const Place& place : current_.places) add(place.when);
  for (const Descriptor& descriptor : region.descriptors)
    if (descriptor.kind == Descriptor::Kind::explicit_place) add(region.clamp(descriptor.time));
  add(epilogue_start_);
  return slots;
}

}  // namespace

std::vector<RegionRow> read_descriptors(std::span<const uint8_t> descriptors, uint64_t slots) {
  if (slots > kMaxLength) throw Error("an unwind region is too long");
  std::vector<RegionRow> rows;
  const auto add_row = [&](const Unwinder& unwinder, int64_t slot) {
    if (static_cast<uint64_t>(slot) >= slots) return;
    CfiState state = unwinder.state_at(slot);
    if (rows.empty() || !(rows.back().state == state))
      rows.push_back({static_cast<uint64_t>(slot), std::move(state)});
  };
  Decoder decoder(descriptors);
  Unwinder unwinder;
  int64_t start = 0;
  while (!decoder.at_end() && static_cast<uint64_t>(start) < slots) {
    const Region region = decoder.next(start);
    unwinder.enter(region);
    const Unwinder before = unwinder;
    unwinder.execute(region, region.end());
    const bool depends =
        std::any_of(region.descriptors.begin(), region.descriptors.end(),
                    [](const Descriptor& d) { return d.kind == Descriptor::Kind::explicit_place; });
    if (region.length != 0)
      for (const int64_t slot : unwinder.changes(region)) {
        if (!depends) {
          add_row(unwinder, slot);
          continue;
        }
        Unwinder there = before;
        there.execute(region, slot);
        add_row(there, slot);
      }
    start = region.end();
  }
  add_row(unwinder, start);
  return rows;
}

}  // namespace respike

// Descriptors of unwind regions (region_encoding.h) for any sequence of states: compilers make
// prologue, body, epilogue; shuffled blocks and split procedures come in any order.
//
// A state is a set of places. A run of spans in which each state only adds places to the previous
// state becomes one prologue, with the times at which places are filled, and the last span of the
// run becomes its body. If the next state is what an epilogue leaves, the body continues with it.
// Any other state begins anew: an epilogue after the last slot of the body ends all prologues
// around it, and then an empty prologue, whose descriptors hold from its end on, fills all places
// of the next state. A state that comes back later gets a label in its body, and its later bodies
// copy it.
//
// Example: the states {}, {a frame of 32 bytes, b0 in r33}, {b0 in r33} with 4, 20 and 2 slots: a
// prologue of 4 slots that fills both places by its slot 3, a body of 22 slots whose last 2 are an
// epilogue.
//
// All this relies only on unwinder features that compilers' own regions use: empty prologues,
// nested prologues, labels. Registers have formats of their own where the conventions have one for
// general registers or memory; other registers are written as explicit places (X1, X2), with their
// time.

#include "optimizer/unwind/ia64/descriptor_writer.h"

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <vector>

#include "optimizer/unwind/ia64/region_encoding.h"

namespace respike {
namespace {

using namespace regions;

enum class Where : uint8_t {
  frame,    // of the previous stack pointer: the stack pointer + value
  general,  // in the register of that number
  floating,
  branch,
  previous,  // at the previous stack pointer + value
  stack,     // at the stack pointer + value
};

struct Place {
  uint32_t number = 0;  // of the saved register
  Where where{};
  int64_t value = 0;

  auto operator<=>(const Place&) const = default;
};
using Places = std::vector<Place>;  // sorted

// ---- States as sets of places.

[[noreturn]] void fail_to_express() {
  throw Error("an unwind state cannot be expressed by unwind regions");
}

const SpecialRegister* special_of(uint32_t number) {
  const auto found = std::find_if(std::begin(kSpecialRegisters), std::end(kSpecialRegisters),
                                  [&](const SpecialRegister& r) { return r.number == number; });
  return found == std::end(kSpecialRegisters) ? nullptr : found;
}

/// The number of a register in formats X1 and X2.
uint8_t operand_of(uint32_t number) {
  if (const SpecialRegister* special = special_of(number)) return special->operand;
  for (unsigned bit = 0; bit < kMaskedGeneral; ++bit)
    if (number == masked_general(bit)) return 0x04 + bit;
  for (unsigned bit = 0; bit < kMaskedFloating; ++bit)
    if (number == masked_floating(bit)) return bit < 4 ? 0x22 + bit : 0x30 + bit - 4;
  for (unsigned bit = 0; bit < kMaskedBranch; ++bit)
    if (number == masked_branch(bit)) return 0x41 + bit;
  fail_to_express();
}

Place in_memory(uint32_t number, Where where, int64_t value) {
  const int64_t scaled = where == Where::previous ? kScratchArea - value : value;
  if (scaled < 0 || scaled % 4 != 0) fail_to_express();
  return {number, where, value};
}

Place in_register(uint32_t number, uint64_t where) {
  if (where < kGeneral + 128) return {number, Where::general, static_cast<int64_t>(where)};
  if (where >= kFloating && where < kFloating + 128)
    return {number, Where::floating, static_cast<int64_t>(where - kFloating)};
  if (where >= kBranch && where < kBranch + 8)
    return {number, Where::branch, static_cast<int64_t>(where - kBranch)};
  fail_to_express();
}

/// The offset in an expression that ends in `tail` and means a place at the stack pointer + offset.
int64_t stack_offset(std::span<const uint8_t> expression, std::span<const uint8_t> tail) {
  ByteReader reader(expression, "an unwind expression");
  if (reader.read<uint8_t>() != dwarf_op::kRegisterOffset + kStackPointer) fail_to_express();
  const int64_t offset = reader.sleb128();
  const auto rest = reader.take(reader.remaining());
  if (!std::equal(rest.begin(), rest.end(), tail.begin(), tail.end())) fail_to_express();
  return offset;
}

std::optional<Place> frame_place(const CfiState& state) {
  constexpr uint8_t kTail[] = {dwarf_op::kDereference};
  if (state.cfa_is_expression)
    return in_memory(kPreviousStack, Where::stack, stack_offset(state.cfa_expression, kTail));
  if (state.cfa_register == kStackPointer) {
    if (state.cfa_offset == 0) return std::nullopt;
    if (state.cfa_offset < 0 || state.cfa_offset % kFrameUnit != 0) fail_to_express();
    return Place{kPreviousStack, Where::frame, state.cfa_offset};
  }
  if (state.cfa_register >= kGeneral + 128 || state.cfa_offset != 0) fail_to_express();
  return in_register(kPreviousStack, state.cfa_register);
}

std::optional<Place> rule_place(uint32_t number, const CfiRule& rule, const CfiState& state) {
  switch (rule.kind) {
    case CfiRule::Kind::same_value:
      return std::nullopt;
    case CfiRule::Kind::in_register:
      if (number == kReturnAddress && rule.value == kReturnAddress) return std::nullopt;
      return in_register(number, static_cast<uint64_t>(rule.value));
    case CfiRule::Kind::expression:
      return in_memory(number, Where::stack, stack_offset(rule.expression, {}));
    case CfiRule::Kind::offset:
      if (rule.value <= kScratchArea) return in_memory(number, Where::previous, rule.value);
      if (state.cfa_is_expression || state.cfa_register != kStackPointer) fail_to_express();
      return in_memory(number, Where::stack, rule.value + state.cfa_offset);
    default:
      fail_to_express();
  }
}

Places places_of(const CfiState& state) {
  Places places;
  const auto add = [&](const std::optional<Place>& place) {
    if (!place) return;
    operand_of(place->number);
    places.push_back(*place);
  };
  add(frame_place(state));
  for (const auto& [number, rule] : state.rules) add(rule_place(number, rule, state));
  std::sort(places.begin(), places.end());
  return places;
}

bool extends(const Places& more, const Places& less) {
  return std::includes(more.begin(), more.end(), less.begin(), less.end());
}

/// The places that unwinders still trust in an epilogue.
Places left_by_epilogue(Places places) {
  std::erase_if(places, [](const Place& place) {
    return place.number == kPreviousStack || place.where == Where::stack ||
           (place.where == Where::previous && place.value >= 0 && place.value <= kScratchArea);
  });
  return places;
}

// ---- Writing.

class RegionWriter {
 public:
  RegionWriter(const UnwindTables& tables, std::span<const RegionSpan> spans, ByteWriter& out)
      : spans_(spans), out_(out) {
    for (size_t i = 0; i < spans.size(); ++i) {
      last_[spans[i].state] = i;
      if (!places_.contains(spans[i].state))
        places_[spans[i].state] = places_of(tables.states[spans[i].state]);
    }
  }

  void write();

 private:
  struct Label {
    uint64_t number = 0;
    unsigned depth = 0;
  };
  struct Addition {
    Place place;
    uint64_t time = 0;  // the slot of the prologue that fills the place
  };

  const Places& places(size_t span) const { return places_.at(spans_[span].state); }
  size_t end_of_run(size_t first) const;
  void write_prologues(size_t first, size_t last);
  void write_body(size_t span, const Label* copied);
  void end_prologues(uint64_t slots_before_end);
  void write_header(bool body, uint64_t slots);
  void write_prologue(uint64_t slots, std::span<const Addition> added);
  void write_place(const Place& place, uint64_t time, bool timed, bool located);
  void write_explicit(const Place& place, uint64_t time);
  void write_coded(uint8_t code, uint64_t operand);
  void write_label(uint8_t brief, uint8_t full, uint64_t number);

  std::span<const RegionSpan> spans_;
  ByteWriter& out_;
  std::map<uint32_t, Places> places_;  // by state
  std::map<uint32_t, size_t> last_;    // state -> its last span
  std::map<uint32_t, Label> labels_;   // by state
  // The places at the start of the next region.
  Places current_;
  unsigned depth_ = 0;  // of nested prologues
};

void RegionWriter::write() {
  for (size_t span = 0; span < spans_.size(); ++span) {
    const auto label = labels_.find(spans_[span].state);
    const Label* copied = label == labels_.end() ? nullptr : &label->second;
    if (copied == nullptr) {
      if (!extends(places(span), current_)) end_prologues(0);
      const size_t last = end_of_run(span);
      write_prologues(span, last);
      span = last;
    }
    const bool epilogue = span + 1 < spans_.size() && places(span) != places(span + 1) &&
                          (depth_ != 0 || copied != nullptr) &&
                          places(span + 1) == left_by_epilogue(places(span));
    write_header(true, spans_[span].slots + (epilogue ? spans_[span + 1].slots : 0));
    write_body(span, copied);
    if (epilogue) end_prologues(spans_[++span].slots);
  }
}

/// The last span of the run that starts at `first`: each span only adds places and has no label
/// yet.
size_t RegionWriter::end_of_run(size_t first) const {
  size_t last = first;
  while (last + 1 < spans_.size() && extends(places(last + 1), places(last)) &&
         !labels_.contains(spans_[last + 1].state))
    ++last;
  return last;
}

/// Leads from the current state to the state of the body `last`, through the spans before it.
void RegionWriter::write_prologues(size_t first, size_t last) {
  const auto additions = [&](const Places& from, const Places& to, uint64_t time,
                             std::vector<Addition>& added) {
    for (const Place& place : to)
      if (!std::binary_search(from.begin(), from.end(), place)) added.push_back({place, time});
  };
  std::vector<Addition> added;
  additions(current_, places(first), 0, added);
  if (!added.empty()) write_prologue(0, added);
  uint64_t slots = 0;
  added.clear();
  for (size_t span = first; span < last; ++span) {
    slots += spans_[span].slots;
    additions(places(span), places(span + 1), slots - 1, added);
  }
  if (slots != 0) write_prologue(slots, added);
  current_ = places(last);
}

/// Writes a prologue of `slots` slots with places that are filled at times. Consecutive general
/// registers may be a part of its header.
void RegionWriter::write_prologue(uint64_t slots, std::span<const Addition> added) {
  constexpr unsigned kInHeader = 4;
  ++depth_;
  unsigned mask = 0, count = 0;
  int64_t general = 0;
  for (unsigned i = 0; i < kInHeader; ++i)
    for (const auto& [place, time] : added) {
      if (place.number != kSaveOrder[i] || place.where != Where::general) continue;
      if (count == 0) general = place.value;
      if (place.value != general + count) continue;
      mask |= 8 >> i;
      ++count;
    }
  if (count < 2) mask = 0;
  if (mask == 0) {
    write_header(false, slots);
  } else {
    out_.write<uint8_t>(kR2 | mask >> 1);
    out_.write<uint8_t>((mask & 1) << 7 | general);
    out_.uleb128(slots);
  }
  for (const auto& [place, time] : added) {
    bool located = false;
    for (unsigned i = 0; i < kInHeader; ++i)
      located |= (mask & 8 >> i) != 0 && place.number == kSaveOrder[i];
    write_place(place, time, time + 1 < slots, located);
  }
}

void RegionWriter::write_header(bool body, uint64_t slots) {
  if (slots <= kShortMask) {
    out_.write<uint8_t>(kR1 | (body ? kR1Body : 0) | slots);
  } else {
    out_.write<uint8_t>(kR3 | (body ? 1 : 0));
    out_.uleb128(slots);
  }
}

/// `timed`: another slot than the region's last fills the place; `located`: the header gives the
/// place.
void RegionWriter::write_place(const Place& place, uint64_t time, bool timed, bool located) {
  const SpecialRegister* special = special_of(place.number);
  if (place.where == Where::frame) {
    out_.write<uint8_t>(kP7 | kFrameSizeCode);
    out_.uleb128(time);
    out_.uleb128(static_cast<uint64_t>(place.value / kFrameUnit));
    return;
  }
  const bool memory = place.where == Where::previous || place.where == Where::stack;
  const uint8_t code = special == nullptr               ? kNoCode
                       : place.where == Where::previous ? special->from_previous
                       : place.where == Where::stack    ? special->from_stack
                                                        : special->when;
  if (code == kNoCode || (!memory && place.where != Where::general))
    return write_explicit(place, time);
  if (memory) {
    write_coded(code, static_cast<uint64_t>(place.where == Where::stack
                                                ? place.value / 4
                                                : (kScratchArea - place.value) / 4));
  } else if (!located) {
    out_.write<uint8_t>(kInGeneral | special->in_general >> 1);
    out_.write<uint8_t>((special->in_general & 1) << 7 | place.value);
  }
  if (timed)
    write_coded(place.number == kPrimaryNat && memory ? kPrimaryNatInMemoryCode : special->when,
                time);
}

void RegionWriter::write_coded(uint8_t code, uint64_t operand) {
  if (code < 16) {
    out_.write<uint8_t>(kP7 | code);
  } else {
    out_.write<uint8_t>(kP8);
    out_.write<uint8_t>(code - 16);
  }
  out_.uleb128(operand);
}

void RegionWriter::write_explicit(const Place& place, uint64_t time) {
  constexpr uint8_t kHigh = 0x80;  // of the first byte: stack pointer, branch register
  const bool memory = place.where == Where::previous || place.where == Where::stack;
  const bool high = place.where == Where::stack || place.where == Where::branch;
  out_.write<uint8_t>(memory ? kSpillMemory : kSpillRegister);
  out_.write<uint8_t>(operand_of(place.number) | (high ? kHigh : 0));
  if (!memory) {
    if (place.where == Where::general && place.value == 0) fail_to_express();
    out_.write<uint8_t>(place.value | (place.where == Where::floating ? kHigh : 0));
  }
  out_.uleb128(time);
  if (memory)
    out_.uleb128(static_cast<uint64_t>(
        (place.where == Where::stack ? place.value : kScratchArea - place.value) / 4));
}

/// Writes the label of a body, or the label that it copies, after its header.
void RegionWriter::write_body(size_t span, const Label* copied) {
  const uint32_t state = spans_[span].state;
  if (copied != nullptr) {
    write_label(kCopyState, kLongCopyState, copied->number);
    depth_ = copied->depth;
    current_ = places(span);
  } else if (last_.at(state) > span) {
    const Label label{labels_.size() + 1, depth_};
    write_label(kLabelState, kLongLabelState, label.number);
    labels_[state] = label;
  }
}

void RegionWriter::write_label(uint8_t brief, uint8_t full, uint64_t number) {
  if (number <= kShortMask) {
    out_.write<uint8_t>(brief | number);
  } else {
    out_.write<uint8_t>(full);
    out_.uleb128(number);
  }
}

/// Ends all prologues in the body written last: its last `slots` are an epilogue, after which no
/// place is left.
void RegionWriter::end_prologues(uint64_t slots) {
  current_.clear();
  if (depth_ == 0) return;
  const unsigned count = depth_ - 1;
  depth_ = 0;
  if (count <= kShortMask) {
    out_.write<uint8_t>(kEpilogue | count);
    out_.uleb128(slots);
  } else {
    out_.write<uint8_t>(kLongEpilogue);
    out_.uleb128(slots);
    out_.uleb128(count);
  }
}

}  // namespace

void write_descriptors(const UnwindTables& tables, std::span<const RegionSpan> spans,
                       ByteWriter& out) {
  RegionWriter(tables, spans, out).write();
}

}  // namespace respike

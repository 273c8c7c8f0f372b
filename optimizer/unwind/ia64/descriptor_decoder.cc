// The formats of unwind descriptors (region_encoding.h; appendix B of the conventions). A first
// byte below 0x80 starts a region; the meaning of any other first byte depends on whether the
// region is a prologue or a body. A descriptor for several registers, a mask, becomes one
// descriptor for each.
//
// Example: in a prologue 0x87 (format P1) says that b1, b2 and b3 are spilled: three descriptors.
//
// Formats with a predicate (X3, X4) and formats of other conventions (P10) are not understood:
// there, a register's place depends on more than the place in the code. The file is not trusted:
// numbers and the number of descriptors in a region have limits.

#include "optimizer/unwind/ia64/descriptor_decoder.h"

#include <utility>

namespace respike::regions {
namespace {

constexpr size_t kMaxDescriptors = 128;  // of a region

int64_t bounded(uint64_t value) {
  if (value > kMaxLength) throw Error("a number in unwind regions is too large");
  return static_cast<int64_t>(value);
}

size_t index_of_operand(uint8_t operand, bool memory) {
  if (operand == kSpecialRegisters[kPrimaryNatInGeneral].operand)
    return memory ? kPrimaryNatInMemory : kPrimaryNatInGeneral;
  for (size_t i = 0; i < kSpecials; ++i)
    if (kSpecialRegisters[i].operand == operand) return i;
  if (operand >= 0x04 && operand <= 0x07) return kFirstGeneral + operand - 0x04;
  if (operand >= 0x22 && operand <= 0x25) return kFirstFloating + operand - 0x22;
  if (operand >= 0x30 && operand <= 0x3f) return kFirstFloating + 4 + operand - 0x30;
  if (operand >= 0x41 && operand <= 0x45) return kFirstBranch + operand - 0x41;
  throw Error("unwind regions name an unknown register");
}

}  // namespace

uint32_t number_of(size_t index) {
  if (index < kSpecials) return kSpecialRegisters[index].number;
  if (index == kPrimaryNatInMemory) return kPrimaryNat;
  if (index < kFirstFloating) return masked_general(index - kFirstGeneral);
  if (index < kFirstBranch) return masked_floating(index - kFirstFloating);
  return masked_branch(index - kFirstBranch);
}

int64_t Decoder::number() {
  return bounded(reader_.uleb128());
}

Region Decoder::next(int64_t start) {
  region_ = Region{};
  region_.start = start;
  header(byte());
  while (!at_end() && peek() >= kBranchSpills) {
    const uint8_t code = byte();
    region_.body ? body_descriptor(code) : prologue_descriptor(code);
  }
  region_.last = at_end();
  return std::move(region_);
}

void Decoder::header(uint8_t code) {
  if (code >= kBranchSpills) throw Error("unwind descriptors lie outside of regions");
  if (code >= kR3) {
    region_.body = (code & 3) == 1;
    region_.length = number();
  } else if (code >= kR2) {
    const uint8_t second = byte();
    region_.length = number();
    save_in_order((code & 7) << 1 | second >> 7, second & 0x7f);
  } else {
    region_.body = (code & kR1Body) != 0;
    region_.length = code & kShortMask;
  }
}

void Decoder::save_in_order(unsigned mask, uint8_t general) {
  for (unsigned i = 0; i < 4; ++i)
    if ((mask & (8 >> i)) != 0)
      add({.kind = Kind::place,
           .where = Where::general,
           .index = index_of_special(kSaveOrder[i]),
           .value = general++});
  region_.first_general = general;
}

void Decoder::add(Descriptor descriptor) {
  if (region_.descriptors.size() == kMaxDescriptors)
    throw Error("an unwind region has too many descriptors");
  region_.descriptors.push_back(descriptor);
}

/// Adds a place for each bit; numbers of general registers count up from `value`.
void Decoder::masked(uint64_t mask, size_t first, unsigned count, Where where, int64_t value) {
  for (unsigned bit = 0; bit < count; ++bit)
    if ((mask >> bit & 1) != 0)
      add({.kind = Kind::place,
           .where = where,
           .index = first + bit,
           .value = where == Where::general ? value++ : 0});
}

void Decoder::prologue_descriptor(uint8_t code) {
  if (code >= kP7) return special_descriptor(code);
  if (code >= kGeneralSpills)
    return masked(code & 0xf, kFirstGeneral, kMaskedGeneral, Where::spill_home);
  if (code >= kFloatingSpills) return masked(code & 0xf, kFirstFloating, 4, Where::spill_home);
  if (code < kBranchInGeneral)
    return masked(code & 0x1f, kFirstBranch, kMaskedBranch, Where::spill_home);
  if (code < kInGeneral) {
    const uint8_t second = byte();
    return masked((code & 0xf) << 1 | second >> 7, kFirstBranch, kMaskedBranch, Where::general,
                  second & 0x7f);
  }
  if (code < kSpillTimes) {
    const uint8_t second = byte();
    const unsigned operand = (code & 7) << 1 | second >> 7;
    const int64_t value = second & 0x7f;
    if (operand == kReturnBranchOperand) return add({.kind = Kind::return_branch, .value = value});
    for (size_t i = 0; i < kSpecials; ++i)
      if (kSpecialRegisters[i].in_general == operand)
        return add({.kind = Kind::place, .where = Where::general, .index = i, .value = value});
    throw Error("unknown unwind descriptor");
  }
  if (code == kSpillTimes)
    return add({.kind = Kind::spill_times,
                .mask = reader_.take((2 * static_cast<uint64_t>(region_.length) + 7) / 8)});
  if (code != kSpills) throw Error("unknown unwind descriptor");
  const auto bytes = reader_.take(3);
  masked(bytes[0] >> 4, kFirstGeneral, kMaskedGeneral, Where::spill_home);
  masked((bytes[0] & 0xf) << 16 | bytes[1] << 8 | bytes[2], kFirstFloating, kMaskedFloating,
         Where::spill_home);
}

/// Formats P7 to P10, X1 and X2.
void Decoder::special_descriptor(uint8_t code) {
  if (code == kSpillMemory || code == kSpillRegister) return explicit_place(code);
  if (code == kGeneralInGeneral) {
    const uint8_t mask = byte();
    return masked(mask & 0xf, kFirstGeneral, kMaskedGeneral, Where::general, byte() & 0x7f);
  }
  if (code > kP8) throw Error("unknown unwind descriptor");
  const unsigned operation = code == kP8 ? 16 + byte() : code - kP7;
  const int64_t operand = number();
  if (operation == kFrameSizeCode)
    return add({.kind = Kind::frame_size, .value = kFrameUnit * number(), .time = operand});
  if (operation == kSpillBaseCode)
    return add({.kind = Kind::spill_base, .value = kScratchArea - 4 * operand});
  if (operation == kPrimaryNatInMemoryCode)
    return add({.kind = Kind::time, .index = kPrimaryNatInMemory, .time = operand});
  for (size_t i = 0; i < kSpecials; ++i) {
    const SpecialRegister& special = kSpecialRegisters[i];
    const size_t in_memory = i == kPrimaryNatInGeneral ? kPrimaryNatInMemory : i;
    if (operation == special.when) return add({.kind = Kind::time, .index = i, .time = operand});
    if (operation == special.from_previous)
      return add({.kind = Kind::place,
                  .where = Where::previous,
                  .index = in_memory,
                  .value = kScratchArea - 4 * operand});
    if (operation == special.from_stack)
      return add(
          {.kind = Kind::place, .where = Where::stack, .index = in_memory, .value = 4 * operand});
  }
  throw Error("unknown unwind descriptor");
}

void Decoder::body_descriptor(uint8_t code) {
  if (code < kCopyState) return add({.kind = Kind::label, .value = code & kShortMask});
  if (code < kEpilogue) return add({.kind = Kind::copy, .value = code & kShortMask});
  if (code < kLongEpilogue) {
    const int64_t time = number();
    return add({.kind = Kind::epilogue, .value = code & kShortMask, .time = time});
  }
  if (code < kLongLabelState) {
    const int64_t time = number();
    return add({.kind = Kind::epilogue, .value = number(), .time = time});
  }
  if (code == kLongLabelState) return add({.kind = Kind::label, .value = number()});
  if (code == kLongCopyState) return add({.kind = Kind::copy, .value = number()});
  explicit_place(code | 0x08);  // this bit has no meaning
}

void Decoder::explicit_place(uint8_t code) {
  if (code != kSpillMemory && code != kSpillRegister) throw Error("unknown unwind descriptor");
  const uint8_t first = byte();
  const bool high = (first & 0x80) != 0;
  Descriptor result{.kind = Kind::explicit_place};
  if (code == kSpillMemory) {
    result.index = index_of_operand(first & 0x7f, true);
    result.time = number();
    result.where = high ? Where::stack : Where::previous;
    result.value = high ? 4 * number() : kScratchArea - 4 * number();
  } else {
    const uint8_t second = byte();
    result.index = index_of_operand(first & 0x7f, false);
    result.time = number();
    if (high || second != 0)
      result.where = high ? Where::branch : second >= 0x80 ? Where::floating : Where::general;
    result.value = second & 0x7f;
  }
  add(result);
}

}  // namespace respike::regions

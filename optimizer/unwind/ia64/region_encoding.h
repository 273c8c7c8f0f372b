#pragma once
// The numbers that readers and writers of unwind regions share: the Itanium architecture's
// description of frames (Itanium Software Conventions and Runtime Architecture Guide, chapter 11
// and appendix B; libgcc/config/ia64/unwind-ia64.c shows how the runtime reads them).
//
// A table of 24-byte entries (start, end, information block; offsets from the lowest loaded
// segment) is sorted by address. A block is a word, then descriptors padded to words, then, if it
// has handlers, the personality routine and its data:
//
//   word: version << 48 | flags << 32 | words of descriptors
//   descriptors: regions, each a header (prologue or body, length in slots) and its descriptors
//   personality: offset from gp of the word that holds its address
//
// The address of a slot: the address of the bundle plus 0, 1 or 2.

#include <cstddef>
#include <cstdint>

#include "optimizer/base/error.h"

namespace respike::regions {

inline constexpr size_t kEntrySize = 24;  // of the table
inline constexpr uint64_t kBundleSize = 16;
inline constexpr unsigned kBundleSlots = 3;

// ---- The word before the descriptors.

inline constexpr unsigned kVersion = 1;
inline constexpr unsigned kVersionShift = 48;
enum : uint64_t {
  kSearchHandler = uint64_t{1} << 32,  // "ehandler": called in the search for a handler
  kUnwindHandler = uint64_t{1} << 33,  // "uhandler": called while frames are unwound
  kLengthMask = 0xffffffff,
};

// ---- Registers in unwind states, in the machine's flat numbering.

enum : uint32_t {
  kGeneral = 0,  // r0 to r127
  kFloating = 128,
  kBranch = 320,
  kApplication = 328,
  kStackPointer = kGeneral + 12,
  kReturnAddress = kBranch + 0,  // where the caller continues; without a rule: in b0
  kBackingStore = kApplication + 17,
  kBackingStorePointer = kApplication + 18,
  kRseNat = kApplication + 19,
  kUserNat = kApplication + 36,
  kFloatingStatus = kApplication + 40,
  kPreviousFunctionState = kApplication + 64,
  kLoopCount = kApplication + 65,
  kPredicates = 458,     // all of them
  kPrimaryNat = 459,     // the word with the NaT bits of spilled general registers; no register
  kPreviousStack = 460,  // the caller's stack pointer: the CFA, never in a state's rules
};

/// A register with descriptors of its own. A code below 16 belongs to format P7, any other code
/// minus 16 to format P8.
struct SpecialRegister {
  uint32_t number;
  uint8_t in_general;     // operand of format P3
  uint8_t when;           // codes
  uint8_t from_previous;  // saved at the previous stack pointer + 16 - 4 * operand
  uint8_t from_stack;     // saved at the stack pointer + 4 * operand
  uint8_t operand;        // in formats X1 to X4
};

inline constexpr uint8_t kNoCode = 0xff;
inline constexpr SpecialRegister kSpecialRegisters[] = {
    {kPreviousStack, 0, 1, kNoCode, 3, 0x61},
    {kReturnAddress, 1, 4, 5, 16 + 1, 0x63},
    {kPreviousFunctionState, 2, 6, 7, 16 + 2, 0x69},
    {kPredicates, 3, 8, 9, 16 + 3, 0x60},
    {kUserNat, 4, 12, 13, 16 + 5, 0x67},
    {kLoopCount, 5, 10, 11, 16 + 4, 0x6a},
    {kRseNat, 7, 16 + 13, 16 + 14, 16 + 15, 0x66},
    {kBackingStore, 8, 16 + 7, 16 + 8, 16 + 9, 0x64},
    {kBackingStorePointer, 9, 16 + 10, 16 + 11, 16 + 12, 0x65},
    {kFloatingStatus, 10, 14, 15, 16 + 6, 0x68},
    {kPrimaryNat, 11, 16 + 16, 16 + 17, 16 + 18, 0x62},
};
inline constexpr uint8_t kFrameSizeCode = 0, kSpillBaseCode = 2;  // codes of no register
inline constexpr uint8_t kPrimaryNatInMemoryCode = 16 + 19;       // when it is saved
inline constexpr uint8_t kReturnBranchOperand = 6;                // of format P3: the b register

/// The order in which format R2 and implicit saves take general registers.
inline constexpr uint32_t kSaveOrder[] = {
    kReturnAddress, kPreviousFunctionState, kPreviousStack, kPredicates, kUserNat,
    kLoopCount,     kFloatingStatus,        kPrimaryNat};

/// Preserved registers that masks name, in the masks' order.
inline constexpr unsigned kMaskedGeneral = 4, kMaskedFloating = 20, kMaskedBranch = 5;
constexpr uint32_t masked_general(unsigned bit) {
  return kGeneral + 4 + bit;
}
constexpr uint32_t masked_floating(unsigned bit) {
  return kFloating + (bit < 4 ? 2 : 12) + bit;
}
constexpr uint32_t masked_branch(unsigned bit) {
  return kBranch + 1 + bit;
}

/// Saves are at multiples of 4, at or below the end of the caller's scratch area.
inline constexpr int64_t kScratchArea = 16;
inline constexpr int64_t kFrameUnit = 16;  // of fixed sizes

// ---- Formats: the first byte.

enum : uint8_t {
  kR1 = 0x00,  // | body << 5 | length
  kR1Body = 0x20,
  kR2 = 0x40,  // prologue that saves registers in kSaveOrder
  kR3 = 0x60,  // | body
  // In prologues.
  kBranchSpills = 0x80,     // P1
  kBranchInGeneral = 0xa0,  // P2
  kInGeneral = 0xb0,        // P3
  kSpillTimes = 0xb8,       // P4
  kSpills = 0xb9,           // P5
  kFloatingSpills = 0xc0,   // P6
  kGeneralSpills = 0xd0,
  kP7 = 0xe0,
  kP8 = 0xf0,
  kGeneralInGeneral = 0xf1,  // P9
  // In bodies.
  kLabelState = 0x80,  // B1
  kCopyState = 0xa0,
  kEpilogue = 0xc0,        // B2
  kLongEpilogue = 0xe0,    // B3
  kLongLabelState = 0xf0,  // B4
  kLongCopyState = 0xf8,
  // In both.
  kSpillMemory = 0xf9,    // X1
  kSpillRegister = 0xfa,  // X2

  kShortMask = 0x1f,  // of lengths, labels and counts in the first byte
};

/// Slots from address 0 on: neighbours differ by one. Throws Error for an address that is not the
/// address of a slot.
inline uint64_t slot_number(uint64_t address) {
  const uint64_t slot = address % kBundleSize;
  if (slot >= kBundleSlots) throw Error("an address in unwind regions is inside of an instruction");
  return address / kBundleSize * kBundleSlots + slot;
}
constexpr uint64_t slot_address(uint64_t number) {
  return number / kBundleSlots * kBundleSize + number % kBundleSlots;
}

}  // namespace respike::regions

/// Operations of DWARF expressions in unwind states, for rules that DWARF has no number for: a
/// place at an offset from a register, and the contents of such a place (DWARF 5, section 7.7.1).
namespace respike::dwarf_op {
inline constexpr uint8_t kDereference = 0x06;
inline constexpr uint8_t kRegisterOffset = 0x70;  // + register, below 32
}  // namespace respike::dwarf_op

#pragma once
// DW_EH_PE_*: how .eh_frame, .eh_frame_hdr and LSDAs encode a pointer (LSB 5, section 10.5.1).
//
// The low four bits are the format of the number, the next three give its base, and the highest bit
// says that the result is the address of a word with the pointer. Respike never follows this last
// indirection: a moved table refers to the same word.
//
// Example: 0x9b is indirect (0x80), relative to the pointer's own place (0x10), 32 bits signed
// (0x0b).

#include <cstdint>
#include <optional>

#include "optimizer/base/bytes.h"

namespace respike::eh_pe {

enum : uint8_t {
  kAbsolute = 0x00,  // also the format of a full word
  kUleb128 = 0x01,
  kUdata2 = 0x02,
  kUdata4 = 0x03,
  kUdata8 = 0x04,
  kSleb128 = 0x09,
  kSdata2 = 0x0a,
  kSdata4 = 0x0b,
  kSdata8 = 0x0c,
  kPcRelative = 0x10,
  kDataRelative = 0x30,
  kIndirect = 0x80,
  kOmit = 0xff,

  kFormatMask = 0x0f,
  kApplicationMask = 0x70,
};

/// Bytes of a number in the format of `encoding`; 0 when that varies (LEB128). Throws Error for an
/// unknown format.
inline unsigned size_of(uint8_t encoding) {
  switch (encoding & kFormatMask) {
    case kAbsolute:
    case kUdata8:
    case kSdata8:
      return 8;
    case kUdata4:
    case kSdata4:
      return 4;
    case kUdata2:
    case kSdata2:
      return 2;
    case kUleb128:
    case kSleb128:
      return 0;
    default:
      throw Error("unknown format of an encoded pointer in unwind tables");
  }
}

/// Whether pointers of this encoding are understood: absolute pointers, pc-relative pointers and,
/// where there is a base for them, data-relative pointers.
inline bool is_supported(uint8_t encoding, bool has_data_base = false) {
  const uint8_t application = encoding & kApplicationMask;
  const uint8_t format = encoding & kFormatMask;
  return (application == 0 || application == kPcRelative ||
          (application == kDataRelative && has_data_base)) &&
         format != 0x08 && format <= kSdata8 && (format <= kUdata8 || format >= kSleb128);
}

/// The number alone, sign- or zero-extended; its base is not applied.
inline uint64_t read_number(ByteReader& reader, uint8_t encoding) {
  switch (encoding & kFormatMask) {
    case kAbsolute:
    case kUdata8:
    case kSdata8:
      return reader.read<uint64_t>();
    case kUdata4:
      return reader.read<uint32_t>();
    case kSdata4:
      return static_cast<uint64_t>(int64_t{reader.read<int32_t>()});
    case kUdata2:
      return reader.read<uint16_t>();
    case kSdata2:
      return static_cast<uint64_t>(int64_t{reader.read<int16_t>()});
    case kUleb128:
      return reader.uleb128();
    case kSleb128:
      return static_cast<uint64_t>(reader.sleb128());
    default:
      throw Error("unknown format of an encoded pointer in unwind tables");
  }
}

/// Appends a number in the format of `encoding`. Throws Error when it does not fit.
inline void write_number(ByteWriter& out, uint8_t encoding, uint64_t number) {
  bool fits = true;
  switch (encoding & kFormatMask) {
    case kAbsolute:
    case kUdata8:
    case kSdata8:
      out.write<uint64_t>(number);
      break;
    case kUdata4:
      fits = number <= UINT32_MAX;
      out.write<uint32_t>(static_cast<uint32_t>(number));
      break;
    case kSdata4:
      fits = fits_signed(static_cast<int64_t>(number), 32);
      out.write<uint32_t>(static_cast<uint32_t>(number));
      break;
    case kUdata2:
      fits = number <= UINT16_MAX;
      out.write<uint16_t>(static_cast<uint16_t>(number));
      break;
    case kSdata2:
      fits = fits_signed(static_cast<int64_t>(number), 16);
      out.write<uint16_t>(static_cast<uint16_t>(number));
      break;
    case kUleb128:
      out.uleb128(number);
      break;
    case kSleb128:
      out.sleb128(static_cast<int64_t>(number));
      break;
    default:
      throw Error("unknown format of an encoded pointer in unwind tables");
  }
  if (!fits) throw Error("an address in the new unwind tables is out of reach of its encoding");
}

/// The number that encodes `address` when it is written at `place`. 0 is "none" and stays 0.
inline uint64_t number_of(uint8_t encoding, uint64_t address, uint64_t place,
                          std::optional<uint64_t> data_base = std::nullopt) {
  if (!is_supported(encoding, data_base.has_value()))
    throw Error("unsupported encoding of a pointer in unwind tables");
  if (address == 0) return 0;
  switch (encoding & kApplicationMask) {
    case kPcRelative:
      return address - place;
    case kDataRelative:
      return address - *data_base;
    default:
      return address;
  }
}

/// Whether a 32-bit pc-relative relocation can describe a pointer of this encoding.
constexpr bool needs_fixup(uint8_t encoding) {
  const uint8_t format = encoding & kFormatMask;
  return (encoding & kApplicationMask) == kPcRelative && (format == kSdata4 || format == kUdata4);
}

}  // namespace respike::eh_pe

// An LSDA as GCC writes it (see lsda_reader.cc for the layout), one for each FDE.
//
// A landing pad is an offset from LPStart, and 0 means "none". As long as all pads are in the FDE
// after its first byte, LPStart is left out and offsets count from the FDE's start. In a split
// procedure a pad may be the first instruction of a fragment or be in another fragment: then
// LPStart is written, a little before the first pad, so that no offset is 0.
//
// Example: a cold fragment at 0x5000 starts with the pad of a call in the hot fragment at 0x1000.
// The LSDA of the hot fragment has an LPStart a little below 0x5000.
//
// An address that no record covers means std::terminate, so ranges without a landing pad also have
// records; neighbours with equal records share one. Action offsets stay valid because the action
// table is kept byte for byte; a fragment with only cleanups needs no actions and no types.

#include "optimizer/unwind/lsda/lsda_writer.h"

#include <algorithm>

#include "optimizer/unwind/lsda/pointer_encoding.h"

namespace respike {
namespace {

constexpr size_t kLargestTables = size_t{256} << 20;

/// Alignment of a type table; areas need none.
size_t alignment_of(uint8_t type_encoding) {
  return std::max(4u, eh_pe::size_of(type_encoding));
}

size_t uleb128_size(uint64_t value) {
  size_t size = 1;
  while ((value >>= 7) != 0) ++size;
  return size;
}

/// LEB128 may be padded; `size` is at least uleb128_size(value).
void write_padded_uleb128(uint64_t value, size_t size, ByteWriter& out) {
  for (; size > 1; --size, value >>= 7) out.write<uint8_t>((value & 0x7f) | 0x80);
  out.write<uint8_t>(value);
}

}  // namespace

uint64_t LsdaWriter::write(const Lsda& lsda, std::span<const UnwindRange> ranges) {
  // Each procedure that shares a table gets a copy of it: a hostile image could share a large table
  // a million times.
  if (out_.size() > kLargestTables) throw Error("exception tables become too large");
  const uint64_t start = place();
  collect_call_sites(ranges, write_landing_pad_start(ranges));
  const bool has_types = uses_actions_ && lsda.type_encoding != eh_pe::kOmit;
  out_.write<uint8_t>(has_types ? lsda.type_encoding : uint8_t{eh_pe::kOmit});
  if (has_types) write_type_base(lsda);
  out_.write<uint8_t>(eh_pe::kUleb128);
  out_.uleb128(sites_.size());
  out_.append(sites_.bytes());
  if (uses_actions_) out_.append(lsda.actions);
  if (has_types) {
    out_.align(alignment_of(lsda.type_encoding));
    write_types(lsda);
    out_.append(lsda.specifications);
  }
  return start;
}

uint64_t LsdaWriter::write_landing_pad_start(std::span<const UnwindRange> ranges) {
  const uint64_t start = ranges.front().start;
  uint64_t first = UINT64_MAX, last = 0;
  for (const UnwindRange& range : ranges) {
    if (range.lsda == kNone || range.terminate || range.landing_pad == 0) continue;
    first = std::min(first, range.landing_pad);
    last = std::max(last, range.landing_pad);
  }
  if (last == 0 || (first > start && last < ranges.back().end)) {
    out_.write<uint8_t>(eh_pe::kOmit);
    return start;
  }
  const uint64_t landing_pad_start = first - 4;
  out_.write<uint8_t>(eh_pe::kPcRelative | eh_pe::kSdata4);
  fixups_.push_back({place(), landing_pad_start, RelocationRole::pc_relative32});
  eh_pe::write_number(out_, eh_pe::kSdata4, landing_pad_start - place());
  return landing_pad_start;
}

void LsdaWriter::collect_call_sites(std::span<const UnwindRange> ranges,
                                    uint64_t landing_pad_start) {
  struct Record {
    uint64_t start = 0, end = 0, landing_pad = 0, action = 0;
  };
  sites_.bytes().clear();
  uses_actions_ = false;
  const uint64_t base = ranges.front().start;
  const auto write_record = [&](const Record& record) {
    if (record.start == record.end) return;
    sites_.uleb128(record.start - base);
    sites_.uleb128(record.end - record.start);
    sites_.uleb128(record.landing_pad == 0 ? 0 : record.landing_pad - landing_pad_start);
    sites_.uleb128(record.action);
    uses_actions_ |= record.action != 0;
  };
  Record open;
  for (const UnwindRange& range : ranges) {
    const bool has_lsda = range.lsda != kNone;
    if (has_lsda && range.terminate) continue;
    const Record record{range.start, range.end, has_lsda ? range.landing_pad : 0,
                        has_lsda ? range.action : 0};
    if (record.start == open.end && record.landing_pad == open.landing_pad &&
        record.action == open.action) {
      open.end = record.end;
    } else {
      write_record(open);
      open = record;
    }
  }
  write_record(open);
}

/// The distance to TTBase depends on the padding before the type table, which depends on the size
/// of the number that holds the distance: the smallest size that fits is used.
void LsdaWriter::write_type_base(const Lsda& lsda) {
  const size_t tables = 1 + uleb128_size(sites_.size()) + sites_.size() + lsda.actions.size();
  const size_t types = lsda.types.size() * eh_pe::size_of(lsda.type_encoding);
  for (size_t size = 1;; ++size) {
    const size_t after = out_.size() + size;
    const uint64_t distance =
        align_up(after + tables, alignment_of(lsda.type_encoding)) + types - after;
    if (uleb128_size(distance) > size) continue;
    return write_padded_uleb128(distance, size, out_);
  }
}

void LsdaWriter::write_types(const Lsda& lsda) {
  const uint8_t encoding = lsda.type_encoding;
  if (!lsda.types.empty() && eh_pe::size_of(encoding) == 0)
    throw Error("a type table has entries of varying size");
  const bool from_base =
      (encoding & eh_pe::kApplicationMask) == eh_pe::kDataRelative && eh_pe::size_of(encoding) == 8;
  const bool has_fixups = from_base || eh_pe::needs_fixup(encoding);
  const auto role =
      from_base ? RelocationRole::unwind_gp_relative64 : RelocationRole::pc_relative32;
  for (auto type = lsda.types.rbegin(); type != lsda.types.rend(); ++type) {
    if (has_fixups && *type != 0) fixups_.push_back({place(), *type, role});
    eh_pe::write_number(out_, encoding, eh_pe::number_of(encoding, *type, place(), data_base_));
  }
}

}  // namespace respike

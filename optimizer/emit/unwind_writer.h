#pragma once
// Writes .eh_frame, .eh_frame_hdr and the LSDAs for code in its new places.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "optimizer/image/image.h"
#include "optimizer/ir/unwind.h"

namespace respike {

/// A range of output code with one unwind state and one call-site record. Ranges are sorted by
/// address and do not overlap; neighbours that touch and have the same `owner` may share an FDE.
struct UnwindRange {
  uint64_t start = 0;
  uint64_t end = 0;
  uint32_t owner =
      0;  // procedure (or stub) identity: ranges of different owners never share an FDE
  uint32_t state = 0xffffffff;  // index of UnwindTables::states; kNone: not described, a gap
  // LSDA part; lsda == kNone: no LSDA applies to this range.
  uint32_t lsda = 0xffffffff;
  bool terminate = false;    // covered by an LSDA but by no call-site record
  uint64_t landing_pad = 0;  // output address, 0: none
  uint64_t action = 0;
};

/// A field of the written sections that a kept relocation should describe, against the address
/// `target`.
struct UnwindFixup {
  enum class Kind : uint8_t {
    pc_relative32,
    data_relative64,     // to gp
    segment_relative64,  // to the lowest loaded segment
  };
  uint64_t address = 0;
  uint64_t target = 0;
  Kind kind = Kind::pc_relative32;
};

struct UnwindSections {
  std::vector<uint8_t> eh_frame;
  std::vector<uint8_t> lsda;    // .gcc_except_table; empty when there is none
  std::vector<uint8_t> header;  // .eh_frame_hdr; empty unless asked for
  uint64_t lsda_address = 0, header_address = 0;
  std::vector<UnwindFixup> eh_frame_fixups;  // pc_begin, personality, LSDA pointers
  std::vector<UnwindFixup> lsda_fixups;      // type table entries, LPStart
};

/// Lays out eh_frame at `address` (8-aligned), then the LSDAs, then the header if `with_header`.
/// The .eh_frame ends with the zero terminator. Throws Error when an offset does not fit.
UnwindSections write_unwind(const UnwindTables& tables, std::span<const UnwindRange> ranges,
                            uint64_t address, bool with_header);

}  // namespace respike

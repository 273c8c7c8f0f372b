#pragma once
// Writes .eh_frame, .eh_frame_hdr and the LSDAs for code in its new places.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/unwind/unwind.h"

namespace respike {

struct FrameSections {
  std::vector<uint8_t> eh_frame;
  std::vector<uint8_t> lsda;    // .gcc_except_table; empty when there is none
  std::vector<uint8_t> header;  // .eh_frame_hdr; empty unless asked for
  uint64_t lsda_address = 0, header_address = 0;
  std::vector<UnwindFixup> eh_frame_fixups;  // pc_begin, personality, LSDA pointers
  std::vector<UnwindFixup> lsda_fixups;      // type table entries, LPStart
};

/// Lays out eh_frame at `address` (8-aligned), then the LSDAs, then the header if `with_header`.
/// The .eh_frame ends with the zero terminator. Throws Error when an offset does not fit.
FrameSections write_frames(const UnwindTables& tables, std::span<const UnwindRange> ranges,
                           uint64_t address, bool with_header);

}  // namespace respike

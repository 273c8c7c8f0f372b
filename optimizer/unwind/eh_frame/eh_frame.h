#pragma once
// The format of .eh_frame, .eh_frame_hdr and .gcc_except_table.

#include "optimizer/unwind/unwind.h"

namespace respike {

extern const UnwindFormat kEhFrameFormat;

/// What libgcc's unwinders assume of the sections (rules.cc).
std::span<const ImageRule> eh_frame_rules();

/// How .eh_frame_hdr of `after` contradicts .eh_frame; see UnwindFormat::contradiction.
std::optional<std::string> search_table_fault(const Image& before, const Image& after,
                                              const UnwindTables& tables);

}  // namespace respike

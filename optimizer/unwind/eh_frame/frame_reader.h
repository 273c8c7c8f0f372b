#pragma once
// Reads .eh_frame and the LSDAs into states and call sites.

#include "optimizer/unwind/unwind.h"

namespace respike {

/// As read_unwind(), of an image with a section .eh_frame.
UnwindInput read_frames(const Image& image, AddressRanges* unreadable = nullptr);

}  // namespace respike

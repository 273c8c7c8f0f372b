#pragma once
// Reads .eh_frame and the LSDAs into states and call sites.

#include "optimizer/unwind/unwind.h"

namespace respike {

/// As read_unwind(), of an image with a section .eh_frame.
UnwindInput read_frames(const Image& image, AddressRanges* unreadable = nullptr);

/// Whether some frame of .eh_frame has DW_CFA_restore for a register of which its CIE knows the
/// rule. Unwinders differ in what that means.
bool restores_cie_rules(const Image& image);

}  // namespace respike

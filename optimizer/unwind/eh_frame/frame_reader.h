#pragma once
// Reads .eh_frame and the LSDAs into states and call sites.

#include "optimizer/unwind/unwind.h"

namespace respike {

/// As read_unwind(), for an image with a section .eh_frame.
UnwindInput read_frames(const Image& image, AddressRanges* unreadable = nullptr);

/// Whether some frame of .eh_frame has DW_CFA_restore for a register that has a rule in its CIE.
/// Unwinders differ in the meaning of that.
bool restores_cie_rules(const Image& image);

}  // namespace respike

#pragma once
// Reads a table of unwind regions (region_encoding.h) into states and call sites.

#include "optimizer/unwind/unwind.h"

namespace respike {

/// As read_unwind(), for an image with such a table. Every CIE stands for a personality routine:
/// its `personality` is the address of the word that holds the routine's address. The CIE of code
/// without handlers has no personality. The augmentation has an 'e' for handlers that are called in
/// the search for a handler, a 'u' for handlers that are called while unwinding.
UnwindInput read_regions(const Image& image, AddressRanges* unreadable = nullptr);

}  // namespace respike

#pragma once
// Debug files: debug information and symbols of an image in a file of their own, as
// `objcopy --only-keep-debug` makes them. They have the sections of the image without contents.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/image/image.h"

namespace respike {

/// The rewriter's changes to a debug file.
struct NewDebugFile {
  NewImage sections;            // only `replaced`, `dropped_sections` and `added` matter
  std::vector<Symbol> symbols;  // of the output, in its sections
};

/// For each section of `from`, the allocated section of `to` with the same name, equal names in
/// their order; 0: no such section, or the section is not allocated.
std::vector<uint32_t> match_sections(const Image& from, const Image& to);

/// The bytes of a debug file for `output`: headers of its allocated sections, its notes, the
/// sections of `debug` that are not allocated, symbols.
std::vector<uint8_t> write_debug_file(const Image& debug, const NewDebugFile& changes,
                                      const Image& output);

}  // namespace respike

#pragma once
// What can be shown of an image whose machine Respike knows the instructions of, but nothing more:
// by sections and symbols, without procedures' blocks.

#include <cstdint>
#include <string>
#include <vector>

#include "optimizer/image/image.h"
#include "optimizer/target/listing.h"

namespace respike::cli {

struct UnliftedSummary {
  uint64_t procedures = 0;    // addresses of code that a symbol of a procedure names
  uint64_t instructions = 0;  // in all executable sections, no-ops and padding included
  uint64_t text_bytes = 0;    // of all executable sections
  uint64_t relocations = 0;   // kept by the linker
};
UnliftedSummary summarize_unlifted(const Image& image, const Listing& listing);

/// Lists all executable sections, or the procedures with these names (NAME or NAME@ADDRESS); throws
/// Error when there is none of a name.
void print_unlifted(const Image& image, const Listing& listing,
                    const std::vector<std::string>& procedures);

}  // namespace respike::cli

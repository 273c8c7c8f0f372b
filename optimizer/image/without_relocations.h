#pragma once
// Images without the relocations that the linker kept for Respike.

#include <cstdint>
#include <vector>

#include "optimizer/image/image.h"

namespace respike {

/// The image without relocations that no loader reads. Everything else stays, including its
/// symbols, and `strip` finds no more uses of these. The image cannot be rewritten again. It gets
/// another build-id. An image whose container keeps no such relocations stays as it is.
///
/// Example: `strip --strip-unneeded`, which Debian's packages use for libraries, keeps .rela.text
/// and all symbols that .rela.text names: libjq has 538,536 bytes, and 347,544 without them.
std::vector<uint8_t> without_relocations(const Image& image);

}  // namespace respike

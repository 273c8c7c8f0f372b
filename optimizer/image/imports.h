#pragma once
// Functions that an image imports from libraries by separate tables, where the container has such
// tables. (ELF's dynamic relocations are in the Image itself.)

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "optimizer/image/image.h"

namespace respike {

/// The slots that a loader fills with addresses of functions, and the names of the functions, by
/// address. Functions that are imported by number have no name and are left out. The names live as
/// long as the image.
std::vector<std::pair<uint64_t, std::string_view>> import_slots(const Image& image);

/// Import tables with more functions than before. The headers have to refer to the first bytes.
struct NewImports {
  std::vector<uint8_t> contents;
  std::vector<uint64_t> slots;  // addresses of the new functions' slots, which are in `contents`
  unsigned slot_size = 4;       // bytes, as of all addresses in the image's data: 4 or 8
};

/// The import tables of `image` and `functions` of `library` as they would be at `address`, which
/// is a multiple of 8. Slots of the image stay where they are. Throws Error when the tables of the
/// image are damaged, or the container has none.
NewImports add_imports(const Image& image, std::string_view library,
                       std::span<const std::string_view> functions, uint64_t address);

}  // namespace respike

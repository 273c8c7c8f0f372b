#pragma once
// Encoded pointers of unwind tables, resolved to the addresses they have in the loaded image.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "optimizer/base/bytes.h"
#include "optimizer/image/image.h"

namespace respike {

class PointerReader {
 public:
  /// `data_base`: the base of data-relative pointers; without it they are not understood.
  explicit PointerReader(const Image& image, std::optional<uint64_t> data_base = std::nullopt)
      : image_(image), data_base_(data_base) {}

  /// Reads a pointer of `encoding` at the cursor, which is at address `place`. The result is the
  /// address before an indirection; 0 when the pointer is null. Throws Error for encodings that are
  /// not understood and for words whose value only the dynamic linker knows.
  uint64_t read(ByteReader& reader, uint8_t encoding, uint64_t place);

 private:
  uint64_t relocated_word(uint64_t place, uint64_t contents);

  const Image& image_;
  std::optional<uint64_t> data_base_;
  bool indexed_ = false;
  std::vector<std::pair<uint64_t, const Relocation*>> by_address_;  // built when first needed
};

}  // namespace respike

#pragma once
// Bounds-checked little-endian reading and writing of byte sequences. The host and all machines
// that Respike rewrites are little-endian.

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/base/error.h"

namespace respike {

static_assert(std::endian::native == std::endian::little);

/// Unchecked loads and stores of little-endian integers.
template <typename T>
T load(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}
template <typename T>
void store(uint8_t* bytes, T value) {
  std::memcpy(bytes, &value, sizeof value);
}

/// Sign-extends the low `bits` bits of `value`; 1 <= bits <= 64.
constexpr int64_t sign_extend(uint64_t value, unsigned bits) {
  const unsigned shift = 64 - bits;
  return static_cast<int64_t>(value << shift) >> shift;
}
/// Whether `value` can be held by a signed field of `bits` bits.
constexpr bool fits_signed(int64_t value, unsigned bits) {
  return sign_extend(static_cast<uint64_t>(value), bits) == value;
}
constexpr uint64_t align_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// A cursor over bytes that throws Error (with `what` as its subject) at any read past the end.
class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> bytes, std::string_view what = "data")
      : bytes_(bytes), what_(what) {}

  size_t position() const { return position_; }
  size_t size() const { return bytes_.size(); }
  size_t remaining() const { return bytes_.size() - position_; }
  bool at_end() const { return position_ == bytes_.size(); }
  void seek(size_t position);
  void skip(size_t count) { take(count); }

  template <typename T>
  T read() {
    return load<T>(take(sizeof(T)).data());
  }
  uint64_t uleb128();
  int64_t sleb128();
  /// A NUL-terminated string; the cursor moves past the NUL.
  std::string_view c_string();
  std::span<const uint8_t> take(size_t count);

 private:
  std::span<const uint8_t> bytes_;
  std::string_view what_;
  size_t position_ = 0;
};

/// Appends little-endian data to a vector that it owns.
class ByteWriter {
 public:
  size_t size() const { return bytes_.size(); }
  std::vector<uint8_t>& bytes() { return bytes_; }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

  template <typename T>
  void write(T value) {
    const size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    store(bytes_.data() + at, value);
  }
  void uleb128(uint64_t value);
  void sleb128(int64_t value);
  void append(std::span<const uint8_t> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void c_string(std::string_view text) {
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    bytes_.push_back(0);
  }
  /// Pads with `fill` to a multiple of `alignment`.
  void align(size_t alignment, uint8_t fill = 0) {
    bytes_.resize(align_up(bytes_.size(), alignment), fill);
  }
  template <typename T>
  void patch(size_t position, T value) {
    store(bytes_.data() + position, value);
  }

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace respike

#pragma once
// Code that mutators of all containers share: bounded access to the bytes of an image, and changes
// that are likely to matter.

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "optimizer/base/bytes.h"
#include "tests/fuzz/image_mutator.h"

namespace respike {

class MutationBase {
 public:
  MutationBase(std::vector<uint8_t>& bytes, FuzzRandom& random) : bytes_(bytes), random_(random) {}

 protected:
  bool in_file(uint64_t offset, uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }
  /// The little-endian number at an offset; 0 where the file ends before.
  template <typename T>
  T get(uint64_t offset) const {
    return in_file(offset, sizeof(T)) ? load<T>(bytes_.data() + offset) : T{};
  }
  /// A number of `size` bytes, at most 8; 0 where the file ends before.
  uint64_t number(uint64_t offset, unsigned size) const;
  void put(uint64_t offset, uint64_t value, unsigned size);

  /// A number of `bits` bits that is likely to make a difference in place of `old`: a round number,
  /// a neighbour of `old`, or, half of the time, one of the `borders`.
  uint64_t value_for(uint64_t old, unsigned bits, std::initializer_list<uint64_t> borders);

  /// Changes a few bytes of [offset, offset + size): to numbers, LEB128 continuations, bytes from
  /// elsewhere.
  void change_bytes(uint64_t offset, uint64_t size);

  /// Copies a record of a table over another record, or swaps the two.
  void copy_record(uint64_t start, uint64_t length, uint64_t record);

  std::vector<uint8_t>& bytes_;
  FuzzRandom& random_;
};

}  // namespace respike

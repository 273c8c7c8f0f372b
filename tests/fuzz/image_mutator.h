#pragma once
// Damages images where it hurts.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace respike {

/// SplitMix64: the same damage for the same seed on every machine.
class FuzzRandom {
 public:
  explicit FuzzRandom(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// 0 .. limit - 1; 0 when `limit` is 0.
  uint64_t below(uint64_t limit) { return limit == 0 ? 0 : next() % limit; }
  bool one_in(uint64_t n) { return below(n) == 0; }

 private:
  uint64_t state_;
};

/// Changes one or a few things that an ELF file says: a field of a header, a symbol, a relocation,
/// unwind tables, words of code and data, the number of records. Takes any bytes; those that are
/// no ELF file get random changes. The result has at most `max_size` bytes.
void mutate_image(std::vector<uint8_t>& bytes, size_t max_size, FuzzRandom& random);

}  // namespace respike

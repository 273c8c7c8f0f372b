#pragma once
// A mutator that damages images in the places that matter.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "optimizer/base/random.h"

namespace respike {

class FuzzRandom : public SplitMix64 {
 public:
  using SplitMix64::SplitMix64;
  /// 0 .. limit - 1; 0 when `limit` is 0.
  uint64_t below(uint64_t limit) { return limit == 0 ? 0 : next() % limit; }
  bool one_in(uint64_t n) { return below(n) == 0; }
};

/// Changes a few fields of an ELF file (or of a file in PE or ECOFF, see pe_mutator.h and
/// ecoff_mutator.h): in a header, a symbol, a relocation, unwind tables, words of code and data,
/// the number of records. Takes any bytes; if they are not an ELF file, the changes are random. The
/// result has at most `max_size` bytes.
void mutate_image(std::vector<uint8_t>& bytes, size_t max_size, FuzzRandom& random);

}  // namespace respike

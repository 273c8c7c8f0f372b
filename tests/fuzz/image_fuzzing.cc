// libFuzzer's hook for mutations, for the targets whose input is an image.
//
// Targets that need inputs which pass the reader define RESPIKE_FUZZ_READABLE: if the reader
// refuses a mutation, another mutation is tried. Otherwise the corpus would fill with refused
// files, whose offspring is also refused.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/image/image.h"
#include "tests/fuzz/image_mutator.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

bool is_wanted([[maybe_unused]] std::span<const uint8_t> bytes) {
#ifdef RESPIKE_FUZZ_READABLE
  try {
    respike::require_rewritable(respike::view_image(bytes, "input"));
  } catch (const respike::Error&) {
    return false;
  }
#endif
  return true;
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  constexpr int kMostTries = 8;
  respike::FuzzRandom random(seed);
  if (random.one_in(16)) return LLVMFuzzerMutate(data, size, max_size);
  std::vector<uint8_t> bytes;
  for (int i = 0; i < kMostTries; ++i) {
    bytes.assign(data, data + size);
    respike::mutate_image(bytes, max_size, random);
    if (is_wanted(bytes)) break;
  }
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

// libFuzzer's hook for mutations, for the targets whose input is an image.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/fuzz/image_mutator.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  respike::FuzzRandom random(seed);
  if (random.one_in(16)) return LLVMFuzzerMutate(data, size, max_size);
  std::vector<uint8_t> bytes(data, data + size);
  respike::mutate_image(bytes, max_size, random);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

// LLVM carries XXH3.

#include "optimizer/base/hash.h"

#include <llvm/Support/xxhash.h>

#include "optimizer/base/bytes.h"

namespace respike {

uint64_t hash64(std::span<const uint8_t> bytes) {
  return llvm::xxh3_64bits(llvm::ArrayRef<uint8_t>(bytes.data(), bytes.size()));
}

std::array<uint8_t, 16> hash128(std::span<const uint8_t> bytes) {
  const auto hash = llvm::xxh3_128bits(llvm::ArrayRef<uint8_t>(bytes.data(), bytes.size()));
  std::array<uint8_t, 16> result;
  store(result.data(), hash.low64);
  store(result.data() + 8, hash.high64);
  return result;
}

}  // namespace respike

#pragma once
// Sums and products of counts that saturate at 2^64 - 1.

#include <cstdint>

namespace respike {

/// a + b, at most 2^64 - 1.
constexpr uint64_t saturating_add(uint64_t a, uint64_t b) {
  return a + b < a ? UINT64_MAX : a + b;
}

/// a * b, at most 2^64 - 1.
constexpr uint64_t saturating_multiply(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

}  // namespace respike

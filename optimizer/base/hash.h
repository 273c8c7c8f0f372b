#pragma once
// Hashes that are written to files: XXH3 (https://xxhash.com), seed 0.

#include <array>
#include <cstdint>
#include <span>

namespace respike {

uint64_t hash64(std::span<const uint8_t> bytes);
/// 128 bits, little-endian, the low 64 bits first.
std::array<uint8_t, 16> hash128(std::span<const uint8_t> bytes);

}  // namespace respike

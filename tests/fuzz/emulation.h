#pragma once
// Random code under the IA-64 emulator.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace respike::fuzz {

/// Runs bytes as bundles, once with specialised handlers and once with general ones, in guest
/// memory that holds nothing else but some data. Returns where the two ended differently, or
/// nothing. Whatever the bytes are, the emulator itself must not fail.
std::string run_random_code(std::span<const uint8_t> code);

/// Code that is more likely to be valid: instructions of the table with random fields.
std::vector<uint8_t> make_random_code(uint64_t seed);

}  // namespace respike::fuzz

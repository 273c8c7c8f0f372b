#pragma once
// Random code under the IA-64 emulator.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace respike::fuzz {

/// What a run of random code was good for.
struct EmulationRun {
  std::string difference;  ///< between both ways to execute it, or empty
  bool compared = false;   ///< both ways ended by a fault; others are cut and tell nothing
  bool changed = false;    ///< compared, and registers or memory were not those of the start
};

/// Runs bytes as bundles, once with specialised handlers and once with general ones, in guest
/// memory that holds nothing else but some data. Whatever the bytes are, the emulator itself must
/// not fail.
EmulationRun run_random_code(std::span<const uint8_t> code);

/// Code that is more likely to be valid: instructions of the table with random fields.
std::vector<uint8_t> make_random_code(uint64_t seed);

}  // namespace respike::fuzz

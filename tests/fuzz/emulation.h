#pragma once
// Random code under the IA-64 emulator.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace respike::fuzz {

/// The results of a run of random code.
struct EmulationRun {
  std::string difference;  ///< between the two ways to execute the code, or empty
  bool compared = false;   ///< both ways ended by a fault; other runs are cut and show nothing
  bool changed = false;    ///< compared, and the run changed registers or memory
};

/// Runs bytes as bundles, once with specialised handlers and once with general handlers, in guest
/// memory that holds only the code and some data. Whatever the bytes are, the emulator itself must
/// not fail.
EmulationRun run_random_code(std::span<const uint8_t> code);

/// Makes code that is more likely to be valid: instructions of the table with random fields.
std::vector<uint8_t> make_random_code(uint64_t seed);

}  // namespace respike::fuzz

#pragma once
// The checksum of a PE file.

#include <cstdint>
#include <vector>

namespace respike::pe {

inline constexpr uint64_t kChecksum = 64;  // in the optional header, of both kinds

/// Writes the checksum of a file into the file at `place`, unless the field there is 0, which means
/// none. The sum: all 16-bit words with end-around carry, plus the size of the file, as in
/// ImageHlp.
void write_checksum(std::vector<uint8_t>& file, uint64_t place);

}  // namespace respike::pe

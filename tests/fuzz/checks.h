#pragma once
// The demands of fuzzing on each step, for any bytes. The fuzzers and the smoke test use these
// checks.
//
// A check returns a finding in one sentence, or nothing; a respike::Error is a fine answer to a
// damaged file. The caller's tools look for crashes, undefined behaviour, and excessive time and
// memory.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace respike {

/// How far the input came.
enum class FuzzDepth : uint8_t { refused, read, rewritable, lifted, rewritten };

struct FuzzResult {
  FuzzDepth depth = FuzzDepth::refused;
  std::optional<std::string> finding;
  std::string error;  // why the input was refused
};

FuzzResult check_reader(std::span<const uint8_t> bytes);
FuzzResult check_lifter(std::span<const uint8_t> bytes);
/// Rewrites the image in its own order, or in a random order by `seed`.
FuzzResult check_rewrite(std::span<const uint8_t> bytes, uint64_t seed);
/// Rewrites the image with counters in it.
FuzzResult check_instrument(std::span<const uint8_t> bytes);
/// Reads, writes and rereads unwind regions; both reads must agree. The image is the smallest IA-64
/// image with one entry in its table of unwind regions; `bytes` are its number of bundles (two
/// bytes), then the entry's information block.
FuzzResult check_unwind(std::span<const uint8_t> bytes);
/// Rewrites debug sections for code in another order; debug.cc describes the inputs.
FuzzResult check_debug(std::span<const uint8_t> bytes);
FuzzResult check_ir_text(std::string_view text);
/// Checks a profile, a counter map or a counter file, distinguished by their first bytes. Checksums
/// are corrected first, so that the reader reaches the damaged contents.
FuzzResult check_counting(std::span<const uint8_t> bytes);

}  // namespace respike

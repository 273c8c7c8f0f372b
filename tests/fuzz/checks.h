#pragma once
// What fuzzing demands of each step, for any bytes: shared by the fuzzers and the smoke test.
//
// A check returns what is wrong in one sentence, or nullopt; a respike::Error is a fine answer to
// a damaged file. Crashes, undefined behaviour, time and memory are for the caller's tools to see.

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
  std::string error;  // of what was refused
};

FuzzResult check_reader(std::span<const uint8_t> bytes);
FuzzResult check_lifter(std::span<const uint8_t> bytes);
/// In the input's order, or a random one by `seed`.
FuzzResult check_rewrite(std::span<const uint8_t> bytes, uint64_t seed);
/// With counters in it.
FuzzResult check_instrument(std::span<const uint8_t> bytes);
/// The smallest image of IA-64 with one entry in its table of unwind regions: `bytes` are its
/// number of bundles (two bytes), then the entry's information block. What is read must be the same
/// after it was written.
FuzzResult check_unwind(std::span<const uint8_t> bytes);
FuzzResult check_ir_text(std::string_view text);
/// A profile, a counter map or a counter file, told apart by their first bytes. Checksums are made
/// right first: damage behind them is what is looked for.
FuzzResult check_counting(std::span<const uint8_t> bytes);

}  // namespace respike

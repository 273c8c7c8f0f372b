#pragma once
// Damages files of Respike's own formats: bytes 16 to 23 hold a checksum of all later bytes.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "optimizer/base/bytes.h"
#include "optimizer/base/hash.h"
#include "tests/unit/flow_testing.h"

namespace respike {

/// Reads a file; returns the error, or an empty text.
using ErrorOf = std::function<std::string(const std::vector<uint8_t>&)>;

/// Expects that cut files are refused, and that every changed byte is noticed.
inline void expect_damage_refused(const std::vector<uint8_t>& bytes, const ErrorOf& error_of,
                                  Random& random) {
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(error_of({bytes.begin(), bytes.begin() + static_cast<long>(size)}), "") << size;
  for (size_t i = 0; i < bytes.size(); ++i) {
    auto damaged = bytes;
    damaged[i] ^= static_cast<uint8_t>(1 + below(random, 255));
    EXPECT_NE(error_of(damaged), "") << i;
  }
}

/// Damages bytes and corrects the checksum, many times. `judge` gets the bytes, and the error if
/// there is one.
inline void damage_below_checksum(
    const std::vector<uint8_t>& bytes, const ErrorOf& error_of, Random& random,
    const std::function<void(const std::vector<uint8_t>&, const std::string&)>& judge) {
  constexpr uint32_t kChecksum = 16, kCovered = 24;
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    auto damaged = bytes;
    for (uint32_t n = 1 + below(random, 3); n-- > 0;)
      damaged[kCovered + below(random, static_cast<uint32_t>(damaged.size()) - kCovered)] =
          static_cast<uint8_t>(random());
    store(damaged.data() + kChecksum, hash64(std::span(damaged).subspan(kCovered)));
    const std::string error = error_of(damaged);
    refused += !error.empty();
    judge(damaged, error);
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace respike

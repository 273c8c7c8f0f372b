#pragma once
// Code that tests of the readers of PE and ECOFF share: the contents of an image, its rewritten
// form, and damage.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/check/invariants.h"
#include "optimizer/image/image.h"
#include "optimizer/lift/lift.h"
#include "optimizer/pipeline.h"

namespace respike {

/// Stores a number at an offset, which may be past the end.
template <typename T>
void put(std::vector<uint8_t>& bytes, size_t at, T value) {
  if (bytes.size() < at + sizeof value) bytes.resize(at + sizeof value);
  store(&bytes[at], value);
}

/// Stores instructions of Alpha, one after the other.
inline void put_words(std::vector<uint8_t>& bytes, size_t at,
                      std::initializer_list<uint32_t> words) {
  for (const uint32_t word : words) {
    put(bytes, at, word);
    at += sizeof word;
  }
}

/// The message of require_rewritable() or read_image() about an image.
inline std::string refusal_of(std::vector<uint8_t> bytes, const std::string& name) {
  try {
    require_rewritable(read_image(std::move(bytes), name));
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

inline const Symbol* symbol_named(const Image& image, std::string_view name) {
  const auto found = std::ranges::find(image.symbols, name, &Symbol::name);
  return found == image.symbols.end() ? nullptr : &*found;
}

inline Program lifted(const Image& image) {
  Diagnostics diagnostics;
  return lift(image, diagnostics);
}

inline const Procedure* procedure_at(const Program& program, uint64_t address) {
  const auto found = std::ranges::find(program.procedures, address, &Procedure::address);
  return found == program.procedures.end() ? nullptr : &*found;
}

inline OptimizeResult rewrite(const Image& image, OptimizeOptions::Order order, uint64_t seed = 1) {
  OptimizeOptions options;
  options.order = order;
  options.seed = seed;
  Diagnostics diagnostics;
  return optimize(image, options, diagnostics);
}

/// Reads, lifts and rewrites damaged images, and counts how that ends.
class Damage {
 public:
  /// An Error is fine, unless it reports a mistake of Respike itself.
  void exercise(const std::vector<uint8_t>& bytes, const std::string& what) {
    try {
      const Image image = read_image(bytes, "damaged");
      require_rewritable(image);
      const Program program = lifted(image);
      EXPECT_EQ(find_violation(program), std::nullopt) << what;
      rewrite(image, OptimizeOptions::Order::random);
      ++rewritten;
    } catch (const Error& error) {
      EXPECT_STRNE(error.what(), "");
      EXPECT_EQ(std::string(error.what()).find("internal error"), std::string::npos)
          << what << ": " << error.what();
      ++refused;
    }
  }

  /// Cuts the image to all lengths that are `wanted`, and to one of 29 others.
  void truncate(const std::vector<uint8_t>& good, const std::function<bool(size_t)>& wanted) {
    for (size_t size = 1; size < good.size(); size += wanted(size) ? 1 : 29)
      exercise({good.begin(), good.begin() + static_cast<ptrdiff_t>(size)},
               fmt::format("{} bytes", size));
  }

  /// Puts a number into the number at `at`, as wide as the alignment of `at` allows, `widest` at
  /// most.
  void change(const std::vector<uint8_t>& good, size_t at, uint64_t value, size_t widest) {
    std::vector<uint8_t> damaged = good;
    if (at % 8 == 0 && widest == 8)
      store(&damaged[at], value);
    else if (at % 4 == 0)
      store(&damaged[at], static_cast<uint32_t>(value));
    else
      store(&damaged[at], static_cast<uint16_t>(value));
    exercise(damaged, fmt::format("{:#x} at {:#x}", value, at));
  }

  /// Flips a bit of every byte; of padding, of one byte in `step`.
  void flip_bits(const std::vector<uint8_t>& good, size_t step, std::mt19937& random) {
    constexpr size_t kHeaders = 0x100;
    for (size_t at = 0; at < good.size(); ++at) {
      if (good[at] == 0 && at > kHeaders && at % step != 0) continue;
      const unsigned bit = random() % 8;
      std::vector<uint8_t> damaged = good;
      damaged[at] ^= static_cast<uint8_t>(1u << bit);
      exercise(damaged, fmt::format("bit {} at {:#x}", bit, at));
    }
  }

  int rewritten = 0, refused = 0;
};

}  // namespace respike

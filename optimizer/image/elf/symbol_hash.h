#pragma once
// The hash tables by which the dynamic linker finds symbols: .hash (gABI chapter 5, Hash Table) and
// .gnu.hash (binutils bfd/elflink.c; glibc elf/dl-lookup.c).

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "optimizer/base/bytes.h"
#include "optimizer/image/image.h"

namespace respike::elf {

uint32_t sysv_hash(std::string_view name);
uint32_t gnu_hash(std::string_view name);

/// Bytes of an entry of .hash: 4, on some machines 8.
inline uint64_t hash_entry_size(const Section& hash) {
  return hash.raw.entry_size == 8 ? 8 : 4;
}
/// How many symbols .hash has; nullopt: the table is too short.
std::optional<uint64_t> symbol_count(const Section& hash);
/// Which of `symbols` symbols are in a chain of .hash.
std::vector<bool> chained_symbols(const Section& hash, uint64_t symbols);
/// The symbol that .hash finds by a name; `is_named(number)` says whether a symbol has the name. 0:
/// none, or the table is damaged.
template <typename F>
uint64_t find_by_hash(const Section& hash, std::string_view name, F is_named) {
  const uint64_t size = hash_entry_size(hash), entries = hash.contents.size() / size;
  const auto at = [&](uint64_t index) -> uint64_t {
    if (index >= entries) return 0;
    return size == 8 ? load<uint64_t>(&hash.contents[8 * index])
                     : load<uint32_t>(&hash.contents[4 * index]);
  };
  const uint64_t buckets = at(0), symbols = at(1);
  if (buckets == 0) return 0;
  uint64_t symbol = at(2 + sysv_hash(name) % buckets);
  for (uint64_t steps = 0; symbol != 0 && symbol < symbols && steps < symbols; ++steps) {
    if (is_named(symbol)) return symbol;
    symbol = at(2 + buckets + symbol);
  }
  return 0;
}

/// .gnu.hash: a Bloom filter, then for each bucket the first symbol of its chain, then for each
/// symbol from `first` on its hash, whose lowest bit marks the end of a chain.
class GnuHash {
 public:
  /// nullopt unless the table has all symbols from `first` up to `symbols`, at least one.
  static std::optional<GnuHash> read(const Section& section, uint64_t symbols);

  size_t chain_offset(uint64_t symbol) const { return chains_ + 4 * (symbol - first_); }
  bool knows(uint64_t symbol) const { return symbol >= first_; }

  template <typename F>
  uint64_t find(std::string_view name, F is_named) const {
    const uint32_t hash = gnu_hash(name);
    const auto word = load<uint64_t>(&contents_[kHeader + 8 * (hash / 64 % filter_words_)]);
    if ((word >> (hash % 64) & word >> ((hash >> filter_shift_) % 64) & 1) == 0) return 0;
    uint64_t symbol = load<uint32_t>(&contents_[buckets_at_ + 4 * (hash % buckets_)]);
    if (symbol < first_) return 0;
    for (; chain_offset(symbol) < contents_.size(); ++symbol) {
      const auto chained = load<uint32_t>(&contents_[chain_offset(symbol)]);
      if (((chained ^ hash) >> 1) == 0 && is_named(symbol)) return symbol;
      if ((chained & 1) != 0) return 0;
    }
    return 0;
  }

 private:
  static constexpr size_t kHeader = 16;

  std::span<const uint8_t> contents_;
  uint32_t buckets_ = 0, first_ = 0, filter_words_ = 0, filter_shift_ = 0;
  size_t buckets_at_ = 0, chains_ = 0;  // offsets
};

}  // namespace respike::elf

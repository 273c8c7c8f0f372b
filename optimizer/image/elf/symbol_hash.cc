// Reading of the dynamic linker's hash tables. See symbol_hash.h.

#include "optimizer/image/elf/symbol_hash.h"

#include <algorithm>

namespace respike::elf {

uint32_t sysv_hash(std::string_view name) {
  uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4) + static_cast<uint8_t>(c);
    const uint32_t top = hash & 0xf0000000;
    hash = (hash ^ top >> 24) & ~top;
  }
  return hash;
}

uint32_t gnu_hash(std::string_view name) {
  uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<uint8_t>(c);
  return hash;
}

std::optional<uint64_t> symbol_count(const Section& hash) {
  const uint64_t entry = hash_entry_size(hash);
  if (hash.contents.size() < 2 * entry) return std::nullopt;
  return entry == 8 ? load<uint64_t>(&hash.contents[8]) : load<uint32_t>(&hash.contents[4]);
}

std::vector<bool> chained_symbols(const Section& hash, uint64_t symbols) {
  std::vector<bool> chained(symbols);
  const uint64_t size = hash_entry_size(hash);
  for (uint64_t at = 2 * size; at + size <= hash.contents.size(); at += size) {
    const uint64_t symbol =
        size == 8 ? load<uint64_t>(&hash.contents[at]) : load<uint32_t>(&hash.contents[at]);
    if (symbol < symbols) chained[symbol] = true;
  }
  return chained;
}

std::optional<GnuHash> GnuHash::read(const Section& section, uint64_t symbols) {
  GnuHash table;
  table.contents_ = section.contents;
  const auto& contents = table.contents_;
  if (contents.size() < kHeader) return std::nullopt;
  table.buckets_ = load<uint32_t>(&contents[0]);
  table.first_ = load<uint32_t>(&contents[4]);
  table.filter_words_ = load<uint32_t>(&contents[8]);
  table.filter_shift_ = load<uint32_t>(&contents[12]);
  if (table.buckets_ == 0 || table.first_ == 0 || table.first_ >= symbols ||
      table.filter_words_ == 0 || table.filter_shift_ >= 32)
    return std::nullopt;
  table.buckets_at_ = kHeader + size_t{8} * table.filter_words_;
  table.chains_ = table.buckets_at_ + size_t{4} * table.buckets_;
  if (contents.size() != table.chain_offset(symbols)) return std::nullopt;
  // The chain that begins last has to end with the last symbol.
  uint32_t last = 0;
  for (uint32_t i = 0; i < table.buckets_; ++i)
    last = std::max(last, load<uint32_t>(&contents[table.buckets_at_ + size_t{4} * i]));
  if (last < table.first_ || last >= symbols) return std::nullopt;
  uint64_t end = last;
  while (end < symbols && (load<uint32_t>(&contents[table.chain_offset(end)]) & 1) == 0) ++end;
  if (end != symbols - 1) return std::nullopt;
  return table;
}

}  // namespace respike::elf

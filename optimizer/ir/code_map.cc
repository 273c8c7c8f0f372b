// Instructions of variable length, found by address.
//
// Problem: "which instruction comes before this address?" has no answer by arithmetic when lengths
// differ, and lifting asks that for every relocation, symbol and branch target.
//
// Idea: a bit vector with ranks (Jacobson, Space-efficient static trees and graphs, FOCS 1989). One
// bit per byte of code marks the starts of instructions. Each word of 64 bits has the number of
// bits in the words before it. The number of an instruction is its word's count plus the number of
// bits below its own bit; the address of a number is found by a binary search for the word and a
// walk through the word's bits. Next and previous are the neighbours of an address's bit; at the
// end of a section they are found through numbers. Bits and ranks together take 1.5 bits per byte
// of code.
//
// Example: lengths 1, 5, 2 at 0x1000 set bits 0, 1, 6 and, for the end, 8: the number of 0x1006 is
// 2, that of 0x1008 is 3.

#include "optimizer/ir/code_map.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <optional>
#include <span>

namespace respike {
namespace {

constexpr unsigned kBits = 64;

/// The place of the bit of rank `n`, counted from 0, in a word that has more than n bits set.
unsigned select(uint64_t word, uint64_t n) {
  for (; n != 0; --n) word &= word - 1;
  return static_cast<unsigned>(std::countr_zero(word));
}

/// The last bit set at or before bit `at`; nullopt: no such bit.
std::optional<uint64_t> last_bit(std::span<const uint64_t> words, uint64_t at) {
  uint64_t number = at / kBits;
  uint64_t word = words[number] & (~uint64_t{0} >> (kBits - 1 - at % kBits));
  while (word == 0 && number != 0) word = words[--number];
  if (word == 0) return std::nullopt;
  return number * kBits + (kBits - 1 - static_cast<unsigned>(std::countl_zero(word)));
}

/// The first bit set after bit `at`; nullopt: no such bit.
std::optional<uint64_t> first_bit_behind(std::span<const uint64_t> words, uint64_t at) {
  uint64_t number = at / kBits;
  uint64_t word = words[number] & ~(~uint64_t{0} >> (kBits - 1 - at % kBits));
  while (word == 0 && number + 1 < words.size()) word = words[++number];
  if (word == 0) return std::nullopt;
  return number * kBits + static_cast<unsigned>(std::countr_zero(word));
}

}  // namespace

CodeMap::CodeMap(std::span<const Lengths> sections) : groups_{.bytes = 0, .slots = 1} {
  uint64_t count = 0;
  for (const Lengths& from : sections) {
    Section section;
    section.start = section.end = from.start;
    // The end of a section and the start of a section directly after it are one place.
    const bool adjacent = !sections_.empty() && sections_.back().end == from.start;
    section.first = adjacent ? count - 1 : count;
    for (const uint8_t length : from.lengths) {
      section.end += length;
      largest_ = std::max<unsigned>(largest_, length);
    }
    assert(sections_.empty() || sections_.back().end <= section.start);
    section.words.resize((section.end - section.start) / kBits + 1);
    uint64_t at = 0;
    const auto set = [&] { section.words[at / kBits] |= uint64_t{1} << at % kBits; };
    for (const uint8_t length : from.lengths) {
      set();
      at += length;
    }
    set();
    uint32_t rank = 0;
    for (const uint64_t word : section.words) {
      section.ranks.push_back(rank);
      rank += static_cast<uint32_t>(std::popcount(word));
    }
    count = section.first + rank;
    sections_.push_back(std::move(section));
  }
}

const CodeMap::Section* CodeMap::section_at(uint64_t address) const {
  const auto after =
      std::upper_bound(sections_.begin(), sections_.end(), address,
                       [](uint64_t a, const Section& section) { return a < section.start; });
  return after == sections_.begin() ? nullptr : &*(after - 1);
}

bool CodeMap::starts_instruction(uint64_t address) const {
  const Section* section = section_at(address);
  if (section == nullptr || address >= section->end) return false;
  const uint64_t at = address - section->start;
  return (section->words[at / kBits] >> at % kBits & 1) != 0;
}

uint64_t CodeMap::variable_index(uint64_t address) const {
  const Section* section = section_at(address);
  assert(section != nullptr);
  const uint64_t at = std::min(address, section->end) - section->start;
  const uint64_t up_to = ~uint64_t{0} >> (kBits - 1 - at % kBits);
  const int below = std::popcount(section->words[at / kBits] & up_to);
  return section->first + section->ranks[at / kBits] + static_cast<unsigned>(below) - 1;
}

uint64_t CodeMap::variable_address(uint64_t index) const {
  const auto after =
      std::upper_bound(sections_.begin(), sections_.end(), index,
                       [](uint64_t i, const Section& section) { return i < section.first; });
  assert(after != sections_.begin());
  const Section& section = *(after - 1);
  const uint64_t rank = index - section.first;
  const auto word = std::upper_bound(section.ranks.begin(), section.ranks.end(), rank) - 1;
  const auto number = static_cast<uint64_t>(word - section.ranks.begin());
  return section.start + number * kBits + select(section.words[number], rank - *word);
}

uint64_t CodeMap::variable_start(uint64_t address) const {
  const Section* section = section_at(address);
  assert(section != nullptr);
  const uint64_t at = std::min(address, section->end) - section->start;
  return section->start + *last_bit(section->words, at);  // there is a bit at the start
}

uint64_t CodeMap::variable_next(uint64_t address) const {
  const Section* section = section_at(address);
  assert(section != nullptr);
  if (address < section->end)
    if (const auto bit = first_bit_behind(section->words, address - section->start))
      return section->start + *bit;
  return variable_address(variable_index(address) + 1);
}

uint64_t CodeMap::variable_previous(uint64_t address) const {
  const Section* section = section_at(address);
  assert(section != nullptr);
  const uint64_t start = variable_start(address) - section->start;
  if (start != 0)
    if (const auto bit = last_bit(section->words, start - 1)) return section->start + *bit;
  return variable_address(variable_index(address) - 1);
}

}  // namespace respike

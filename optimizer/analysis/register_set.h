#pragma once
// Sets of registers in the machine's flat numbering.
//
// Analyses keep sets for every block of an image, millions of sets. So they use the smallest size
// that holds the machine's registers: one word for 64 registers, two for 128, eight for 459. Their
// results have the largest size, RegisterSet, so that users need no template.

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "optimizer/machine/machine.h"

namespace respike {

template <size_t Words>
class BasicRegisterSet {
 public:
  static constexpr size_t kCapacity = 64 * Words;

  constexpr BasicRegisterSet() = default;
  explicit constexpr BasicRegisterSet(std::span<const Register> registers) {
    for (const Register r : registers) add(r);
  }
  /// From a set of another size, which must have no register that does not fit.
  template <size_t Other>
  explicit constexpr BasicRegisterSet(const BasicRegisterSet<Other>& other) {
    for (size_t i = 0; i < Other; ++i) {
      assert(i < Words || other.word(i) == 0);
      if (i < Words) words_[i] = other.word(i);
    }
  }
  /// Registers 0 to count - 1.
  static constexpr BasicRegisterSet first(size_t count) {
    BasicRegisterSet set;
    for (size_t i = 0; i < Words && count > 64 * i; ++i)
      set.words_[i] = count - 64 * i >= 64 ? ~uint64_t{0} : (uint64_t{1} << count % 64) - 1;
    return set;
  }

  constexpr void add(Register r) { words_[r / 64] |= bit(r); }
  constexpr void add(std::optional<Register> r) {
    if (r) add(*r);
  }
  constexpr void remove(Register r) { words_[r / 64] &= ~bit(r); }
  constexpr bool contains(Register r) const { return (words_[r / 64] & bit(r)) != 0; }
  constexpr bool empty() const { return *this == BasicRegisterSet(); }
  constexpr unsigned count() const {
    unsigned result = 0;
    for (const uint64_t word : words_) result += static_cast<unsigned>(std::popcount(word));
    return result;
  }
  constexpr uint64_t word(size_t i) const { return words_[i]; }

  constexpr BasicRegisterSet& operator|=(const BasicRegisterSet& other) {
    for (size_t i = 0; i < Words; ++i) words_[i] |= other.words_[i];
    return *this;
  }
  constexpr BasicRegisterSet& operator&=(const BasicRegisterSet& other) {
    for (size_t i = 0; i < Words; ++i) words_[i] &= other.words_[i];
    return *this;
  }
  constexpr BasicRegisterSet& operator-=(const BasicRegisterSet& other) {
    for (size_t i = 0; i < Words; ++i) words_[i] &= ~other.words_[i];
    return *this;
  }
  friend constexpr BasicRegisterSet operator|(BasicRegisterSet a, const BasicRegisterSet& b) {
    return a |= b;
  }
  friend constexpr BasicRegisterSet operator&(BasicRegisterSet a, const BasicRegisterSet& b) {
    return a &= b;
  }
  friend constexpr BasicRegisterSet operator-(BasicRegisterSet a, const BasicRegisterSet& b) {
    return a -= b;
  }
  constexpr bool operator==(const BasicRegisterSet&) const = default;
  constexpr bool includes(const BasicRegisterSet& other) const { return (other - *this).empty(); }

  /// Calls f(Register) in ascending order.
  template <typename F>
  constexpr void for_each(F f) const {
    for (size_t i = 0; i < Words; ++i)
      for (uint64_t word = words_[i]; word != 0; word &= word - 1)
        f(static_cast<Register>(64 * i + static_cast<size_t>(std::countr_zero(word))));
  }

 private:
  static constexpr uint64_t bit(Register r) { return uint64_t{1} << r % 64; }

  std::array<uint64_t, Words> words_{};
};

/// Wide enough for every machine.
using RegisterSet = BasicRegisterSet<8>;

/// Calls f.operator()<W>() with the fewest words W that hold the machine's registers.
template <typename F>
auto with_smallest_set(unsigned registers, F f) {
  if (registers <= BasicRegisterSet<1>::kCapacity) return f.template operator()<1>();
  if (registers <= BasicRegisterSet<2>::kCapacity) return f.template operator()<2>();
  return f.template operator()<8>();
}

/// The registers that an instruction reads.
template <size_t Words = 8>
BasicRegisterSet<Words> uses_of(const Operands& operands) {
  return BasicRegisterSet<Words>(std::span(operands.registers, operands.uses));
}

/// The registers that an instruction writes.
template <size_t Words = 8>
BasicRegisterSet<Words> defs_of(const Operands& operands) {
  return BasicRegisterSet<Words>(
      std::span(operands.registers + operands.uses, operands.registers + operands.size));
}

/// Turns the registers live after an instruction into those live before it. A predicated
/// instruction may leave its results alone.
template <size_t Words>
void step_back(const Machine& machine, const Instruction& instruction,
               BasicRegisterSet<Words>& live) {
  if (instruction.is_pseudo()) return;
  const Operands operands = machine.operands(instruction);
  if (instruction.predicate == 0)
    for (unsigned i = operands.uses; i < operands.size; ++i) live.remove(operands.registers[i]);
  for (unsigned i = 0; i < operands.uses; ++i) live.add(operands.registers[i]);
}

}  // namespace respike

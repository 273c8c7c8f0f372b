#pragma once
// What is known about the values at a point of two programs that run side by side.

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "optimizer/machine/rewrite_facts.h"

namespace respike {

using ValueId = uint32_t;

/// How a value was computed, as far as known.
struct Computation {
  static constexpr uint32_t kUnknown = 0, kSum = 1;  // larger numbers are operations of a machine

  uint32_t operation = kUnknown;
  uint32_t size = 0;              // of `from`
  int64_t constant = 0;           // kSum: from[0] + constant
  std::array<ValueId, 4> from{};  // smaller than the value's own number

  bool operator==(const Computation&) const = default;
};

/// The values that places hold: equal numbers are equal values. The user numbers the places.
struct KnownValues {
  std::vector<ValueId> at;            // per place
  std::vector<Computation> values;    // by number of the value
  std::vector<ValueClasses> classes;  // by number: the classes that the value may be in

  bool operator==(const KnownValues&) const = default;
};

/// Values while straight-line code runs: computations add new values.
class ValueTable {
 public:
  explicit ValueTable(const KnownValues& known);

  ValueId fresh();
  /// The same computation gives the same number.
  ValueId compute(const Computation& computation);
  ValueId sum(ValueId base, int64_t constant);
  /// value - base, if it is a known constant.
  std::optional<int64_t> distance(ValueId value, ValueId base) const;
  ValueClasses classes(ValueId value) const { return classes_[value]; }
  void set_classes(ValueId value, ValueClasses classes) { classes_[value] = classes; }
  /// Knowledge in which places hold the values `at`.
  KnownValues known(std::vector<ValueId> at) const { return {std::move(at), values_, classes_}; }

 private:
  struct Hash {
    size_t operator()(const Computation& c) const;
  };
  ValueId add(const Computation& computation);

  std::vector<Computation> values_;
  std::vector<ValueClasses> classes_;  // per value
  std::unordered_map<Computation, ValueId, Hash> known_;
};

/// The same knowledge, numbered in an order that depends only on the knowledge: equal knowledge
/// becomes equal data. A computation is kept if its operands come, in a few steps, from values of
/// the places [from, to).
KnownValues canonical(const KnownValues& known, size_t from, size_t to);

/// What both know. Linear in the places and in the pairs of computations that are joined.
KnownValues join(const KnownValues& a, const KnownValues& b);

}  // namespace respike

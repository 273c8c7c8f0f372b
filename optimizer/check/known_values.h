#pragma once
// What is known of the values at a point of two programs that run side by side.

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "optimizer/machine/rewrite_facts.h"

namespace respike {

using ValueId = uint32_t;

/// How a value was computed, as far as that is known.
struct Computation {
  static constexpr uint32_t kUnknown = 0, kSum = 1;  // other numbers are those of operations

  uint32_t operation = kUnknown;
  uint32_t size = 0;              // of `from`
  int64_t constant = 0;           // kSum: from[0] + constant
  std::array<ValueId, 4> from{};  // smaller than the value's own number

  bool operator==(const Computation&) const = default;
};

/// The values that places hold: equal numbers are equal values. Places are numbered by the user.
struct KnownValues {
  std::vector<ValueId> at;            // per place
  std::vector<Computation> values;    // by number
  std::vector<ValueClasses> classes;  // by number: those that the value may be in

  bool operator==(const KnownValues&) const = default;
};

/// Values of a straight piece of code, to which computations add new ones.
class ValueTable {
 public:
  explicit ValueTable(const KnownValues& known);

  ValueId fresh();
  /// The same number for the same computation.
  ValueId compute(const Computation& computation);
  ValueId sum(ValueId base, int64_t constant);
  /// The constant by which a value is more than `base`, if it is known.
  std::optional<int64_t> distance(ValueId value, ValueId base) const;
  ValueClasses classes(ValueId value) const { return classes_[value]; }
  void set_classes(ValueId value, ValueClasses classes) { classes_[value] = classes; }
  /// What is known, for places that hold `at`.
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

/// The same knowledge with numbers in an order of its own, so that equal knowledge is equal. How a
/// value was computed is kept as far as it starts from what places in [from, to) hold.
KnownValues canonical(const KnownValues& known, size_t from, size_t to);

/// What both say. Linear in places and in pairs of computations that meet.
KnownValues join(const KnownValues& a, const KnownValues& b);

}  // namespace respike

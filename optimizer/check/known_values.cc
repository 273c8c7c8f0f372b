// Places that hold the same value have the same number. For a number it is known how the value was
// computed, even when no place holds the operands any more.
//
// Example: one path ends with r1 = 5 + r2 and r3 = r1, the other with r1 = r2 * 2 and r3 = r1. The
// join knows that r1 and r3 are equal, but not how they were computed.
//
// A join keeps what both sides know: two places are equal if they are equal on both sides; the
// computation of a value is known if both sides computed it by the same operation, from operands
// that are joined in the same way. Each join makes sets of equal places smaller, loses
// computations, and adds to the classes that a value may be in, so any sequence of joins reaches a
// fixed point. To keep knowledge small, a computation is kept only if its operands come, in a few
// steps, from values of the places that the user names.

#include "optimizer/check/known_values.h"

#include <algorithm>

namespace respike {
namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

/// Numbers values in the order in which places and computations refer to them.
class Canonical {
 public:
  Canonical(const KnownValues& known, size_t from, size_t to)
      : known_(known),
        number_(known.values.size(), kUnseen),
        depth_(known.values.size(), kNowhere),
        kept_(known.values.size()) {
    for (size_t place = from; place < to; ++place) depth_[known.at[place]] = 0;
    for (ValueId id = 0; id < known.values.size(); ++id) {
      const Computation& c = known.values[id];
      if (c.operation == Computation::kUnknown) continue;
      uint32_t depth = 0;
      for (uint32_t k = 0; k < c.size; ++k) depth = std::max(depth, depth_[c.from[k]]);
      if (depth >= kDeepest) continue;
      kept_[id] = true;
      depth_[id] = std::min(depth_[id], depth + 1);
    }
  }

  KnownValues run() {
    for (const ValueId id : known_.at) result_.at.push_back(visit(id));
    return std::move(result_);
  }

 private:
  static constexpr ValueId kUnseen = ~ValueId{0};
  static constexpr uint32_t kDeepest = 16, kNowhere = ~uint32_t{0};

  ValueId visit(ValueId id) {
    if (number_[id] != kUnseen) return number_[id];
    Computation computation;
    if (kept_[id]) {
      computation = known_.values[id];
      for (uint32_t k = 0; k < computation.size; ++k)
        computation.from[k] = visit(computation.from[k]);
    }
    number_[id] = static_cast<ValueId>(result_.values.size());
    result_.values.push_back(computation);
    result_.classes.push_back(known_.classes[id]);
    return number_[id];
  }

  const KnownValues& known_;
  std::vector<ValueId> number_;
  std::vector<uint32_t> depth_;  // of the computation; 0: one of the named places holds the value
  std::vector<bool> kept_;       // whether the computation is kept, not only the value's number
  KnownValues result_;
};

class Join {
 public:
  Join(const KnownValues& a, const KnownValues& b) : a_(a), b_(b) {}

  KnownValues run() {
    for (size_t place = 0; place < a_.at.size(); ++place)
      result_.at.push_back(visit(a_.at[place], b_.at[place]));
    return std::move(result_);
  }

 private:
  ValueId visit(ValueId a, ValueId b) {
    const uint64_t pair = uint64_t{a} << 32 | b;
    if (const auto known = known_.find(pair); known != known_.end()) return known->second;
    Computation both;
    const Computation &x = a_.values[a], &y = b_.values[b];
    if (x.operation != Computation::kUnknown && x.operation == y.operation && x.size == y.size &&
        x.constant == y.constant) {
      both = x;
      for (uint32_t k = 0; k < x.size; ++k) both.from[k] = visit(x.from[k], y.from[k]);
    }
    const auto id = static_cast<ValueId>(result_.values.size());
    result_.values.push_back(both);
    result_.classes.push_back(a_.classes[a] | b_.classes[b]);
    known_.emplace(pair, id);
    return id;
  }

  const KnownValues &a_, &b_;
  std::unordered_map<uint64_t, ValueId> known_;
  KnownValues result_;
};

}  // namespace

size_t ValueTable::Hash::operator()(const Computation& c) const {
  uint64_t hash = mix(c.operation, static_cast<uint64_t>(c.constant));
  for (uint32_t k = 0; k < c.size; ++k) hash = mix(hash, c.from[k]);
  return hash;
}

ValueTable::ValueTable(const KnownValues& known) : values_(known.values), classes_(known.classes) {
  for (ValueId id = 0; id < values_.size(); ++id)
    if (values_[id].operation != Computation::kUnknown) known_.emplace(values_[id], id);
}

ValueId ValueTable::add(const Computation& computation) {
  values_.push_back(computation);
  classes_.push_back(kAnyClass);
  return static_cast<ValueId>(values_.size() - 1);
}

ValueId ValueTable::fresh() {
  return add({});
}

ValueId ValueTable::compute(const Computation& computation) {
  const auto [known, added] = known_.try_emplace(computation, static_cast<ValueId>(values_.size()));
  if (added) add(computation);
  return known->second;
}

ValueId ValueTable::sum(ValueId base, int64_t constant) {
  if (values_[base].operation == Computation::kSum) {
    constant += values_[base].constant;
    base = values_[base].from[0];
  }
  if (constant == 0) return base;
  return compute({Computation::kSum, 1, constant, {base}});
}

std::optional<int64_t> ValueTable::distance(ValueId value, ValueId base) const {
  if (value == base) return 0;
  const Computation& c = values_[value];
  if (c.operation == Computation::kSum && c.from[0] == base) return c.constant;
  return std::nullopt;
}

KnownValues canonical(const KnownValues& known, size_t from, size_t to) {
  return Canonical(known, from, to).run();
}

KnownValues join(const KnownValues& a, const KnownValues& b) {
  return Join(a, b).run();
}

}  // namespace respike

#pragma once
// Gp-relative addresses formed by two instructions. Private to this folder.

#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "optimizer/lift/lifter.h"

namespace respike {

class HalfTracer;

/// One half of a gp-relative address. The halves of one address share symbol and addend, right or
/// wrong.
struct Half {
  ProcedureId procedure = kNone;
  uint32_t symbol = 0;
  int64_t addend = 0;
  bool low = false;
  uint64_t place = 0;
  uint64_t value = 0;  // added to the base register

  auto key() const { return std::tuple(procedure, symbol, addend); }
  bool operator<(const Half& other) const {
    return std::tuple(key(), low, place) < std::tuple(other.key(), other.low, other.place);
  }
};

/// All halves with one symbol and addend in one procedure. Nearly always they form one address; but
/// input sections of one object that went to the same output section may use the same wrong addend.
struct HalfGroup {
  std::span<const Half> highs, lows;  // by place
  std::vector<uint64_t> sums;         // of each upper with each lower half: distinct, sorted
  bool moving = false;                // refers to code or unwind tables

  const Half& front() const { return highs.empty() ? lows.front() : highs.front(); }
};

/// find_references() calls the steps in this order.
class GpHalves {
 public:
  explicit GpHalves(Lifter& lifter) : lifter_(lifter) {}

  /// Makes references of all groups with one address. For other groups, notes the tables to which
  /// they may refer.
  void find();
  /// Keeps in place everything to which procedures with unknown gp refer.
  void keep_unknown(WordGps& gps) const;
  /// Settles the other groups, once all other references of the program are found.
  void settle();

 private:
  void collect();
  HalfGroup group_of(size_t begin, size_t end) const;
  void read(HalfGroup group);
  uint64_t target_of(const HalfGroup& group, uint64_t sum) const;
  bool is_table(uint64_t target) const;
  bool note_tables(const HalfGroup& group);
  void refer(const Half& half, uint64_t target);
  std::vector<std::optional<uint64_t>> targets_of(const HalfGroup& group, HalfTracer& tracer) const;
  bool settle(const HalfGroup& group, HalfTracer& tracer);
  void give_up(const HalfGroup& group);
  void keep(const HalfGroup& group, uint64_t target);
  std::vector<uint64_t> labels() const;

  Lifter& lifter_;
  std::vector<Half> halves_;
  std::vector<HalfGroup> unknown_;                  // groups of procedures with unknown gp
  std::vector<HalfGroup> open_;                     // groups with several addresses
  std::unordered_map<uint64_t, uint64_t> settled_;  // place of a lower half -> its target
  uint64_t effort_ = 0;                             // instructions that settle() may still look at
};

}  // namespace respike

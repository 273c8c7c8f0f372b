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

/// One half of a gp-relative address. Halves of one address share symbol and addend, right or
/// wrong.
struct Half {
  ProcedureId procedure = kNone;
  uint32_t symbol = 0;
  int64_t addend = 0;
  bool low = false;
  uint64_t place = 0;
  uint64_t value = 0;  // what it adds

  auto key() const { return std::tuple(procedure, symbol, addend); }
  bool operator<(const Half& other) const {
    return std::tuple(key(), low, place) < std::tuple(other.key(), other.low, other.place);
  }
};

/// All halves with one symbol and addend in one procedure. They are nearly always of one address;
/// but input sections of one object that went to the same output section may use the same wrong
/// addend.
struct HalfGroup {
  std::span<const Half> highs, lows;  // by place
  std::vector<uint64_t> sums;         // every upper half with every lower half: distinct, sorted
  bool moving = false;                // refers to what moves

  const Half& front() const { return highs.empty() ? lows.front() : highs.front(); }
};

/// The steps, in their order, are called by find_references().
class GpHalves {
 public:
  explicit GpHalves(Lifter& lifter) : lifter_(lifter) {}

  /// References of all groups of one address. Of others: the tables that they may mean.
  void find();
  /// Keeps what procedures refer to whose gp is not known.
  void keep_unknown(WordGps& gps) const;
  /// The other groups, once all other references of the program are found.
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
  std::vector<HalfGroup> unknown_;                  // their gp is not known
  std::vector<HalfGroup> open_;                     // of more than one address
  std::unordered_map<uint64_t, uint64_t> settled_;  // places of lower halves, and their targets
  uint64_t effort_ = 0;                             // instructions that settle() may still look at
};

}  // namespace respike

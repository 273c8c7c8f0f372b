#pragma once
// A profile as the database keeps it: a shape, which gives the counts their meaning, and the counts
// of the procedures that were entered. Also sums of counts. Internal to profiledb.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/profile/profile.h"
#include "profiledb/image_store.h"

namespace respike {

/// The procedures of a profile without counts, in order.
using Shape = std::vector<ProcedureProfile>;

/// The counts of a procedure: a byte (1: exact); the counts of blocks, edges and calls in the order
/// of the shape; the number of indirect targets and for each target its block, target less
/// `address`, and changes. decode_counts() sets the counts of `procedure`, which must have the
/// shape of the encoded procedure.
std::vector<uint8_t> encode_counts(const ProcedureProfile& procedure);
void decode_counts(std::span<const uint8_t> bytes, ProcedureProfile& procedure);

/// Procedures as the database keeps them: each by encode_procedure, without counts.
struct EncodedShape {
  std::vector<std::vector<uint8_t>> procedures;
  ContentHash hash;  // of all procedures
};
/// `procedures` must have no counts.
EncodedShape encode_shape(std::span<const ProcedureProfile> procedures);
/// All procedures of a profile without its counts.
Shape shape_of(std::span<const ProcedureProfile> procedures);

/// Whether a procedure has any count that is worth keeping.
bool is_counted(const ProcedureProfile& procedure);

/// Sets all counts to 0, exact, without indirect targets.
void clear_counts(ProcedureProfile& procedure);

/// Adds the counts of `more`, which has the same shape, to `sum`.
void add_counts(ProcedureProfile& sum, const ProcedureProfile& more);

/// Adds up counts of one shape, multiplied by factors, and rounds once at the end; sums are at most
/// 2^64 - 1. A sum is exact when all factors are 1. The entries of each block are also rounded to
/// the nearest integer: rounding adds no entry where there was none.
class CountSum {
 public:
  explicit CountSum(Shape shape) : shape_(std::move(shape)), sums_(shape_.size()) {}

  const Shape& shape() const { return shape_; }
  /// 0 <= factor <= kMostFactor. `procedure` has counts and the shape of `ordinal`.
  void add(size_t ordinal, const ProcedureProfile& procedure, double factor);
  Shape take();

  static constexpr double kMostFactor = 1 << 20;

 private:
  /// 24 bits after the binary point. A product takes 108 of the 128 bits, which leaves room for a
  /// million summands.
  using Fixed = unsigned __int128;
  static constexpr unsigned kFractionBits = 24;
  static constexpr Fixed kOne = Fixed{1} << kFractionBits, kHalf = kOne / 2;
  struct Target {
    BlockId block;
    uint64_t target;
    Fixed changes;
  };
  struct Sum {
    std::vector<Fixed> blocks, edges, calls;  // empty: never entered
    std::vector<Target> indirect;
    bool exact = true;
  };
  static uint64_t rounded(Fixed value);
  static void round_edges(const ProcedureProfile& procedure, Sum& sum);

  Shape shape_;
  std::vector<Sum> sums_;
};

/// Merges two profiles of the same build; a procedure is known by its address and name. If both
/// profiles have the same blocks of a procedure, the result has the edges and calls of both. If the
/// blocks differ, because different versions of Respike lifted the procedure differently, the
/// result has the procedure of `first`.
Shape unite(Shape first, const Shape& second);

}  // namespace respike

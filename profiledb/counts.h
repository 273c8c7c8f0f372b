#pragma once
// Profiles taken apart as the database keeps them: shapes, which say what is counted, and counts of
// procedures that were entered; and sums of counts. Internal to profiledb.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/profile/profile.h"
#include "profiledb/image_store.h"

namespace respike {

/// The procedures of a profile without counts, in order.
using Shape = std::vector<ProcedureProfile>;

/// The counts of a procedure: a byte (1: exact), those of blocks, edges and calls in the order of
/// the shape, the number of indirect targets and for each block, target less `address`, changes.
/// decode sets them in `procedure`, whose shape must be that of the encoded one.
std::vector<uint8_t> encode_counts(const ProcedureProfile& procedure);
void decode_counts(std::span<const uint8_t> bytes, ProcedureProfile& procedure);

/// Procedures as the database keeps them: each by encode_procedure, without counts.
struct EncodedShape {
  std::vector<std::vector<uint8_t>> procedures;
  ContentHash hash;  // of all of them
};
/// Of procedures without counts.
EncodedShape encode_shape(std::span<const ProcedureProfile> procedures);
/// All procedures of a profile without its counts.
Shape shape_of(std::span<const ProcedureProfile> procedures);

/// Whether a procedure has anything that is worth keeping.
bool is_counted(const ProcedureProfile& procedure);

/// Sets all counts to 0, exact, without indirect targets.
void clear_counts(ProcedureProfile& procedure);

/// Adds the counts of one more of the same shape.
void add_counts(ProcedureProfile& sum, const ProcedureProfile& more);

/// Adds counts of one shape up, multiplied by factors, rounded once at the end; at most 2^64 - 1.
/// Without factors other than 1 the sum is exact.
class CountSum {
 public:
  explicit CountSum(Shape shape) : shape_(std::move(shape)), sums_(shape_.size()) {}

  const Shape& shape() const { return shape_; }
  /// 0 <= factor <= kMostFactor. `procedure` has counts and the shape of `ordinal`.
  void add(size_t ordinal, const ProcedureProfile& procedure, double factor);
  Shape take();

  static constexpr double kMostFactor = 1 << 20;

 private:
  /// 24 bits behind the point; 20 bits above those of a product: room for a million summands.
  using Fixed = unsigned __int128;
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

  Shape shape_;
  std::vector<Sum> sums_;
};

/// One profile of two of the same build, by address and name of the procedures. Where the blocks
/// are the same, edges and calls that only one of them knows are kept; where they are not, because
/// different versions of Respike saw them differently, the counts of `first` are kept.
Shape unite(Shape first, const Shape& second);

}  // namespace respike

#pragma once
// Which code of the output came from which code of the input.
//
// The map is a list of pieces. A piece is code of the output in which all instructions moved by the
// same distance, or a single instruction whose size changed. Code that is in no movable procedure
// stays in place and has no pieces.
//
// Example: a block [0x1040, 0x1060) moves to 0x5000 and its last instruction, a branch of 6 bytes,
// is now 2 bytes long: the pieces are [0x5000, 0x501a) from [0x1040, 0x105a) and [0x501a, 0x501c)
// from [0x105a, 0x1060).

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace respike {

struct MovedPiece {
  enum class Kind : uint8_t {
    own,     // instructions of the input
    bridge,  // an instruction that the rewriter added on the way to the code at `old_start`
  };
  uint64_t new_start = 0;
  uint64_t new_end = 0;
  /// The input's instructions from old_from to old_start were removed: what was true there is true
  /// at new_start, before the first instruction of the piece. old_from is never below the start of
  /// the block.
  uint64_t old_from = 0;
  uint64_t old_start = 0;
  uint64_t old_end = 0;
  uint32_t fragment = 0;  // pieces of one fragment have only padding between them
  Kind kind = Kind::own;
  bool copy = false;  // a later copy of its code
  bool hot = false;   // in a hot part, whose frame differs from the input's
  static constexpr uint32_t kExact = UINT32_MAX;
  uint32_t stale = kExact;  // index of AddressMap's stale values; kExact: all values are there

  bool resized() const { return new_end - new_start != old_end - old_start; }
};

/// The values that may be missing at a place of a procedure from which hot-cold optimization
/// removed instructions (emit/stale_values.h).
struct StaleValues {
  std::vector<bool> registers;  // by the number that debug information uses
  bool memory = false;          // of the frame
  bool all = false;             // every register, and memory

  bool none() const { return !all && !memory && registers.empty(); }
  bool has(uint64_t number) const {
    return all || (number < registers.size() && registers[number]);
  }
  bool has_memory() const { return all || memory; }
  void add(uint64_t number) {
    if (number >= registers.size()) registers.resize(number + 1);
    registers[number] = true;
  }
  StaleValues& operator|=(const StaleValues& other) {
    for (size_t i = 0; i < other.registers.size(); ++i)
      if (other.registers[i]) add(i);
    memory |= other.memory;
    all |= other.all;
    return *this;
  }
  auto operator<=>(const StaleValues&) const = default;
};

/// A half-open range of output code that came from consecutive code of the input.
struct MovedPart {
  uint64_t new_start = 0;
  uint64_t new_end = 0;
  uint64_t old_start = 0;
  uint32_t piece = UINT32_MAX;  // index of AddressMap::pieces(); UINT32_MAX: code that stays

  bool stays() const { return piece == UINT32_MAX; }
};

class AddressMap {
 public:
  using Range = std::pair<uint64_t, uint64_t>;  // of addresses, half-open

  AddressMap() = default;
  /// `moved`: the ranges of movable procedures in the input. `code`: the sections with code in the
  /// input. Both by address, without overlaps.
  AddressMap(std::vector<MovedPiece> pieces, std::vector<Range> moved, std::vector<Range> code,
             std::vector<StaleValues> stale = {});

  /// All pieces by their addresses in the output.
  const std::vector<MovedPiece>& pieces() const { return pieces_; }
  /// The values that may be stale in a piece; nullptr: it has all values of the input.
  const StaleValues* stale_values(const MovedPiece& piece) const;
  bool has_stale_values() const { return !stale_.empty(); }
  bool is_code(uint64_t old_address) const;
  /// Whether the address may have changed: it is inside a movable procedure.
  bool is_moved(uint64_t old_address) const;

  /// Where the code of [start, end) is now, in the order of the addresses in the output.
  void find_parts(uint64_t start, uint64_t end, std::vector<MovedPart>& parts) const;
  /// The same as ranges without gaps between them. Padding between blocks of a fragment joins them.
  /// Returns the number of parts, which is the cost.
  size_t find_ranges(uint64_t start, uint64_t end, std::vector<Range>& ranges) const;
  /// The same without the pieces whose stale values make `is_lost` true.
  size_t find_ranges(uint64_t start, uint64_t end, std::vector<Range>& ranges,
                     const std::function<bool(const StaleValues&)>& is_lost) const;
  /// The same, and the first range starts at the new place of `start`.
  size_t find_ranges_of_entry(uint64_t start, uint64_t end, std::vector<Range>& ranges) const;

  /// The new address of the instruction at `old_address`, or of the instruction that is executed in
  /// its place where it was removed; nullopt: no such instruction. Addresses outside of movable
  /// procedures stay.
  std::optional<uint64_t> find(uint64_t old_address) const;
  /// The new address after the instruction that ended at `old_address`, such as a return address.
  std::optional<uint64_t> find_behind(uint64_t old_address) const;

 private:
  /// Calls f(piece) for the pieces whose code, or whose removed code before it, overlaps [start,
  /// end).
  template <typename F>
  void for_pieces(uint64_t start, uint64_t end, F f) const;

  std::vector<MovedPiece> pieces_;
  std::vector<uint32_t> by_old_;    // pieces by old_from
  std::vector<uint64_t> old_ends_;  // of by_old_[0..i]: the largest old_end
  std::vector<Range> moved_;
  std::vector<Range> code_;
  std::vector<StaleValues> stale_;
};

/// Collects the pieces of a fragment from its instructions, in the order of the output.
class PieceBuilder {
 public:
  PieceBuilder(std::vector<MovedPiece>& pieces, uint32_t fragment)
      : pieces_(pieces), fragment_(fragment), first_(pieces.size()) {}

  /// Starts a block whose code in the input begins at `old_start`, which may be unknown.
  void start_block(std::optional<uint64_t> old_start, bool is_copy, bool is_hot = false) {
    stale_ = MovedPiece::kExact;
    last_end_ = old_start;
    is_copy_ = is_copy;
    is_hot_ = is_hot;
    joins_ = false;
  }
  /// What is stale from here on: an index of AddressMap's stale values.
  void set_stale(uint32_t stale) {
    joins_ = joins_ && stale == stale_;
    stale_ = stale;
  }
  /// An instruction at [new_start, new_end) that stood at [old_start, old_end).
  void add(uint64_t new_start, uint64_t new_end, uint64_t old_start, uint64_t old_end);
  /// Adds an instruction of the rewriter inside a block: it belongs to the next instruction.
  void add_in_front(uint64_t new_start) {
    if (!waiting_) waiting_ = new_start;
  }
  /// Ends a block at `new_end`. The rewriter's waiting instructions lead to the code at `leads_to`;
  /// without it they belong to the code before them.
  void end_block(uint64_t new_end, std::optional<std::pair<uint64_t, uint64_t>> leads_to);

 private:
  std::vector<MovedPiece>& pieces_;
  uint32_t fragment_;
  size_t first_;
  std::optional<uint64_t> waiting_;   // the start of the rewriter's instructions
  std::optional<uint64_t> last_end_;  // in the input, of the block's last instruction so far
  bool is_copy_ = false;
  bool is_hot_ = false;
  uint32_t stale_ = MovedPiece::kExact;
  bool joins_ = false;  // the next instruction may join the last piece
};

}  // namespace respike

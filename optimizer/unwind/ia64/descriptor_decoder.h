#pragma once
// Descriptors of unwind regions as a sequence of regions; private to this folder.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "optimizer/base/bytes.h"
#include "optimizer/unwind/ia64/region_encoding.h"

namespace respike::regions {

// Limit of lengths of code, times and offsets.
inline constexpr uint64_t kMaxLength = uint64_t{1} << 30;

enum class Where : uint8_t {
  none,
  general,
  floating,
  branch,
  stack,         // at the stack pointer + value
  previous,      // at the previous stack pointer + value
  spill_home,    // in the spill area, which is laid out at the end of the prologue
  next_general,  // in a general register, to be chosen at the end of the prologue
};

// Places have indices: first the special registers, in the order of their table (the last is the
// word of NaT bits in a general register), then the word of NaT bits in memory, then preserved
// registers.
inline constexpr size_t kSpecials = std::size(kSpecialRegisters);
inline constexpr size_t kPrimaryNatInGeneral = kSpecials - 1;
inline constexpr size_t kPrimaryNatInMemory = kSpecials;
inline constexpr size_t kFirstGeneral = kSpecials + 1;
inline constexpr size_t kFirstFloating = kFirstGeneral + kMaskedGeneral;
inline constexpr size_t kFirstBranch = kFirstFloating + kMaskedFloating;
inline constexpr size_t kPlaces = kFirstBranch + kMaskedBranch;
static_assert(kSpecialRegisters[kPrimaryNatInGeneral].number == kPrimaryNat);

constexpr size_t index_of_special(uint32_t number) {
  size_t index = 0;
  while (kSpecialRegisters[index].number != number) ++index;
  return index;
}
inline constexpr size_t kStackIndex = index_of_special(kPreviousStack);
inline constexpr size_t kReturnIndex = index_of_special(kReturnAddress);

/// The register with an index.
uint32_t number_of(size_t index);

/// The statement of a descriptor about one place, or about the state.
struct Descriptor {
  enum class Kind : uint8_t {
    place,           // where, value
    time,            // time
    frame_size,      // value, time
    spill_base,      // value
    spill_times,     // mask
    explicit_place,  // where, value, time
    return_branch,   // value: the register
    epilogue,        // value: the count; time
    label,           // value
    copy,            // value
  };
  Kind kind{};
  Where where = Where::none;
  size_t index = 0;
  int64_t value = 0;
  int64_t time = 0;
  std::span<const uint8_t> mask = {};
};

struct Region {
  bool body = false;
  bool last = false;
  int64_t start = 0, length = 0;
  int64_t first_general = 32;  // for implicit saves
  std::vector<Descriptor> descriptors;

  int64_t end() const { return start + length; }
  int64_t clamp(int64_t time) const { return start + std::min(time, length - 1); }
};

/// Splits descriptors into regions. Throws Error for descriptors that are not understood.
class Decoder {
 public:
  explicit Decoder(std::span<const uint8_t> bytes) : reader_(bytes, "unwind descriptors") {}

  bool at_end() const { return reader_.at_end(); }
  /// The next region, which starts at slot `start`.
  Region next(int64_t start);

 private:
  using Kind = Descriptor::Kind;

  void header(uint8_t code);
  void save_in_order(unsigned mask, uint8_t general);
  void prologue_descriptor(uint8_t code);
  void special_descriptor(uint8_t code);
  void body_descriptor(uint8_t code);
  void explicit_place(uint8_t code);
  void masked(uint64_t mask, size_t first, unsigned count, Where where, int64_t value = 0);
  void add(Descriptor descriptor);
  int64_t number();
  uint8_t byte() { return reader_.read<uint8_t>(); }
  uint8_t peek() const { return ByteReader(reader_).read<uint8_t>(); }

  ByteReader reader_;
  Region region_;
};

}  // namespace respike::regions

#pragma once
// Translated blocks of one thread.
//
// Each thread has its own blocks, so that nothing needs a lock and counts need no atomic addition.
// A block begins at an address and slot, and belongs to one value of CFM: the sizes of the frame
// and of the rotating region and the rename bases are known at translation, so that rotation costs
// nothing at run time. (A software-pipelined loop gets up to 96 translations of its body, one for
// each base.) Blocks that may see NaT bits have keys of their own: kNatKey.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "emulators/ia64/micro_op.h"
#include "emulators/ia64/model_feed.h"
#include "optimizer/machine/ia64/codec.h"

namespace respike::emulator::ia64 {

struct Process;
struct Thread;

/// Added to the CFM in the key of a block whose instructions check NaT bits.
constexpr uint64_t kNatKey = uint64_t{1} << 63;

/// An instruction for general handlers: registers are physical numbers.
struct GeneralInstruction {
  respike::ia64::Slot slot;
  uint64_t ip = 0;    ///< bundle and slot
  uint64_t next = 0;  ///< address and slot of the next instruction
};

/// How often a run of slots was executed.
struct Count {
  uint64_t ip = 0;     ///< of the first slot
  uint32_t slots = 0;  ///< three for each bundle
  int64_t count = 0;
};

/// Flag of an origin: the instruction takes two slots.
constexpr uint32_t kLongInstruction = uint32_t{1} << 31;

struct Block {
  uint64_t ip = 0, key = 0;
  std::vector<MicroOp> ops;
  std::vector<uint32_t> origins;  ///< of each operation: slots since ip, three for each bundle
  std::deque<GeneralInstruction> instructions;
  std::deque<Link> links;
  std::vector<std::pair<uint32_t, Count*>> segments;  ///< with the operation that counts it
  std::deque<Stretch> stretches;                      ///< for each segment, if a model is driven
};

class BlockCache {
 public:
  /// The first operation of the block with this address and key, translated if needed.
  const MicroOp* find(Thread& thread, uint64_t ip, uint64_t key);
  /// Makes a branch that left the translated code lead to `target` from now on.
  static void link(MicroOp* branch, const MicroOp* target);
  /// The bundle address and slot of the instruction that an operation belongs to.
  uint64_t origin(const MicroOp* op) const;
  /// The block that starts with an operation.
  const Block* starting_with(const MicroOp* op) const;

  /// Takes back the counts of the instructions after `op` in its segment, which did not run.
  /// `feed`: the feed of the model, or null.
  void uncount(const MicroOp* op, ThreadFeed* feed);

  /// Forgets all blocks, but keeps counts.
  void clear(Cpu& cpu);

  Count* new_count(uint64_t ip) {
    counts_.push_back({ip, 0, 0});
    return &counts_.back();
  }
  std::deque<Count>& counts() { return counts_; }

  uint64_t generation = 0;  ///< GuestMemory::code_generation() that blocks were translated at

 private:
  struct Key {
    uint64_t ip, key;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& k) const {
      return k.ip * 0x9e3779b97f4a7c15 ^ k.key * 0xff51afd7ed558ccd;
    }
  };
  const Block* block_of(const MicroOp* op) const;

  std::unordered_map<Key, std::unique_ptr<Block>, Hash> blocks_;
  std::map<const MicroOp*, const Block*> by_op_;
  std::deque<Count> counts_;
};

/// The address and slot that is `slots` slots after `ip`.
constexpr uint64_t advance_slots(uint64_t ip, uint64_t slots) {
  const uint64_t place = (ip & 3) + slots;
  return (ip & ~uint64_t{15}) + place / 3 * 16 + place % 3;
}
constexpr uint64_t slots_between(uint64_t from, uint64_t to) {
  return ((to & ~uint64_t{15}) - (from & ~uint64_t{15})) / 16 * 3 + (to & 3) - (from & 3);
}

/// Translates the block at an address (translate.cc).
std::unique_ptr<Block> translate(Thread& thread, uint64_t ip, uint64_t key);

}  // namespace respike::emulator::ia64

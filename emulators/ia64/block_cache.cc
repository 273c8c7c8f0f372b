// Finds blocks by address and frame marker, and the instruction that an operation belongs to.

#include "emulators/ia64/block_cache.h"

#include <algorithm>

#include "emulators/ia64/handlers.h"
#include "emulators/ia64/process.h"

namespace respike::emulator::ia64 {

const MicroOp* BlockCache::find(Thread& thread, uint64_t ip, uint64_t key) {
  auto& block = blocks_[{ip, key}];
  if (block == nullptr) {
    block = translate(thread, ip, key);
    by_op_[block->ops.data()] = block.get();
  }
  const MicroOp* op = block->ops.data();
  if (!(key & kNatKey) && (ip & 3) == 0) thread.cpu.jumps[jump_index(ip, key)] = {ip, key, op};
  return op;
}

void BlockCache::link(MicroOp* branch, const MicroOp* target) {
  branch->run = static_cast<const Link*>(branch->data)->resolved;
  branch->target = target;
}

const Block* BlockCache::block_of(const MicroOp* op) const {
  return std::prev(by_op_.upper_bound(op))->second;
}

const Block* BlockCache::starting_with(const MicroOp* op) const {
  return by_op_.at(op);
}

uint64_t BlockCache::origin(const MicroOp* op) const {
  const Block& block = *block_of(op);
  const uint32_t slots = block.origins[static_cast<size_t>(op - block.ops.data())];
  return advance_slots(block.ip, slots & ~kLongInstruction);
}

void BlockCache::uncount(const MicroOp* op, ThreadFeed* feed) {
  const Block& block = *block_of(op);
  if (block.segments.empty()) return;
  const auto index = static_cast<uint32_t>(op - block.ops.data());
  auto segment = std::upper_bound(block.segments.begin(), block.segments.end(), index,
                                  [](uint32_t i, const auto& entry) { return i < entry.first; });
  if (segment == block.segments.begin()) return;
  const Count& counted = *std::prev(segment)->second;
  const bool is_long = block.origins[index] & kLongInstruction;
  const uint64_t from = advance_slots(origin(op), is_long ? 2 : 1);
  const uint64_t done = slots_between(counted.ip, from);
  if (feed != nullptr) feed->leave(from, advance_slots(counted.ip, counted.slots));
  if (done < counted.slots)
    counts_.push_back({from, counted.slots - static_cast<uint32_t>(done), -1});
}

void BlockCache::clear(Cpu& cpu) {
  blocks_.clear();
  by_op_.clear();
  std::fill_n(cpu.jumps, kJumpEntries, JumpEntry{});
}

}  // namespace respike::emulator::ia64

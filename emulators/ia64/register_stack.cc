// Moves registers between the array and the backing store, one by one, in the order of addresses.
//
// The engine stores a collection of NaT bits when it reaches the collection's word; until then
// ar.rnat gathers the bits. On the way down, ar.rnat takes the word that the engine passes.
// Progress is kept register by register: every access to guest memory may fault, and a fault must
// leave a state in which the instruction can be repeated. Example: flushrs of 70 registers from a
// 512-byte boundary on stores 63 registers, the collection, then 7 registers.

#include "emulators/ia64/register_stack.h"

#include <algorithm>
#include <cstring>

#include "emulators/ia64/cpu.h"
#include "emulators/ia64/memory_access.h"

namespace respike::emulator::ia64 {

namespace {

constexpr int64_t kSlots = 1 << 16;
constexpr int64_t kFrame = 96;
constexpr int64_t kStart = 1024;  // the slots below serve returns after a flush

}  // namespace

RegisterStack::RegisterStack() : slots_(kSlots), nats_(kSlots) {
  limit_ = slots_.data() + kSlots - 4 * kFrame;
  dirty_ = slots_.data() + kStart;
}

void RegisterStack::start(Cpu& cpu, uint64_t backing_store) {
  dirty_ = cpu.frame = slots_.data() + kStart;
  bspstore_ = backing_store;
  rnat_ = 0;
}

uint64_t RegisterStack::bsp(const Cpu& cpu) const {
  return skip_registers(bspstore_, cpu.frame - dirty_);
}

/// Stores the dirty registers below `end`.
void RegisterStack::spill(Cpu& cpu, uint64_t* end) {
  while (dirty_ < end) {
    if (is_collection(bspstore_)) {
      store_guest<uint64_t>(cpu, bspstore_, rnat_);
      bspstore_ += 8;
      rnat_ = 0;
    }
    store_guest<uint64_t>(cpu, bspstore_, *dirty_);
    const uint64_t bit = uint64_t{1} << backing_slot(bspstore_);
    rnat_ = *nat(dirty_) ? rnat_ | bit : rnat_ & ~bit;
    forget_nats(cpu, dirty_, dirty_ + 1);
    bspstore_ += 8;
    ++dirty_;
  }
  // bsp never points to a collection: the collection goes with the register before it.
  if (is_collection(bspstore_)) {
    store_guest<uint64_t>(cpu, bspstore_, rnat_);
    bspstore_ += 8;
    rnat_ = 0;
  }
}

void RegisterStack::flush(Cpu& cpu) {
  spill(cpu, cpu.frame);
}

void RegisterStack::forget_nats(Cpu& cpu, uint64_t* from, uint64_t* to) {
  if (cpu.nat_count == 0) return;
  for (uint8_t* place = nat(from); place < nat(to); ++place) {
    cpu.nat_count -= *place;
    *place = 0;
  }
}

/// Moves all registers in the array up or down.
void RegisterStack::shift(Cpu& cpu, int64_t distance) {
  const size_t count = static_cast<size_t>(cpu.frame - dirty_ + 2 * kFrame);
  forget_nats(cpu, slots_.data(), dirty_);
  forget_nats(cpu, dirty_ + count, slots_.data() + kSlots);
  const std::vector<uint8_t> nats(nat(dirty_), nat(dirty_) + count);
  std::fill_n(nat(dirty_), count, 0);
  std::copy(nats.begin(), nats.end(), nat(dirty_ + distance));
  std::memmove(dirty_ + distance, dirty_, count * sizeof(uint64_t));
  dirty_ += distance;
  cpu.frame += distance;
}

void RegisterStack::make_room(Cpu& cpu) {
  if (cpu.frame <= limit_) return;
  spill(cpu, cpu.frame);
  shift(cpu, slots_.data() + kSlots / 2 - dirty_);
}

void RegisterStack::fill(Cpu& cpu, unsigned count) {
  const int64_t missing = static_cast<int64_t>(count) - (cpu.frame - dirty_);
  if (missing <= 0) return;
  if (dirty_ - slots_.data() < missing) {
    // If a register is missing, few registers are in the array: there is room above.
    shift(cpu, kSlots / 4);
  }
  for (int64_t left = missing; left > 0; --left) {
    uint64_t address = bspstore_ - 8;
    if (is_collection(address)) {
      rnat_ = load_guest<uint64_t>(cpu, address) & ~(uint64_t{1} << 63);
      bspstore_ = address;
      address -= 8;
    }
    const uint64_t value = load_guest<uint64_t>(cpu, address);
    bspstore_ = address;
    --dirty_;
    *dirty_ = value;
    const bool is_nat = rnat_ >> backing_slot(address) & 1;
    cpu.nat_count += static_cast<uint32_t>(is_nat) - *nat(dirty_);
    *nat(dirty_) = is_nat;
  }
}

void RegisterStack::load(Cpu& cpu, uint64_t bytes) {
  const uint64_t tear = bsp(cpu) - (bytes & ~uint64_t{7});
  const uint64_t wanted = registers_between(tear, bsp(cpu));
  if (static_cast<int64_t>(wanted) <= cpu.frame - dirty_) {
    // Registers below the tear point are given up.
    forget_nats(cpu, dirty_, cpu.frame - wanted);
    dirty_ = cpu.frame - wanted;
    bspstore_ = tear;
  } else {
    fill(cpu, static_cast<unsigned>(wanted));
    bspstore_ = tear;
  }
}

void RegisterStack::cover(Cpu& cpu, unsigned registers) {
  cpu.frame += registers;
  make_room(cpu);
}

}  // namespace respike::emulator::ia64

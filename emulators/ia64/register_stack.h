#pragma once
// The register stack and its engine.
//
// Stacked registers of all frames are consecutive in a linear array of the host, without the NaT
// collections of the backing store. A call moves the frame pointer up, a return moves it down;
// nothing is copied. The engine is as lazy as the architecture allows: registers go to the backing
// store in guest memory only when a program asks (flushrs), when the array is full, or for a
// signal; they come back when a return finds them missing.
//
//   array:  | ... free ... | dirty partition | current frame | free ... |
//                          ^ dirty = bspstore ^ frame = bsp
//
// There are no clean registers: the engine reads a stored register again when it is needed. The NaT
// bit of each register is a byte in a second array.
//
// Source: SDM 2, chapter 6.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace respike::emulator::ia64 {

struct Cpu;

class RegisterStack {
 public:
  RegisterStack();

  uint8_t* nat(uint64_t* slot) { return &nats_[static_cast<std::size_t>(slot - slots_.data())]; }

  /// Empties the stack and begins a new one at an address of guest memory.
  void start(Cpu& cpu, uint64_t backing_store);

  uint64_t bsp(const Cpu& cpu) const;
  uint64_t bspstore() const { return bspstore_; }
  uint64_t rnat() const { return rnat_; }
  void set_rnat(uint64_t value) { rnat_ = value & ~(uint64_t{1} << 63); }
  /// mov ar.bspstore: the dirty registers belong to the new address; bsp moves by the same
  /// distance.
  void set_bspstore(uint64_t address) { bspstore_ = address & ~uint64_t{7}; }

  /// The lowest register in the array: frames from here up are complete.
  uint64_t* dirty() const { return dirty_; }
  /// The highest place where frames may start: there is room for two largest frames after it.
  uint64_t* limit() const { return limit_; }

  // These functions may raise a fault at an address of the backing store. They change cpu.frame.

  /// Stores all dirty registers (flushrs).
  void flush(Cpu& cpu);
  /// loadrs: makes `bytes` below bsp the dirty partition.
  void load(Cpu& cpu, uint64_t bytes);
  /// Loads missing registers so that the frame can move down by `count` registers.
  void fill(Cpu& cpu, unsigned count);
  /// Makes room at the array's end once cpu.frame is past limit().
  void make_room(Cpu& cpu);
  /// Clears the NaT bits of registers that are no longer in any frame.
  void forget_nats(Cpu& cpu, uint64_t* from, uint64_t* to);
  void forget_nats_above(Cpu& cpu, uint64_t* from) { forget_nats(cpu, from, from + 2 * 96); }
  /// Makes the frame part of the dirty partition (cover, signals).
  void cover(Cpu& cpu, unsigned registers);

 private:
  void spill(Cpu& cpu, uint64_t* end);
  void shift(Cpu& cpu, int64_t distance);

  std::vector<uint64_t> slots_;
  std::vector<uint8_t> nats_;
  uint64_t* dirty_ = nullptr;
  uint64_t* limit_ = nullptr;
  uint64_t bspstore_ = 0;
  uint64_t rnat_ = 0;
};

}  // namespace respike::emulator::ia64

#pragma once
// One access to guest memory, as handlers do it. Accesses may be unaligned, as Linux makes them be.
//
// The host's MMU checks rights: its SIGSEGV becomes a guest fault of the instruction that `cpu.op`
// names, so that has to be set, and nothing may have changed yet.

#include <csignal>
#include <cstdint>
#include <cstring>

#include "simulator/ia64/cpu.h"
#include "simulator/ia64/guest_memory.h"

namespace respike::simulator::ia64 {

/// The access cannot be mapped at all: SIGSEGV.
[[noreturn]] void raise_unmappable(Cpu& cpu, uint64_t address);

inline char* host_address(Cpu& cpu, uint64_t address) {
  if (__builtin_expect((address & kUnmappableBits) != 0, 0)) raise_unmappable(cpu, address);
  return reinterpret_cast<char*>(address + cpu.bias[address >> 61]);
}

template <typename T>
inline T load_guest(Cpu& cpu, uint64_t address) {
  T value;
  asm volatile("" ::: "memory");  // what was done before is in memory when the access faults
  std::memcpy(&value, host_address(cpu, address), sizeof value);
  return value;
}

template <typename T>
inline void store_guest(Cpu& cpu, uint64_t address, T value) {
  asm volatile("" ::: "memory");
  std::memcpy(host_address(cpu, address), &value, sizeof value);
}

}  // namespace respike::simulator::ia64

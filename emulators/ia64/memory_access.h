#pragma once
// Single accesses to guest memory by handlers. Accesses may be unaligned, since Linux emulates
// them.
//
// The host's MMU checks rights: its SIGSEGV becomes a guest fault of the instruction that `cpu.op`
// names. So `cpu.op` must be set before the access, and no state may have changed yet.

#include <csignal>
#include <cstdint>
#include <cstring>

#include "emulators/ia64/cpu.h"
#include "emulators/ia64/guest_memory.h"

namespace respike::emulator::ia64 {

/// Raises SIGSEGV for an address that can never be mapped.
[[noreturn]] void raise_unmappable(Cpu& cpu, uint64_t address);

inline char* host_address(Cpu& cpu, uint64_t address) {
  if (__builtin_expect((address & kUnmappableBits) != 0, 0)) raise_unmappable(cpu, address);
  return reinterpret_cast<char*>(address + cpu.bias[address >> 61]);
}

template <typename T>
inline T load_guest(Cpu& cpu, uint64_t address) {
  T value;
  asm volatile("" ::: "memory");  // memory holds all earlier stores if the access faults
  std::memcpy(&value, host_address(cpu, address), sizeof value);
  return value;
}

template <typename T>
inline void store_guest(Cpu& cpu, uint64_t address, T value) {
  asm volatile("" ::: "memory");
  std::memcpy(host_address(cpu, address), &value, sizeof value);
}

}  // namespace respike::emulator::ia64

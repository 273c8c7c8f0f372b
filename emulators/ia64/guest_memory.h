#pragma once
// The guest's address space, inside one reserved part of the host's.
//
// IA-64 addresses have 64 bits: three bits choose one of eight regions, the others are an offset.
// Linux programs use little of each region, near its start. The first 2^40 bytes of each region
// have their place in a window of 8 TB that is reserved once; addresses beyond can never be mapped.
// So one test and one addition turn a guest address into a host address, and the host's own page
// tables do protection:
//
//   region 1  0x2000...  mmap        region 2, 3  0x4000..., 0x6000...  program, brk, stacks
//   region 5  0xa000...  the page of the signal trampoline, where Linux has its gate page
//
// Pages have 16 KB, as on most Linux systems of the machine. Host pages are never executable.

#include <sys/mman.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace respike::emulator::ia64 {

constexpr int kWindowBits = 40;
constexpr uint64_t kWindow = uint64_t{1} << kWindowBits;
constexpr uint64_t kPage = 16384;
/// The bits that are 0 in every address that can be mapped.
constexpr uint64_t kUnmappableBits = ~(uint64_t{7} << 61) & ~(kWindow - 1);

constexpr uint64_t region_base(unsigned region) {
  return uint64_t{region} << 61;
}
constexpr uint64_t page_up(uint64_t value) {
  return (value + kPage - 1) & ~(kPage - 1);
}
constexpr uint64_t page_down(uint64_t value) {
  return value & ~(kPage - 1);
}

/// Pages of one mapping.
struct Mapping {
  uint64_t end = 0;
  int protection = 0;  ///< the guest's PROT_ bits
  bool shared = false;
  std::string file;     ///< for reports: the path, [stack] and the like, or empty
  uint64_t offset = 0;  ///< in `file`, of the first byte
};

class GuestMemory {
 public:
  /// Reserves the window. Throws Error if the host has no room (RLIMIT_AS).
  GuestMemory();
  GuestMemory(const GuestMemory&) = delete;
  GuestMemory& operator=(const GuestMemory&) = delete;

  /// The difference between host addresses and guest addresses of a region.
  uint64_t bias(unsigned region) const {
    return base_ + (uint64_t{region} << kWindowBits) - region_base(region);
  }

  /// The host address of a guest address, mapped or not; null if the address can never be mapped.
  char* host(uint64_t address) const {
    if (address & kUnmappableBits) return nullptr;
    return reinterpret_cast<char*>(address + bias(static_cast<unsigned>(address >> 61)));
  }
  /// The host address of a range; null if a part of the range can never be mapped.
  char* host(uint64_t address, uint64_t size) const {
    const uint64_t offset = address & (kWindow - 1);
    return size <= kWindow && offset <= kWindow - size ? host(address) : nullptr;
  }
  /// The guest address of a place in the window; nothing for other places.
  std::optional<uint64_t> guest(const void* host) const;

  // The system calls, with the guest's flags and Linux's results: an address or a negative errno.
  int64_t map(uint64_t address, uint64_t size, int protection, int flags, int fd, int64_t offset,
              const std::string& file = {});
  int64_t unmap(uint64_t address, uint64_t size);
  int64_t protect(uint64_t address, uint64_t size, int protection);
  int64_t remap(uint64_t old, uint64_t old_size, uint64_t size, int flags, uint64_t wanted);
  int64_t set_break(uint64_t address);

  /// Sets the start of brk: after the program's data.
  void start_break(uint64_t address) { break_start_ = break_ = page_up(address); }

  /// The mapping that holds an address, and the start of the mapping.
  std::optional<std::pair<uint64_t, Mapping>> find(uint64_t address) const;
  /// Whether all of a range is mapped with these permissions.
  bool allows(uint64_t address, uint64_t size, int protection) const;
  /// All mappings in the form of /proc/self/maps.
  std::string describe() const;
  /// The executable mappings of files, in the format of counts.cc.
  std::string executable_maps() const;

  /// Held over fork, so that the child finds the table in a consistent state.
  std::recursive_mutex& lock() { return lock_; }

  /// A number that grows when executable pages change: decoded instructions may then be stale.
  uint64_t code_generation() const { return __atomic_load_n(&code_generation_, __ATOMIC_ACQUIRE); }
  void code_changed() {
    __atomic_add_fetch(&code_generation_, 1, __ATOMIC_ACQ_REL);
    if (on_code_change) on_code_change();
  }
  /// Called when code_generation() grows, possibly with lock() held: makes threads check soon.
  std::function<void()> on_code_change;

 private:
  bool in_window(uint64_t address, uint64_t size) const;
  bool is_free(uint64_t address, uint64_t size) const;
  std::optional<uint64_t> find_free(uint64_t size) const;
  void forget(uint64_t address, uint64_t end);
  void split(uint64_t address);
  void reserve(uint64_t address, uint64_t size);

  uint64_t base_ = 0;
  uint64_t break_start_ = 0, break_ = 0;
  uint64_t code_generation_ = 0;
  std::map<uint64_t, Mapping> mappings_;
  mutable std::recursive_mutex lock_;
};

}  // namespace respike::emulator::ia64

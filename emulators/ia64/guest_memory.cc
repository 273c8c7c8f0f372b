// Guest memory: host memory in a reserved window, and a table of the mappings.
//
// The host's kernel does the work: every mapping of the guest is a mapping of the host at the
// corresponding address, and the host's MMU raises faults. The table answers questions that the
// host cannot answer: which ranges are free (the reservation fills every hole of the window), which
// pages may be executed, whether a fault is due to a missing mapping or to permissions, and the
// names in /proc/self/maps.
//
// A page of the guest is four pages of the host. The last page of a file is filled with zeros up to
// the end of the guest's page, as in the machine's kernel; the host would raise SIGBUS there.
// Example: a private mapping of a file of 5,000 bytes has the file's two host pages and two pages
// of zeros.
//
// mremap leaves a part of the reservation unmapped for a moment. The reservation is far below the
// place that the host's kernel chooses for new mappings, so that no mapping of another thread falls
// into such a hole.
//
// Limits: MAP_GROWSDOWN and MAP_GROWSUP do not grow (stacks are mapped whole, lazily filled); huge
// pages are ordinary.

#include "emulators/ia64/guest_memory.h"

#include <fmt/format.h>
#include <linux/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include "optimizer/base/error.h"

namespace respike::emulator::ia64 {

namespace {

constexpr uint64_t kWindowSize = 8 * kWindow;
constexpr uint64_t kPreferredBase = uint64_t{1} << 44;
constexpr uint64_t kMapArea = region_base(1) + (uint64_t{1} << 30);
constexpr uint64_t kHostPage = 4096;

int host_protection(int protection) {
  int result = protection & (PROT_READ | PROT_WRITE);
  if (protection & PROT_EXEC) result |= PROT_READ;
  return result;
}

/// Fills the pages of a private mapping after the file's end, up to the end of the guest page with
/// the file's last byte.
void fill_last_page(char* host, uint64_t size, int protection, int fd, uint64_t offset) {
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return;
  const uint64_t file_size = static_cast<uint64_t>(status.st_size);
  if (file_size <= offset || file_size >= offset + size) return;
  const uint64_t valid = (file_size - offset + kHostPage - 1) & ~(kHostPage - 1);
  const uint64_t end = page_up(file_size - offset);
  if (valid < end) {
    mmap(host + valid, end - valid, host_protection(protection),
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  }
}

}  // namespace

GuestMemory::GuestMemory() {
  void* place = mmap(reinterpret_cast<void*>(kPreferredBase), kWindowSize, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) {
    throw Error(
        "cannot reserve 8 TB of address space for the program (is it limited by ulimit -v?)");
  }
  base_ = reinterpret_cast<uint64_t>(place);
}

std::optional<uint64_t> GuestMemory::guest(const void* host) const {
  const uint64_t distance = reinterpret_cast<uint64_t>(host) - base_;
  if (distance >= kWindowSize) return std::nullopt;
  return region_base(static_cast<unsigned>(distance >> kWindowBits)) + (distance & (kWindow - 1));
}

/// False for the last page of each region, since accesses that straddle regions must fault, and for
/// the page at 0.
bool GuestMemory::in_window(uint64_t address, uint64_t size) const {
  const uint64_t offset = address & (kWindow - 1);
  return host(address) != nullptr && address >= kPage && size <= kWindow &&
         offset + size <= kWindow - kPage;
}

bool GuestMemory::is_free(uint64_t address, uint64_t size) const {
  auto next = mappings_.upper_bound(address);
  if (next != mappings_.end() && next->first < address + size) return false;
  return next == mappings_.begin() || std::prev(next)->second.end <= address;
}

std::optional<uint64_t> GuestMemory::find_free(uint64_t size) const {
  uint64_t candidate = kMapArea;
  for (auto it = mappings_.lower_bound(candidate); it != mappings_.end(); ++it) {
    if (it->first >= candidate + size) break;
    candidate = it->second.end;
  }
  if (size > kWindow || !in_window(candidate, size)) return std::nullopt;
  return candidate;
}

/// Splits the mapping that has `address` inside at `address`.
void GuestMemory::split(uint64_t address) {
  auto it = mappings_.upper_bound(address);
  if (it == mappings_.begin()) return;
  --it;
  if (it->first == address || it->second.end <= address) return;
  Mapping rest = it->second;
  rest.offset += address - it->first;
  it->second.end = address;
  mappings_[address] = rest;
}

void GuestMemory::forget(uint64_t address, uint64_t end) {
  split(address);
  split(end);
  auto it = mappings_.lower_bound(address);
  while (it != mappings_.end() && it->first < end) {
    if (it->second.protection & PROT_EXEC) code_changed();
    it = mappings_.erase(it);
  }
}

void GuestMemory::reserve(uint64_t address, uint64_t size) {
  mmap(host(address), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
       0);
}

int64_t GuestMemory::map(uint64_t address, uint64_t size, int protection, int flags, int fd,
                         int64_t offset, const std::string& file) {
  const bool fixed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
  if (size == 0 || offset % static_cast<int64_t>(kPage) || (fixed && address % kPage))
    return -EINVAL;
  if (size > kWindow) return -ENOMEM;
  size = page_up(size);
  std::lock_guard guard(lock_);
  if (fixed) {
    if (!in_window(address, size)) return -ENOMEM;
    if ((flags & MAP_FIXED_NOREPLACE) && !is_free(address, size)) return -EEXIST;
  } else {
    address = page_up(address);
    if (address == 0 || !in_window(address, size) || !is_free(address, size)) {
      const auto place = find_free(size);
      if (!place) return -ENOMEM;
      address = *place;
    }
  }
  const int kept = MAP_SHARED | MAP_PRIVATE | MAP_SHARED_VALIDATE | MAP_ANONYMOUS | MAP_NORESERVE |
                   MAP_POPULATE | MAP_LOCKED;
  char* where = host(address);
  if (mmap(where, size, host_protection(protection), (flags & kept) | MAP_FIXED, fd, offset) ==
      MAP_FAILED) {
    return -errno;
  }
  const bool shared = (flags & MAP_TYPE) != MAP_PRIVATE;
  if (!(flags & MAP_ANONYMOUS) && !shared) {
    fill_last_page(where, size, protection, fd, static_cast<uint64_t>(offset));
  }
  forget(address, address + size);
  mappings_[address] = {address + size, protection, shared, file, static_cast<uint64_t>(offset)};
  if (protection & PROT_EXEC) code_changed();
  return static_cast<int64_t>(address);
}

int64_t GuestMemory::unmap(uint64_t address, uint64_t size) {
  if (address % kPage || size == 0) return -EINVAL;
  size = page_up(size);
  std::lock_guard guard(lock_);
  if (!in_window(address, size)) return -EINVAL;
  forget(address, address + size);
  reserve(address, size);
  return 0;
}

int64_t GuestMemory::protect(uint64_t address, uint64_t size, int protection) {
  if (address % kPage) return -EINVAL;
  if (size == 0) return 0;
  size = page_up(size);
  std::lock_guard guard(lock_);
  if (!in_window(address, size) || !allows(address, size, 0)) return -ENOMEM;
  protection &= PROT_READ | PROT_WRITE | PROT_EXEC;
  if (mprotect(host(address), size, host_protection(protection)) != 0) return -errno;
  split(address);
  split(address + size);
  for (auto it = mappings_.lower_bound(address);
       it != mappings_.end() && it->first < address + size; ++it) {
    if ((it->second.protection | protection) & PROT_EXEC) code_changed();
    it->second.protection = protection;
  }
  return 0;
}

int64_t GuestMemory::remap(uint64_t old, uint64_t old_size, uint64_t size, int flags,
                           uint64_t wanted) {
  if (old % kPage || size == 0 || old_size == 0 || size > kWindow || old_size > kWindow ||
      (flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED))) {
    return -EINVAL;
  }
  old_size = page_up(old_size);
  size = page_up(size);
  std::lock_guard guard(lock_);
  const auto found = find(old);
  if (!found || !in_window(old, old_size) || found->second.end < old + old_size) return -EFAULT;
  Mapping mapping = found->second;
  mapping.offset += old - found->first;
  if (!(flags & MREMAP_FIXED) && size <= old_size) {
    if (size < old_size) unmap(old + size, old_size - size);
    return static_cast<int64_t>(old);
  }
  uint64_t place = wanted;
  if (flags & MREMAP_FIXED) {
    const bool overlaps = wanted < old + old_size && old < wanted + size;
    if (!(flags & MREMAP_MAYMOVE) || wanted % kPage || !in_window(wanted, size) || overlaps) {
      return -EINVAL;
    }
    if (size < old_size) {
      unmap(old + size, old_size - size);
      old_size = size;
    }
  } else if (in_window(old, size) && is_free(old + old_size, size - old_size)) {
    munmap(host(old + old_size), size - old_size);
    const bool grown = mremap(host(old), old_size, size, 0) != MAP_FAILED;
    const int error = errno;
    if (!grown) {
      reserve(old + old_size, size - old_size);
      return -error;
    }
    split(old);
    mappings_[old].end = old + size;
    return static_cast<int64_t>(old);
  } else {
    const auto free_place = find_free(size);
    if (!(flags & MREMAP_MAYMOVE) || !free_place) return -ENOMEM;
    place = *free_place;
  }
  if (mremap(host(old), old_size, size, MREMAP_MAYMOVE | MREMAP_FIXED, host(place)) == MAP_FAILED) {
    return -errno;
  }
  reserve(old, old_size);
  forget(old, old + old_size);
  forget(place, place + size);
  mapping.end = place + size;
  mappings_[place] = mapping;
  if (mapping.protection & PROT_EXEC) code_changed();
  return static_cast<int64_t>(place);
}

/// Returns the new break, like Linux, even if the break did not change.
int64_t GuestMemory::set_break(uint64_t address) {
  std::lock_guard guard(lock_);
  if (address < break_start_ || !in_window(break_start_, address - break_start_)) {
    return static_cast<int64_t>(break_);
  }
  const uint64_t old_end = page_up(break_), end = page_up(address);
  if (end > old_end) {
    if (!is_free(old_end, end - old_end) ||
        map(old_end, end - old_end, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
            -1, 0, "[heap]") < 0) {
      return static_cast<int64_t>(break_);
    }
  } else if (end < old_end) {
    unmap(end, old_end - end);
  }
  break_ = address;
  return static_cast<int64_t>(break_);
}

std::optional<std::pair<uint64_t, Mapping>> GuestMemory::find(uint64_t address) const {
  std::lock_guard guard(lock_);
  auto it = mappings_.upper_bound(address);
  if (it == mappings_.begin()) return std::nullopt;
  --it;
  if (it->second.end <= address) return std::nullopt;
  return *it;
}

bool GuestMemory::allows(uint64_t address, uint64_t size, int protection) const {
  std::lock_guard guard(lock_);
  const uint64_t end = address + size;
  if (end < address) return false;
  while (address < end) {
    const auto found = find(address);
    if (!found || (found->second.protection & protection) != protection) return false;
    address = found->second.end;
  }
  return true;
}

std::string GuestMemory::describe() const {
  std::lock_guard guard(lock_);
  std::string result;
  for (const auto& [start, mapping] : mappings_) {
    result += fmt::format(
        "{:016x}-{:016x} {}{}{}{} {:08x} 00:00 0 {}{}\n", start, mapping.end,
        mapping.protection & PROT_READ ? 'r' : '-', mapping.protection & PROT_WRITE ? 'w' : '-',
        mapping.protection & PROT_EXEC ? 'x' : '-', mapping.shared ? 's' : 'p', mapping.offset,
        mapping.file.empty() ? "" : "                ", mapping.file);
  }
  return result;
}

std::string GuestMemory::executable_maps() const {
  std::lock_guard guard(lock_);
  std::string result;
  for (const auto& [start, mapping] : mappings_) {
    if (!(mapping.protection & PROT_EXEC) || mapping.file.empty() || mapping.file[0] != '/')
      continue;
    result +=
        fmt::format("map {:x} {:x} {:x} {}\n", start, mapping.end, mapping.offset, mapping.file);
  }
  return result;
}

}  // namespace respike::emulator::ia64

// System calls that change the address space.

#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "emulators/ia64/memory_access.h"
#include "emulators/ia64/opened.h"
#include "emulators/ia64/system_calls.h"

namespace respike::emulator::ia64 {

namespace {

/// The name of a mapping in /proc/self/maps.
std::string name_of(int file) {
  char text[PATH_MAX];
  const ssize_t length =
      readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), text, sizeof text);
  return length < 0 ? "" : std::string(text, static_cast<size_t>(length));
}

int64_t guest_mmap(Thread& thread, const Arguments& a) {
  const int flags = static_cast<int>(a[3]), file = static_cast<int>(a[4]);
  const std::string name = flags & MAP_ANONYMOUS ? "" : name_of(file);
  const int64_t place = thread.process.memory.map(a[0], a[1], static_cast<int>(a[2]), flags, file,
                                                  static_cast<int64_t>(a[5]), name);
  if (place >= 0 && (a[2] & PROT_EXEC) != 0) note_mapped(thread.process, name);
  return place;
}
int64_t guest_mmap2(Thread& thread, const Arguments& a) {
  return guest_mmap(thread, {{a[0], a[1], a[2], a[3], a[4], a[5] * kPage}});
}
int64_t guest_munmap(Thread& thread, const Arguments& a) {
  return thread.process.memory.unmap(a[0], a[1]);
}
int64_t guest_mprotect(Thread& thread, const Arguments& a) {
  return thread.process.memory.protect(a[0], a[1], static_cast<int>(a[2]));
}
int64_t guest_mremap(Thread& thread, const Arguments& a) {
  return thread.process.memory.remap(a[0], a[1], a[2], static_cast<int>(a[3]), a[4]);
}
int64_t guest_brk(Thread& thread, const Arguments& a) {
  return thread.process.memory.set_break(a[0]);
}
int64_t guest_page_size(Thread&, const Arguments&) {
  return kPage;
}

/// Stores a byte for each of the guest's pages: all mapped pages count as resident.
int64_t guest_mincore(Thread& thread, const Arguments& a) {
  if (a[0] % kPage != 0) return -EINVAL;
  const uint64_t size = page_up(a[1]);
  if (!thread.process.memory.allows(a[0], size, 0)) return -ENOMEM;
  for (uint64_t i = 0; i < size / kPage; ++i) store_guest<uint8_t>(thread.cpu, a[2] + i, 1);
  return 0;
}

int64_t guest_shmat(Thread& thread, const Arguments& a) {
  GuestMemory& memory = thread.process.memory;
  const int id = static_cast<int>(a[0]), flags = static_cast<int>(a[2]);
  shmid_ds status;
  if (shmctl(id, IPC_STAT, &status) != 0) return -errno;
  const int protection = PROT_READ | (flags & SHM_RDONLY ? 0 : PROT_WRITE);
  const int64_t place =
      memory.map(a[1], status.shm_segsz, protection,
                 MAP_SHARED | MAP_ANONYMOUS | (a[1] != 0 ? MAP_FIXED : 0), -1, 0, "/SYSV");
  if (place < 0) return place;
  if (shmat(id, memory.host(static_cast<uint64_t>(place)), flags | SHM_REMAP) ==
      reinterpret_cast<void*>(-1)) {
    const int error = errno;
    memory.unmap(static_cast<uint64_t>(place), status.shm_segsz);
    return -error;
  }
  return place;
}

int64_t guest_shmdt(Thread& thread, const Arguments& a) {
  GuestMemory& memory = thread.process.memory;
  const auto found = memory.find(a[0]);
  if (!found || found->first != a[0] || found->second.file != "/SYSV") return -EINVAL;
  return memory.unmap(a[0], found->second.end - a[0]);
}

}  // namespace

SystemCall memory_call(unsigned number) {
  switch (number) {
    case 1060:
      return guest_brk;
    case 1114:
      return guest_shmat;
    case 1115:
      return guest_shmdt;
    case 1151:
      return guest_mmap;
    case 1152:
      return guest_munmap;
    case 1155:
      return guest_mprotect;
    case 1156:
      return guest_mremap;
    case 1171:
      return guest_page_size;
    case 1172:
      return guest_mmap2;
    case 1208:
      return guest_mincore;
    default:
      return nullptr;
  }
}

}  // namespace respike::emulator::ia64

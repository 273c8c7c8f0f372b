// System calls for messages on sockets, whose headers hold pointers.

#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <climits>

#include "emulators/ia64/memory_access.h"
#include "emulators/ia64/signals.h"
#include "emulators/ia64/system_calls.h"

namespace respike::emulator::ia64 {

namespace {

/// struct msghdr, which has the same layout on both machines; control messages hold no pointers.
struct GuestMessage {
  uint64_t name;
  uint32_t name_length, padding;
  uint64_t vectors, vector_count, control, control_length;
  int32_t flags, padding2;
};
static_assert(sizeof(GuestMessage) == sizeof(msghdr));

int64_t message(Thread& thread, long number, uint64_t socket, uint64_t address, uint64_t flags) {
  const auto guest = load_guest<GuestMessage>(thread.cpu, address);
  iovec vectors[IOV_MAX];
  if (guest.vector_count > IOV_MAX) return -EMSGSIZE;
  load_vectors(thread, guest.vectors, guest.vector_count, vectors);
  msghdr host = {};
  host.msg_name = reinterpret_cast<void*>(host_pointer(thread, guest.name));
  host.msg_namelen = guest.name_length;
  host.msg_iov = vectors;
  host.msg_iovlen = guest.vector_count;
  host.msg_control = reinterpret_cast<void*>(host_pointer(thread, guest.control));
  host.msg_controllen = guest.control_length;
  host.msg_flags = guest.flags;
  const int64_t result =
      safe_system_call(thread, number, socket, reinterpret_cast<uint64_t>(&host), flags);
  if (result >= 0 && number == SYS_recvmsg) {
    GuestMessage after = guest;
    after.name_length = host.msg_namelen;
    after.control_length = host.msg_controllen;
    after.flags = host.msg_flags;
    store_guest(thread.cpu, address, after);
  }
  return result;
}

int64_t guest_sendmsg(Thread& t, const Arguments& a) {
  return message(t, SYS_sendmsg, a[0], a[1], a[2]);
}
int64_t guest_recvmsg(Thread& t, const Arguments& a) {
  return message(t, SYS_recvmsg, a[0], a[1], a[2]);
}

/// Handles arrays of struct mmsghdr: a header and the number of bytes transferred. The timeout of
/// recvmmsg is ignored.
int64_t several(Thread& thread, long number, const Arguments& a) {
  constexpr uint64_t kSize = sizeof(GuestMessage) + 8;
  int64_t done = 0;
  for (; done < static_cast<int64_t>(a[2]); ++done) {
    const uint64_t address = a[1] + static_cast<uint64_t>(done) * kSize;
    uint64_t flags = a[3] & ~uint64_t{MSG_WAITFORONE};
    if (done > 0 && (a[3] & MSG_WAITFORONE)) flags |= MSG_DONTWAIT;
    const int64_t result = message(thread, number, a[0], address, flags);
    if (result < 0) return done > 0 ? done : result;
    store_guest<uint32_t>(thread.cpu, address + sizeof(GuestMessage),
                          static_cast<uint32_t>(result));
  }
  return done;
}
int64_t guest_sendmmsg(Thread& t, const Arguments& a) {
  return several(t, SYS_sendmsg, a);
}
int64_t guest_recvmmsg(Thread& t, const Arguments& a) {
  return several(t, SYS_recvmsg, a);
}

int64_t guest_send(Thread& t, const Arguments& a) {
  return safe_system_call(t, SYS_sendto, a[0], host_pointer(t, a[1]), a[2], a[3], 0, 0);
}
int64_t guest_recv(Thread& t, const Arguments& a) {
  return safe_system_call(t, SYS_recvfrom, a[0], host_pointer(t, a[1]), a[2], a[3], 0, 0);
}

}  // namespace

SystemCall network_call(unsigned number) {
  switch (number) {
    case 1198:
      return guest_send;
    case 1200:
      return guest_recv;
    case 1205:
      return guest_sendmsg;
    case 1206:
      return guest_recvmsg;
    case 1322:
      return guest_recvmmsg;
    case 1331:
      return guest_sendmmsg;
    default:
      return nullptr;
  }
}

}  // namespace respike::emulator::ia64

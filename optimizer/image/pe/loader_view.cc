// The parts of a PE image that a loader of Windows reads: whether the image is a program, and which
// libraries it needs.
//
// Example: user.exe imports from counting.dll and KERNEL32.dll, and from late.dll with delay. It
// needs the first two, and late.dll, which may be missing.

#include "optimizer/image/loader_view.h"

#include <algorithm>

#include "optimizer/base/bytes.h"
#include "optimizer/image/pe/headers.h"
#include "optimizer/image/pe/linkage.h"

namespace respike::pe {
namespace {

constexpr size_t kSignatureAt = 0x3c;

std::optional<MachineId> machine_of_number(uint16_t number) {
  switch (number) {
    case 0x184:
    case 0x284:
      return MachineId::alpha;
    default:  // also Itanium: nothing runs its programs
      return std::nullopt;
  }
}

}  // namespace

bool is_pe(std::span<const uint8_t> start) {
  constexpr size_t kShortest = kSignatureAt + 4;
  return start.size() >= kShortest && start[0] == 'M' && start[1] == 'Z';
}

uint64_t signature_offset(std::span<const uint8_t> start) {
  return load<uint32_t>(&start[kSignatureAt]);
}

LoaderView view_of(std::span<const uint8_t> bytes, const std::string& name) {
  const Headers headers = read_headers(bytes, name);
  const Linkage linkage = read_linkage(bytes, name);
  LoaderView view;
  view.machine = *machine_behind(bytes.subspan(signature_offset(bytes)));
  view.shared = (headers.characteristics & kLibrary) != 0;
  view.dynamic = !linkage.libraries.empty();
  for (const ImportedLibrary& library : linkage.libraries)
    view.needed.push_back({library.name, library.delayed});
  return view;
}

std::optional<FileMachine> machine_behind(std::span<const uint8_t> signature) {
  if (signature.size() < kSignatureAndCoff || load<uint32_t>(signature.data()) != 0x4550)
    return std::nullopt;
  const auto number = load<uint16_t>(&signature[4]);
  return FileMachine{machine_of_number(number), number, true};
}

}  // namespace respike::pe

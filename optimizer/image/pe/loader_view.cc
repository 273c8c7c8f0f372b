// What a loader of Windows reads of a PE image: whether it is a program, and which libraries it
// needs.
//
// Example: user.exe imports from counting.dll and KERNEL32.dll, and from late.dll with delay:
// needed are the first two, and late.dll, which may be missing.

#include "optimizer/image/loader_view.h"

#include <algorithm>

#include "optimizer/base/bytes.h"
#include "optimizer/image/pe/headers.h"
#include "optimizer/image/pe/linkage.h"

namespace respike::pe {
namespace {

constexpr size_t kSignatureAt = 0x3c;

/// The offset of the COFF header; 0: it is not in the bytes.
size_t coff_header(std::span<const uint8_t> start) {
  if (!is_pe(start)) return 0;
  const size_t signature = load<uint32_t>(&start[kSignatureAt]);
  constexpr size_t kSize = 24;
  if (signature > start.size() || start.size() - signature < kSize) return 0;
  return load<uint32_t>(&start[signature]) == 0x4550 ? signature + 4 : 0;
}

std::optional<MachineId> machine_of_number(uint16_t number) {
  switch (number) {
    case 0x184:
    case 0x284:
      return MachineId::alpha;
    default:  // Itanium, too: nothing runs its programs
      return std::nullopt;
  }
}

}  // namespace

bool is_pe(std::span<const uint8_t> start) {
  constexpr size_t kShortest = kSignatureAt + 4;
  return start.size() >= kShortest && start[0] == 'M' && start[1] == 'Z';
}

LoaderView view_of(std::span<const uint8_t> bytes, const std::string& name) {
  const Headers headers = read_headers(bytes, name);
  const Linkage linkage = read_linkage(bytes, name);
  LoaderView view;
  view.machine = *file_machine_of(bytes);
  view.shared = (headers.characteristics & kLibrary) != 0;
  view.dynamic = !linkage.libraries.empty();
  for (const ImportedLibrary& library : linkage.libraries)
    view.needed.push_back({library.name, library.delayed});
  return view;
}

std::optional<FileMachine> file_machine_of(std::span<const uint8_t> start) {
  const size_t header = coff_header(start);
  if (header == 0) return std::nullopt;
  const auto number = load<uint16_t>(&start[header]);
  return FileMachine{machine_of_number(number), number, true};
}

}  // namespace respike::pe

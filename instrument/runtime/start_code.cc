// The build turns the start code into bytes (start_code.cmake); this file describes the bytes.

#include "instrument/runtime/start_code.h"

#include "instrument/runtime/counter_file.h"
#include "optimizer/base/error.h"

namespace respike {
namespace {

#if RESPIKE_START_CODE_ALPHA
constexpr uint8_t kAlphaCode[] = {
#include "alpha_start_code.inc"
};
#endif
#if RESPIKE_START_CODE_ALPHA_WINDOWS
constexpr uint8_t kAlphaWindowsCode[] = {
#include "alpha_windows_start_code.inc"
};
#define NAME(name) #name,
constexpr std::string_view kWindowsImports[] = {RESPIKE_WINDOWS_IMPORTS(NAME)};
#undef NAME
#endif
#if RESPIKE_START_CODE_IA64
constexpr uint8_t kIa64Code[] = {
#include "ia64_start_code.inc"
};
#endif
#if RESPIKE_START_CODE_X86_64
constexpr uint8_t kX8664Code[] = {
#include "x86_64_start_code.inc"
};
constexpr uint8_t kX8664Image[] = {
#include "x86_64_start_image.inc"
};
#endif

StartCode windows_start_code(MachineId machine) {
  if (machine != MachineId::alpha)
    throw Error("no start code for Windows on this machine yet: its programs cannot be instrumented");
#if RESPIKE_START_CODE_ALPHA_WINDOWS
  return {.code = kAlphaWindowsCode,
          .alignment = 16,
          .library = RESPIKE_WINDOWS_LIBRARY,
          .imports = kWindowsImports,
          .frames = {},
          .page_size = 8192};
#else
  throw Error(
      "this respike was built without alpha-linux-gnu-gcc and cannot instrument programs for "
      "Alpha: install scripts/install-packages.sh's packages and build it again");
#endif
}

}  // namespace

StartCode start_code(MachineId machine, CallingStandard standard) {
  if (standard == CallingStandard::windows) return windows_start_code(machine);
  switch (machine) {
    case MachineId::alpha:
#if RESPIKE_START_CODE_ALPHA
      // The entry serves programs and libraries: it keeps all registers except pv.
      return {.code = kAlphaCode, .alignment = 16, .frames = {}, .page_size = 8192};
#else
      throw Error(
          "this respike was built without alpha-linux-gnu-gcc and cannot instrument programs for "
          "Alpha: install scripts/install-packages.sh's packages and build it again");
#endif
    case MachineId::ia64:
#if RESPIKE_START_CODE_IA64
      // The kernel's configuration gives pages of 4 to 64 KB: 64 KB suits all.
      return {.code = kIa64Code, .alignment = 16, .frames = {}, .page_size = 65536};
#else
      throw Error(
          "this respike was built without ia64-linux-gnu-as and cannot instrument programs for "
          "IA-64: install scripts/install-packages.sh's packages and build it again");
#endif
    case MachineId::x86_64:
#if RESPIKE_START_CODE_X86_64
      return {.code = kX8664Code,
              .alignment = 16,
              .find_copy = 16,
              .frames = read_unwind(view_image(kX8664Image, "the start code")),
              .page_size = 4096};
#else
      throw Error(
          "this respike was built without x86_64-linux-gnu-gcc and cannot instrument programs for "
          "x86-64: install scripts/install-packages.sh's packages and build it again");
#endif
    default:
      throw Error("no start code for this machine yet: its programs cannot be instrumented");
  }
}

}  // namespace respike

#pragma once
// The start code that an instrumented image runs first: it maps a file over the image's counters.
// instrument/runtime/start.c says how, and what the start code guarantees; its parameters are in
// instrument/runtime/counter_file.h.

#include <cstdint>
#include <span>
#include <string_view>

#include "optimizer/image/image.h"
#include "optimizer/unwind/unwind.h"

namespace respike {

struct StartCode {
  /// Machine code for any address that is a multiple of `alignment`, without data and relocations.
  /// The parameters (struct respike_start_parameters) follow right after its last byte; code and
  /// parameters are never written to.
  std::span<const uint8_t> code;
  uint32_t alignment = 0;  // bytes; divides the size of the code

  /// Offsets in `code` at which the start code is entered: in place of an executable's entry point,
  /// and in place of a library's initializer. Neither entry changes a register, except the register
  /// with the address of the code being jumped to; neither needs a register, except the stack
  /// pointer and, for an initializer, the return address.
  uint32_t program_entry = 0;
  uint32_t initializer_entry = 0;

  /// Offset in `code` of the routine that probes call where threads have copies of the counters; 0:
  /// there is no such routine. It changes flags.
  uint32_t find_copy = 0;

  /// What the start code imports on systems without fixed system calls: there, struct
  /// respike_windows_parameters follows the parameters, and libraries are entered like programs.
  std::string_view library = {};
  std::span<const std::string_view> imports = {};

  /// The unwind information of `code`, as if `code` were at address 0. Empty where signals do not
  /// matter: the start code of a program without copies of counters runs before all handlers.
  UnwindInput frames;

  /// Bytes: the address of the counters, their size and the size of a counter file's header are
  /// multiples of it.
  uint64_t page_size = 0;
};

/// The start code for a machine and its system; the calling standard identifies the system. Throws
/// Error when this build of Respike has no such start code.
StartCode start_code(MachineId machine, CallingStandard standard = CallingStandard::unix_systems);

}  // namespace respike

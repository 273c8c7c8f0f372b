#pragma once
// The start code that an instrumented image runs first: it maps a file over the image's counters.
// instrument/runtime/start.c says how and what it guarantees; instrument/runtime/counter_file.h
// says what it is told.

#include <cstdint>
#include <span>

#include "optimizer/base/machine_id.h"

namespace respike {

struct StartCode {
  /// Machine code for any address that is a multiple of `alignment`, without data, relocations and
  /// unwind information. The parameters (struct respike_start_parameters) follow right after its
  /// last byte; code and parameters are never written to.
  std::span<const uint8_t> code;
  uint32_t alignment = 0;  // bytes; the size of the code is a multiple of it, too

  /// Where to enter it, as offsets in `code`: in place of an executable's entry point, and in place
  /// of a library's initializer. Neither changes a register, but the one that holds the address of
  /// the code being jumped to; neither needs one but the stack pointer and, of an initializer, the
  /// return address.
  uint32_t program_entry = 0;
  uint32_t initializer_entry = 0;

  /// Bytes: counters, their size and the header of a counter file are multiples of it.
  uint64_t page_size = 0;
};

/// The start code for a machine. Throws Error when this build of Respike has none.
StartCode start_code(MachineId machine);

}  // namespace respike

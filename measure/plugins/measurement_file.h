#pragma once
// The file that an emulator leaves for each process if it drives a model: this structure in the
// byte order of the host, mostly a hole. The file is current at every moment, so it survives any
// end of the process.

#include <cstdint>

#include "models/machine_model.h"

namespace respike::measure {

struct MeasurementFile {
  static constexpr char kMagic[8] = {'R', 'S', 'P', 'K', 'M', 'S', 'R', '3'};
  static constexpr uint32_t kThreads = 16384;

  char magic[8];
  uint32_t process;
  uint32_t threads;  // slots of `events` in use
  Events events[kThreads];
};

}  // namespace respike::measure

#pragma once
// What an emulator that drives a model leaves for each process, in the byte order of the host: this
// structure, mostly a hole. It is current at every moment, whatever becomes of the process.

#include <cstdint>

#include "simulator/machine_model.h"

namespace respike::simulator {

struct MeasurementFile {
  static constexpr char kMagic[8] = {'R', 'S', 'P', 'K', 'M', 'S', 'R', '2'};
  static constexpr uint32_t kThreads = 16384;

  char magic[8];
  uint32_t process;
  uint32_t threads;  // slots of `events` in use
  Events events[kThreads];
};

}  // namespace respike::simulator

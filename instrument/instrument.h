#pragma once
// Instrumentation: image in, counting image out.

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "instrument/counters.h"
#include "instrument/probes.h"
#include "optimizer/base/diagnostics.h"
#include "optimizer/base/steps.h"
#include "optimizer/image/image.h"
#include "optimizer/profile/profile.h"
#include "optimizer/report/summary.h"

namespace respike {

struct InstrumentOptions {
  std::filesystem::path spool;   // absolute; the folder of counter files
  std::filesystem::path output;  // absolute; the instrumented image, named in counter files
  Counters counters = Counters::shared;
  const Profile* weights = nullptr;   // an older profile of the image; nullptr: static estimates
  std::string description;            // for the provenance note
  const Image* debug_file = nullptr;  // as in OptimizeOptions
  std::string debug_file_name;
  Progress progress;
};

struct InstrumentResult {
  std::vector<uint8_t> bytes;
  ProbeStatistics probes;
  uint64_t procedures = 0;
  uint64_t instrumented = 0;    // procedures
  uint64_t unused = 0;          // procedures that nothing leads to, without counters
  uint64_t blocks = 0;          // of instrumented and unused procedures
  uint64_t counters = 0;        // of blocks and edges
  uint64_t counted_blocks = 0;  // counters in blocks
  uint64_t indirect_sites = 0;
  uint64_t text_bytes = 0;              // of movable procedures, before
  uint64_t new_text_bytes = 0;          // after
  std::vector<ProcedureNote> left_out;  // procedures without counters
  std::optional<std::string> warning;   // when much code is left out (left_out.h)
  std::vector<uint8_t> debug_file;      // the new one
  std::vector<std::pair<uint64_t, uint64_t>> block_addresses;  // of `blocks`: address before, after
};

/// Puts counters into `image`, on the edges outside a maximum-weight spanning tree of each
/// procedure's flow graph, and adds start code that keeps the counters in a counter file. The
/// result is checked: it is read, lifted again and compared with the input (check_output.h). Throws
/// Error when the image cannot be instrumented; procedures that cannot be instrumented stay as they
/// are.
InstrumentResult instrument(const Image& image, const InstrumentOptions& options,
                            Diagnostics& diagnostics);

}  // namespace respike

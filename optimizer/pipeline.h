#pragma once
// The whole optimizer in order: image in, verified image out.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/base/diagnostics.h"
#include "optimizer/base/steps.h"
#include "optimizer/emit/emit.h"
#include "optimizer/image/image.h"
#include "optimizer/layout/choice.h"
#include "optimizer/profile/annotate.h"
#include "optimizer/profile/profile.h"
#include "optimizer/report/gain.h"
#include "optimizer/report/summary.h"
#include "optimizer/transform/hotcold/hot_cold.h"

namespace respike {

struct OptimizeOptions : LayoutChoice {
  const Profile* profile = nullptr;  // nullptr, or nothing ran in it: static estimates
  bool hot_cold = true;              // optimize_hot_cold(), where a profile says what is hot
  /// With a profile: code stays as it is where nothing is expected to be gained (is_worth_it()).
  bool only_if_gained = false;
  std::vector<std::string> only;  // see procedures_named(); empty: all
  std::vector<std::string> skip;
  std::string description;  // for the provenance note
  std::string fingerprint;  // likewise, of this Respike
  /// Fragments of exported procedures of a library get dynamic symbols, as those of programs always
  /// do: dladdr then names their code, but the names change with each profile.
  bool dynamic_fragments = false;
  bool list_places = false;           // fills OptimizeResult::places
  const Image* debug_file = nullptr;  // of the image (debug/debug_file.h): rewritten as well
  std::string debug_file_name;        // of the new debug file
  Progress progress;
};

struct OptimizeResult {
  std::vector<uint8_t> bytes;
  EmitStatistics emitted;
  AnnotateResult annotated;  // with a profile
  uint64_t dropped_nops = 0;
  uint64_t direct_imports = 0;  // calls, see transform/import_calls.h
  uint64_t copied_tails = 0;
  uint64_t changed_hints = 0;  // of branches
  uint64_t dropped_gp_loads = 0;
  HotColdResult hot_cold;
  Gain gain;  // Order::profiled, with a profile
  uint64_t procedures = 0;
  uint64_t moved = 0;  // procedures that a layout may move
  std::vector<ProcedureNote> opaque;
  std::vector<ProcedureNote> pinned;
  std::optional<std::string> warning;  // describe_opaque(), of a layout that should gain something
  std::vector<Timing> timings;
  std::vector<PlacedInstruction> places;
  std::vector<uint8_t> debug_file;  // the new one
};

/// Rewrites `image`. The result is checked: it is read and lifted again and compared with the
/// input. Throws Error when the image cannot be rewritten; procedures that cannot be rewritten are
/// left alone.
OptimizeResult optimize(const Image& image, const OptimizeOptions& options,
                        Diagnostics& diagnostics);

}  // namespace respike

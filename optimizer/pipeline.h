#pragma once
// The whole optimizer in order: image in, verified image out.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/base/diagnostics.h"
#include "optimizer/base/steps.h"
#include "optimizer/emit/emit.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/program.h"
#include "optimizer/layout/profiled.h"
#include "optimizer/profile/annotate.h"
#include "optimizer/profile/profile.h"
#include "optimizer/transform/hotcold/hot_cold.h"

namespace respike {

struct OptimizeOptions {
  enum class Order { original, random, scatter, profiled };
  Order order = Order::profiled;
  LayoutOptions layout;              // Order::profiled
  const Profile* profile = nullptr;  // nullptr, or nothing ran in it: static estimates
  bool hot_cold = true;              // optimize_hot_cold(), where a profile says what is hot
  /// With a profile: code stays as it is where nothing is expected to be gained (is_worth_it()).
  bool only_if_gained = false;
  uint64_t seed = 1;
  std::vector<std::string> only;  // see procedures_named(); empty: all
  std::vector<std::string> skip;
  std::string description;  // for the provenance note
  std::string fingerprint;  // likewise, of this Respike
  /// Fragments of exported procedures of a library get dynamic symbols, too, as those of programs
  /// do: dladdr names their code then, but the names change with each profile.
  bool dynamic_fragments = false;
  bool list_places = false;           // fills OptimizeResult::places
  const Image* debug_file = nullptr;  // of the image (debug/debug_file.h): rewritten, too
  std::string debug_file_name;        // of the new debug file
  Progress progress;
};

/// The best layouts that there are, with counts and without: estimates know a branch's likely side,
/// but not what a program does often.
inline constexpr const char* kBestLayout = "ext-tsp,split,colour";
inline constexpr const char* kBestLayoutByEstimates = "ext-tsp";
/// Which of the two a profile is for; one in which nothing ran says as little as none.
const char* best_layout(const Profile& profile);

/// Sets `order` and `layout` to what a list of words names (docs/commands.md, --layout); nullopt,
/// or what is wrong with it.
std::optional<std::string> parse_layout(std::string_view list, OptimizeOptions& options);

struct ProcedureNote {
  std::string name;
  std::string reason;
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
  Forecast forecast;           // Order::profiled, with a profile
  bool left_as_it_is = false;  // too little is gained: see OptimizeOptions::only_if_gained
  double missed_gain = 0;  // then: the part of the input's cycles that a layout would have saved
  uint64_t procedures = 0;
  uint64_t moved = 0;  // procedures that a layout may move
  std::vector<ProcedureNote> opaque;
  std::vector<ProcedureNote> pinned;
  std::optional<std::string> warning;  // describe_opaque(), of a layout that is to gain something
  std::vector<Timing> timings;
  std::vector<PlacedInstruction> places;
  std::vector<uint8_t> debug_file;  // the new one
};

/// Which procedures the list names (by ProcedureId): each entry is a name, which several may share,
/// or NAME@ADDRESS with the address of one of them in hexadecimal. Throws Error for an entry that
/// names none.
std::vector<bool> procedures_named(const Program& program, const std::vector<std::string>& list);

/// Sets the counts of the program from a profile. Throws Error when the profile is of another
/// program; warns when it is of another build.
AnnotateResult apply_profile(Program& program, const Profile& profile, Diagnostics& diagnostics);

/// Figures of a lifted program.
struct ProgramSummary {
  uint64_t procedures = 0, blocks = 0, instructions = 0;
  uint64_t text_bytes = 0, opaque_bytes = 0, relocations = 0;
  std::vector<ProcedureNote> opaque, pinned;
};
ProgramSummary summarize(const Program& program);

/// One sentence when much of the code is opaque (left_out.h).
std::optional<std::string> describe_opaque(const Program& program);

/// Whether a layout gains more than it risks. At each call of code that the forecast knows no place
/// of, caller and callee may throw a line of the other one out of the cache, in the input as in the
/// output. So moving code has to gain more than one such miss for each of these calls, or much.
bool is_worth_it(const Forecast& forecast, const Machine& machine);

/// Rewrites `image`. The result is checked: it is read and lifted again and compared with the
/// input. Throws Error when the image cannot be rewritten; procedures that cannot are left alone.
OptimizeResult optimize(const Image& image, const OptimizeOptions& options,
                        Diagnostics& diagnostics);

/// What the forecast of a profiled layout says, in a few words: "3.5% fewer instructions, 46.1%
/// fewer taken branches, 17.0% fewer cycles", or "no gain; the code stays as it is".
std::string describe_gain(const OptimizeResult& result);

}  // namespace respike

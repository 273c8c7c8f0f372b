// The pipeline is the list of passes in optimize(), at the end of this file, in their order. Nothing
// but the named passes changes the program; unless Respike was built without RESPIKE_CHECKS, the
// invariants of the IR are checked where they are claimed.
//
// Example: with a profile in which a loop runs often, the loop's blocks get counts, lose their
// no-ops, and stand in a row at the front of the text. If that would cost more than the order of the
// input, the list is gone through again, and the loop's procedure stays.

#include "optimizer/pipeline.h"

#include <malloc.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "optimizer/check/broken_rules.h"
#include "optimizer/check/invariants.h"
#include "optimizer/check/same_program.h"
#include "optimizer/debug/debug_file.h"
#include "optimizer/ir/procedure_name.h"
#include "optimizer/layout/profitable.h"
#include "optimizer/lift/lift.h"
#include "optimizer/profile/static_counts.h"
#include "optimizer/replay/changes.h"
#include "optimizer/transform/gp_loads.h"
#include "optimizer/transform/import_calls.h"
#include "optimizer/transform/nops.h"
#include "optimizer/transform/predictions.h"
#include "optimizer/transform/prolog_copies.h"
#include "optimizer/transform/tail_copies.h"
#include "optimizer/unwind/unwind.h"

namespace respike {
namespace {

constexpr const char* kNoGain = "no order is expected to cost less";

/// What the user does not want rewritten, ascending.
std::vector<ProcedureId> left_out_procedures(const Program& program,
                                             const OptimizeOptions& options) {
  const std::vector<bool> only = procedures_named(program, options.only);
  const std::vector<bool> skip = procedures_named(program, options.skip);
  std::vector<ProcedureId> left_out;
  for (ProcedureId id = 0; id < program.procedures.size(); ++id)
    if (program[id].movable() && ((!options.only.empty() && !only[id]) || skip[id]))
      left_out.push_back(id);
  return left_out;
}

void set_counts(Program& program, const OptimizeOptions& options, OptimizeResult& result,
                Diagnostics& diagnostics, std::optional<CallGraph>& calls) {
  if (options.profile != nullptr) {
    result.annotated = apply_profile(program, *options.profile, diagnostics);
    if (result.annotated.entered != 0) return;
    diagnostics.warn("nothing ran in the profile: how often code runs is estimated instead");
  }
  calls.emplace(program);
  set_static_counts(program, *calls);
}

/// A program in its new order, to be written.
struct Draft {
  Program program;
  Layout layout;
  DroppedGpLoads gp_loads;
  std::vector<ProcedureId> left_out;  // by the user's wish, or because they would cost more
};

/// Pins what the user does not want rewritten, and `losing`; the list of both, ascending.
std::vector<ProcedureId> pin_left_out(Program& program, const OptimizeOptions& options,
                                      const std::vector<ProcedureId>& losing) {
  std::vector<ProcedureId> left_out = left_out_procedures(program, options);
  pin(program, left_out);
  pin(program, losing, kNoGain);
  left_out.insert(left_out.end(), losing.begin(), losing.end());
  std::sort(left_out.begin(), left_out.end());
  return left_out;
}

void warn_if_nothing_moves(const Program& program, const OptimizeOptions& options,
                           Diagnostics& diagnostics) {
  const auto movable = [](const Procedure& procedure) { return procedure.movable(); };
  if ((!options.only.empty() || !options.skip.empty()) &&
      std::ranges::none_of(program.procedures, movable))
    diagnostics.warn("nothing moves: no procedure is left that may be moved and is not skipped");
}

/// Whether hot procedures get hot and cold parts.
bool may_part(const Program& program, const OptimizeOptions& options) {
  // Unwinders that read prologs would not understand a prolog in several fragments.
  const UnwindFormat* unwind = unwind_format_of(*program.image);
  return options.hot_cold && (unwind == nullptr || !unwind->reads_prologs);
}

/// The program as it is in the image; nothing in it may move.
Draft make_copy(const Image& image, OptimizeResult& result) {
  Diagnostics ignored;  // said already
  Draft draft{.program = lift(image, ignored), .layout = {}, .gp_loads = {}, .left_out = {}};
  for (Procedure& procedure : draft.program.procedures)
    if (procedure.movable()) {
      procedure.state = Procedure::State::pinned;
      procedure.reason = kNoGain;
    }
  Gain& gain = result.gain;
  gain.left_as_it_is = true;
  const double before = gain.forecast.input.cycles;
  gain.missed_gain = before == 0 ? 0 : 1 - gain.forecast.output.cycles / before;
  gain.forecast.output = gain.forecast.input;
  result.dropped_gp_loads = result.dropped_nops = result.direct_imports = result.copied_tails =
      result.changed_hints = 0;
  result.hot_cold = {};
  return draft;
}

/// Consumes the layout of the draft.
std::vector<uint8_t> emit_draft(const Image& image, Draft& draft, const OptimizeOptions& options,
                                OptimizeResult& result, Diagnostics& diagnostics) {
  Provenance note = describe_changes(draft.program, draft.left_out, result.hot_cold.parts);
  note.options = options.description;
  note.fingerprint = options.fingerprint;
  std::optional<DebugFile> debug_file;
  if (options.debug_file != nullptr)
    debug_file.emplace(*options.debug_file, options.debug_file_name);
  auto bytes = emit(draft.program, std::move(draft.layout), std::move(note), diagnostics,
                    &result.emitted, nullptr, options.list_places ? &result.places : nullptr,
                    debug_file ? &*debug_file : nullptr,
                    options.dynamic_fragments || image.kind != Image::Kind::shared_library);
  if (debug_file) result.debug_file = std::move(debug_file->bytes);
  return bytes;
}

/// Throws Error when the written image breaks a rule of loaders and unwinders, or does not do the
/// same as the program that it was written from. Puts dropped loads of gp back and gives the
/// comparison their list: they were proven needless before anything was changed.
void require_same_program(const Image& image, Draft& draft, const std::vector<uint8_t>& bytes) {
  const Image written = view_image(bytes, "the rewritten image");
  put_back(draft.program, draft.gp_loads);
  if (const auto broken = find_broken_rule(image, written))
    throw Error("the rewritten image would not work: " + *broken, image.path);
  Diagnostics ignored;  // the same as those of the first lift
  const Program lifted = lift(written, ignored);
  if (const auto difference =
          find_difference(draft.program, lifted, nullptr, &draft.gp_loads.loads))
    throw Error("the rewritten image would differ: " + *difference, image.path);
}

void count_procedures(const Program& program, OptimizeResult& result) {
  const ProgramSummary summary = summarize(program);
  result.procedures = summary.procedures;
  result.opaque = summary.opaque;
  result.pinned = summary.pinned;
  result.moved = summary.procedures - summary.opaque.size() - summary.pinned.size();
}

}  // namespace

OptimizeResult optimize(const Image& image, const OptimizeOptions& options,
                        Diagnostics& diagnostics) {
  require_rewritable(image);
  if (options.debug_file != nullptr) require_debug_file(image, *options.debug_file);
  OptimizeResult result;
  Steps steps(options.progress);  // the shares of time were measured on images of all sizes

  // The list is gone through once or, where procedures would cost more than in the input, again
  // with these procedures as they are.
  Draft draft;
  std::vector<ProcedureId> losing;
  for (bool again = false;; again = true) {
    Diagnostics said_already;
    Diagnostics& news = again ? said_already : diagnostics;
    draft = {};
    Program& program = draft.program;

    // Code becomes procedures, blocks and references. From here on no other procedure gets pinned.
    again ? steps.begin("lift") : steps.begin("lift", 0.0);
    program = lift(image, news);
    require_invariants(program);
    draft.left_out = pin_left_out(program, options, losing);
    warn_if_nothing_moves(program, options, news);

    std::vector<ExecutedCode> executed;  // in the input, for the forecast
    if (options.order == OptimizeOptions::Order::profiled) {
      // Blocks and edges get counts, by the profile or by estimates.
      steps.begin("counts");
      std::optional<CallGraph> calls;  // valid until a pass changes calls; its first user makes it
      set_counts(program, options, result, news, calls);
      const bool profiled = result.annotated.entered != 0;
      result.warning = describe_opaque(program);
      executed = executed_in_input(program);

      // Instructions go that nothing needs, and more where a profile says what is hot.
      draft.gp_loads = drop_gp_loads(program, calls);
      result.dropped_gp_loads = draft.gp_loads.loads.size();
      result.dropped_nops = drop_nops(program);
      if (profiled && may_part(program, options)) {
        steps.begin("hot-cold");
        result.hot_cold = optimize_hot_cold(program, {}, std::move(calls));
        forget_changed(draft.gp_loads, result.hot_cold.parts);
        result.direct_imports = call_imports_directly(program);
        result.copied_tails = copy_tails(program).tails;
      }
      if (profiled) result.changed_hints = predict_branches(program);
      require_invariants(program);  // from here on no instruction changes
    }

    // Blocks get an order.
    steps.begin("layout");
    const bool counted = result.annotated.entered != 0;
    draft.layout = make_layout(program, options, options.only_if_gained, executed,
                               counted ? &result.gain.forecast : nullptr);
    copy_prologs(program, draft.layout);
    require_invariants(program, &draft.layout);

    if (again || !options.only_if_gained || !counted) break;
    losing = losing_procedures(result.gain.forecast, program);
    if (losing.empty()) break;
  }
  if (options.only_if_gained && result.annotated.entered != 0 &&
      !is_worth_it(result.gain.forecast, *draft.program.machine))
    draft = make_copy(image, result);

  // Only addresses are open now. The note says what was changed, so that `verify` can follow.
  steps.begin("emit", 0.3);
  result.bytes = emit_draft(image, draft, options, result, diagnostics);
  malloc_trim(0);  // emission's memory is free, but the second lift needs other block sizes

  // The written image is read and lifted again, and must do what the input does.
  steps.begin("verify", 0.55);
  require_same_program(image, draft, result.bytes);

  result.timings = steps.end();
  count_procedures(draft.program, result);
  return result;
}

}  // namespace respike

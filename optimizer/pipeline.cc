// The pipeline is straight: optimize() at the end of this file calls make_draft(), which lifts and
// changes the program and chooses an order, then emission, then the comparison of what was written
// with the input. Nothing but the named steps changes the program; unless Respike was built without
// RESPIKE_CHECKS, the invariants of the IR are checked where they are claimed.
//
// Example: with a profile in which a loop runs often, make_draft() counts the loop's blocks, drops
// no-ops from them, and puts them in a row at the front of the text. If that would cost more than
// the order of the input, make_gainful_draft() makes another draft in which the procedure stays.

#include "optimizer/pipeline.h"

#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "optimizer/changes.h"
#include "optimizer/check/broken_rules.h"
#include "optimizer/check/invariants.h"
#include "optimizer/check/same_program.h"
#include "optimizer/debug/debug_file.h"
#include "optimizer/ir/procedure_name.h"
#include "optimizer/layout/orders.h"
#include "optimizer/left_out.h"
#include "optimizer/lift/lift.h"
#include "optimizer/profile/static_counts.h"
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

/// The wanted layout or, where that costs more than the input, one that keeps procedures together
/// in the input's order, if it costs less.
Layout make_profiled_layout(const Program& program, const LayoutOptions& wanted,
                            bool only_if_gained, std::span<const ExecutedCode> input,
                            Forecast* forecast) {
  Layout layout = profiled_layout(program, wanted, input, forecast);
  if (!only_if_gained || forecast == nullptr || !forecast->is_costlier()) return layout;
  Forecast other;
  Layout instead = profiled_layout(program, {.blocks = wanted.blocks}, input, &other);
  if (other.output.cycles >= forecast->output.cycles) return layout;
  *forecast = std::move(other);
  return instead;
}

Layout make_layout(const Program& program, const OptimizeOptions& options,
                   std::span<const ExecutedCode> input, Forecast* forecast) {
  switch (options.order) {
    case OptimizeOptions::Order::original:
      return original_layout(program);
    case OptimizeOptions::Order::random:
      return random_layout(program, options.seed);
    case OptimizeOptions::Order::scatter:
      return scattered_layout(program, options.seed);
    case OptimizeOptions::Order::profiled:
      return make_profiled_layout(program, options.layout, options.only_if_gained, input, forecast);
  }
  return {};
}

/// A program in its new order, to be written.
struct Draft {
  Program program;
  Layout layout;
  DroppedGpLoads gp_loads;
  std::vector<ProcedureId> left_out;  // by the user's wish, and because they would cost more
};

/// Pins what the user does not want rewritten, and `unwanted`; the list of both, ascending.
std::vector<ProcedureId> pin_left_out(Program& program, const OptimizeOptions& options,
                                      const std::vector<ProcedureId>& unwanted) {
  std::vector<ProcedureId> left_out = left_out_procedures(program, options);
  pin(program, left_out);
  pin(program, unwanted, kNoGain);
  left_out.insert(left_out.end(), unwanted.begin(), unwanted.end());
  std::sort(left_out.begin(), left_out.end());
  return left_out;
}

/// Removes and replaces instructions: more of them where a profile says what is hot.
void change_instructions(Draft& draft, const OptimizeOptions& options, OptimizeResult& result,
                         std::optional<CallGraph> calls, Steps& steps) {
  Program& program = draft.program;
  const bool profiled = result.annotated.entered != 0;
  draft.gp_loads = drop_gp_loads(program, calls);
  result.dropped_gp_loads = draft.gp_loads.loads.size();
  result.dropped_nops = drop_nops(program);
  // Unwinders that read prologs would not understand a prolog in pieces.
  const UnwindFormat* unwind = unwind_format_of(*program.image);
  const bool hot_cold = options.hot_cold && (unwind == nullptr || !unwind->reads_prologs);
  if (profiled && hot_cold) {
    steps.begin("hot-cold");
    result.hot_cold = optimize_hot_cold(program, {}, std::move(calls));
    forget_changed(draft.gp_loads, result.hot_cold.parts);
  }
  if (profiled && hot_cold) {
    result.direct_imports = call_imports_directly(program);
    result.copied_tails = copy_tails(program).tails;
  }
  if (profiled) result.changed_hints = predict_branches(program);
}

/// `unwanted`: procedures that are to stay as they are, since they would cost more. The step "lift"
/// has begun.
Draft make_draft(const Image& image, const OptimizeOptions& options,
                 const std::vector<ProcedureId>& unwanted, OptimizeResult& result,
                 Diagnostics& diagnostics, Steps& steps) {
  Draft draft{.program = lift(image, diagnostics), .layout = {}, .gp_loads = {}, .left_out = {}};
  Program& program = draft.program;
  require_invariants(program);
  draft.left_out = pin_left_out(program, options, unwanted);  // no other procedure gets pinned
  const auto movable = [](const Procedure& procedure) { return procedure.movable(); };
  if (unwanted.empty() && (!options.only.empty() || !options.skip.empty()) &&
      std::ranges::none_of(program.procedures, movable))
    diagnostics.warn("nothing moves: no procedure is left that may be moved and is not skipped");

  std::vector<ExecutedCode> executed;  // in the input, for the forecast
  if (options.order == OptimizeOptions::Order::profiled) {
    steps.begin("counts");
    std::optional<CallGraph> calls;  // right until a pass changes calls; made by who needs it first
    set_counts(program, options, result, diagnostics, calls);
    result.warning = describe_opaque(program);
    executed = executed_in_input(program);
    change_instructions(draft, options, result, std::move(calls), steps);
    require_invariants(program);  // from here on no instruction changes
  }

  steps.begin("layout");
  Forecast* forecast = result.annotated.entered != 0 ? &result.forecast : nullptr;
  draft.layout = make_layout(program, options, executed, forecast);
  copy_prologs(program, draft.layout);
  require_invariants(program, &draft.layout);
  return draft;
}

/// The program as the image has it, with nothing that may move.
Draft make_copy(const Image& image, OptimizeResult& result) {
  Diagnostics ignored;  // said already
  Draft draft{.program = lift(image, ignored), .layout = {}, .gp_loads = {}, .left_out = {}};
  for (Procedure& procedure : draft.program.procedures)
    if (procedure.movable()) {
      procedure.state = Procedure::State::pinned;
      procedure.reason = kNoGain;
    }
  result.left_as_it_is = true;
  const double before = result.forecast.input.cycles;
  result.missed_gain = before == 0 ? 0 : 1 - result.forecast.output.cycles / before;
  result.forecast.output = result.forecast.input;
  result.dropped_gp_loads = result.dropped_nops = result.direct_imports = result.copied_tails =
      result.changed_hints = 0;
  result.hot_cold = {};
  return draft;
}

/// Procedures for which no order was found that costs no more than the input's, such as a loop
/// whose end has a name of its own: the two are parted. Small losses are accepted.
std::vector<ProcedureId> losing_procedures(const Forecast& forecast, const Program& program) {
  constexpr double kLittle = 1e-4;  // of all cycles
  const ExecutionCosts costs = program.machine->costs;
  std::vector<ProcedureId> losing;
  for (const Forecast::Change& each : forecast.procedures)
    if (!program[each.procedure].enclosed &&  // without it, all of its kind would stay
        each.output.cycles(costs) - each.input.cycles(costs) >
            kLittle * forecast.input.executed.cycles(costs))
      losing.push_back(each.procedure);
  return losing;
}

/// A draft that costs nowhere more than the input, by the counts, and gains something in all; or
/// the input as it is.
Draft make_gainful_draft(const Image& image, const OptimizeOptions& options, OptimizeResult& result,
                         Diagnostics& diagnostics, Steps& steps) {
  steps.begin("lift", 0.0);
  Draft draft = make_draft(image, options, {}, result, diagnostics, steps);
  if (!options.only_if_gained || result.annotated.entered == 0) return draft;
  const Machine& machine = *draft.program.machine;
  if (const auto losing = losing_procedures(result.forecast, draft.program); !losing.empty()) {
    Diagnostics ignored;  // said already
    steps.begin("lift");
    draft = make_draft(image, options, losing, result, ignored, steps);
  }
  return is_worth_it(result.forecast, machine) ? std::move(draft) : make_copy(image, result);
}

/// Takes the layout of the draft.
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

/// Throws Error when the written image breaks a rule of loaders and unwinders, or does something
/// else than the program that it was written from. Puts dropped loads of gp back: the comparison is
/// told that these are needless, which was proven before anything was changed.
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

bool is_worth_it(const Forecast& forecast, const Machine& machine) {
  constexpr double kMuch = 0.04;  // of the cycles
  const double gain = forecast.input.cycles - forecast.output.cycles;
  const double risk = forecast.unknown_calls * machine.icache.miss;
  return gain > std::min(risk, kMuch * forecast.input.cycles);
}

std::vector<bool> procedures_named(const Program& program, const std::vector<std::string>& list) {
  std::vector<bool> named(program.procedures.size());
  if (list.empty()) return named;
  std::unordered_multimap<std::string_view, ProcedureId> by_name;
  by_name.reserve(program.procedures.size());
  for (ProcedureId id = 0; id < program.procedures.size(); ++id)
    by_name.emplace(program[id].name, id);
  for (const std::string& text : list) {
    const auto [first, last] = by_name.equal_range(text);
    for (auto each = first; each != last; ++each) named[each->second] = true;
    if (first != last) continue;  // names may have an @ of their own
    const auto meant = split_addressed_name(text);
    const auto at = std::lower_bound(
        program.procedures.begin(), program.procedures.end(), meant ? meant->address : 0,
        [](const Procedure& procedure, uint64_t a) { return procedure.address < a; });
    if (!meant || at == program.procedures.end() || at->address != meant->address ||
        at->name != meant->name)
      throw Error(fmt::format("there is no procedure {}", text), program.image->path);
    named[static_cast<size_t>(at - program.procedures.begin())] = true;
  }
  return named;
}

ProgramSummary summarize(const Program& program) {
  ProgramSummary summary;
  summary.procedures = program.procedures.size();
  for (const Procedure& procedure : program.procedures) {
    summary.text_bytes += procedure.size;
    summary.blocks += procedure.blocks.size();
    for (const BasicBlock& block : procedure.blocks)
      for (const Instruction& instruction : block.instructions)
        summary.instructions += instruction.is_pseudo() ? 0 : 1;
    if (procedure.state == Procedure::State::opaque) {
      summary.opaque_bytes += procedure.size;
      summary.opaque.push_back({procedure.name, procedure.reason});
    } else if (procedure.state == Procedure::State::pinned) {
      summary.pinned.push_back({procedure.name, procedure.reason});
    }
  }
  for (const RelocationTable& table : program.image->relocations)
    summary.relocations += table.relocations.size();
  return summary;
}

std::optional<std::string> describe_opaque(const Program& program) {
  std::vector<LeftOut> opaque;
  std::vector<uint64_t> others;
  for (const Procedure& procedure : program.procedures)
    if (is_worth_telling(program, procedure))
      opaque.push_back({procedure.name, procedure.size});
    else
      others.push_back(procedure.size);
  const auto text = describe_left_out(std::move(opaque), others, "is opaque and stays as it is");
  if (!text) return std::nullopt;
  return *text + "; image info says why";
}

AnnotateResult apply_profile(Program& program, const Profile& profile, Diagnostics& diagnostics) {
  const AnnotateResult result = annotate(program, profile);
  if (result.entered != 0 && result.entered_matched == 0)
    throw Error("the profile is of another program: it knows none of the procedures",
                program.image->path);
  if (result.entered_matched != result.entered)
    diagnostics.warn(fmt::format(
        "the profile is of another build: {} of its {} procedures that ran are known here",
        result.entered_matched, result.entered));
  return result;
}

OptimizeResult optimize(const Image& image, const OptimizeOptions& options,
                        Diagnostics& diagnostics) {
  require_rewritable(image);
  if (options.debug_file != nullptr) require_debug_file(image, *options.debug_file);
  OptimizeResult result;
  Steps steps(options.progress);  // the shares of time were measured on images of all sizes

  // Lift, count, change instructions, lay out: until nothing costs more than in the input, if that
  // is asked for.
  Draft draft = make_gainful_draft(image, options, result, diagnostics, steps);

  // Only addresses are open now. The note says what was changed, so that `verify` can follow.
  steps.begin("emit", 0.3);
  result.bytes = emit_draft(image, draft, options, result, diagnostics);
  malloc_trim(0);  // the memory of emission is free, but the second lift needs it in other sizes

  // What was written is read and lifted again, and has to do what the input does.
  steps.begin("verify", 0.55);
  require_same_program(image, draft, result.bytes);

  result.timings = steps.end();
  count_procedures(draft.program, result);
  return result;
}

std::string describe_gain(const OptimizeResult& result) {
  if (result.left_as_it_is)
    return result.missed_gain < 0.0005
               ? "no gain; the code stays as it is"
               : fmt::format("{:.1f}% fewer cycles, too small a gain; the code stays as it is",
                             100 * result.missed_gain);
  const auto change = [](double before, double after, std::string_view what) {
    const double percent = before == 0 ? 0 : 100 * (after / before - 1);
    return fmt::format("{:.1f}% {} {}", std::abs(percent), percent > 0 ? "more" : "fewer", what);
  };
  const Forecast::Cost &input = result.forecast.input, &output = result.forecast.output;
  return fmt::format(
      "{}, {}, {}",
      change(input.executed.instructions, output.executed.instructions, "instructions"),
      change(input.executed.taken, output.executed.taken, "taken direct branches"),
      change(input.cycles, output.cycles, "cycles"));
}

}  // namespace respike

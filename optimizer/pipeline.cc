// The pipeline is one straight function. From lift to emit nothing but the named steps changes the
// program; in debug builds the IR's invariants are checked after each of them.

#include "optimizer/pipeline.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "optimizer/changes.h"
#include "optimizer/emit/compare.h"
#include "optimizer/image/image_rules.h"
#include "optimizer/ir/procedure_name.h"
#include "optimizer/ir/verify.h"
#include "optimizer/layout/gp_loads.h"
#include "optimizer/layout/nops.h"
#include "optimizer/layout/orders.h"
#include "optimizer/layout/predictions.h"
#include "optimizer/left_out.h"
#include "optimizer/lift/lift.h"
#include "optimizer/profile/static_counts.h"

namespace respike {
namespace {

class Stopwatch {
 public:
  explicit Stopwatch(std::vector<Timing>& timings) : timings_(timings) {}
  void lap(std::string step) {
    const auto now = std::chrono::steady_clock::now();
    timings_.push_back({std::move(step), std::chrono::duration<double>(now - last_).count()});
    last_ = now;
  }

 private:
  std::vector<Timing>& timings_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

void check([[maybe_unused]] const Program& program, [[maybe_unused]] const Layout* layout) {
#ifdef RESPIKE_CHECKS
  auto violation = find_violation(program);
  if (!violation && layout != nullptr) violation = find_violation(program, *layout);
  if (violation) throw Error("internal error: " + *violation, program.image->path);
#endif
}

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
                Diagnostics& diagnostics) {
  if (options.profile != nullptr) {
    result.annotated = apply_profile(program, *options.profile, diagnostics);
    if (result.annotated.entered != 0) return;
    diagnostics.warn("nothing ran in the profile: how often code runs is estimated instead");
  }
  set_static_counts(program);
}

Layout make_layout(const Program& program, const OptimizeOptions& options) {
  switch (options.order) {
    case OptimizeOptions::Order::original:
      return original_layout(program);
    case OptimizeOptions::Order::random:
      return random_layout(program, options.seed);
    case OptimizeOptions::Order::scatter:
      return scattered_layout(program, options.seed);
    case OptimizeOptions::Order::profiled:
      return profiled_layout(program, options.layout);
  }
  return {};
}

}  // namespace

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
    if (procedure.state == Procedure::State::opaque && !runs_once(program, procedure))
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
  OptimizeResult result;
  Stopwatch watch(result.timings);
  require_rewritable(image);

  // Shares of the time, measured on images of all sizes.
  const auto progress = [&](std::string_view step, double done) {
    if (options.progress) options.progress(step, done);
  };
  progress("lift", 0.0);
  Program program = lift(image, diagnostics);
  check(program, nullptr);
  watch.lap("lift");

  const std::vector<ProcedureId> left_out = left_out_procedures(program, options);
  pin(program, left_out);
  DroppedGpLoads gp_loads;
  if (options.order == OptimizeOptions::Order::profiled) {
    set_counts(program, options, result, diagnostics);
    result.warning = describe_opaque(program);
    watch.lap("counts");
    gp_loads = drop_gp_loads(program);
    result.dropped_gp_loads = gp_loads.loads;
    result.dropped_nops = drop_nops(program);
    if (options.hot_cold && result.annotated.entered != 0) {
      result.hot_cold = optimize_hot_cold(program);
      forget_changed(gp_loads, result.hot_cold.parts);
      watch.lap("hot-cold");
    }
    if (result.annotated.entered != 0) result.changed_hints = predict_branches(program);
    check(program, nullptr);  // from here on no instruction changes
  }
  Layout layout = make_layout(program, options);  // from here on the order is fixed
  check(program, &layout);
  watch.lap("layout");

  progress("emit", 0.3);
  Provenance note = describe_changes(program, left_out, result.hot_cold.parts);
  note.options = options.description;
  note.fingerprint = options.fingerprint;
  result.bytes = emit(program, std::move(layout), std::move(note), diagnostics, &result.emitted);
  watch.lap("emit");
  malloc_trim(0);  // the memory of emission is free, but the second lift needs it in other sizes

  progress("verify", 0.55);
  const Image written = view_image(result.bytes, "the rewritten image");
  put_back(program, gp_loads);  // the comparison has to find out for itself that they are needless
  Diagnostics ignored;          // of the second lift: the same as those of the first
  if (const auto broken = find_broken_rule(image, written))
    throw Error("the rewritten image would not work: " + *broken, image.path);
  const Program lifted = lift(written, ignored);
  if (const auto difference = find_difference(program, lifted))
    throw Error("the rewritten image would differ: " + *difference, image.path);
  watch.lap("verify");

  const ProgramSummary summary = summarize(program);
  result.procedures = summary.procedures;
  result.opaque = summary.opaque;
  result.pinned = summary.pinned;
  result.moved = summary.procedures - summary.opaque.size() - summary.pinned.size();
  return result;
}

std::optional<std::string> verify_images(const Image& before, const Image& after,
                                         Diagnostics& diagnostics, CompareCounts* counts) {
  if (before.machine != after.machine) return "the images are for different machines";
  require_rewritable(before);
  if (is_instrumented(after))
    throw Error(
        "an instrumented image cannot be compared: its probes are code that the original does not "
        "have",
        after.path);
  require_rewritable(after);
  if (auto broken = find_broken_rule(before, after)) return broken;
  Program a = lift(before, diagnostics);
  Program b = lift(after, diagnostics);
  const auto note = read_provenance(after);
  if (note)
    if (auto fault = follow_changes(a, *note)) return fault;
  for (const Program* program : {&a, &b})
    if (const auto violation = find_violation(*program)) return violation;
  auto difference = find_difference(a, b, counts);
  if (difference && !note) *difference += fmt::format("; it has no {} of Respike", kNoteSection);
  return difference;
}

}  // namespace respike

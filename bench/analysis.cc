// Measures the times and results of analyses of images: a Markdown table, a row per image.
//
//   bench_analysis [--runs N] IMAGE...
//
// Times are the best of N runs (default 3), in milliseconds: call graph, interprocedural register
// dataflow, validity of the global pointer, dominators and loops. Free: how many of the registers
// that may hold integers hold no live value at the start of a block, on average; and how many of
// these are scratch registers, which calls do not preserve. Few: the share of block starts, and of
// all instructions, with less than two free registers. gp: the share of blocks at whose start the
// global pointer is certainly valid.

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>

#include "optimizer/analysis/call_graph.h"
#include "optimizer/analysis/dominators.h"
#include "optimizer/analysis/gp_validity.h"
#include "optimizer/analysis/loops.h"
#include "optimizer/analysis/register_flow.h"
#include "optimizer/base/diagnostics.h"
#include "optimizer/base/error.h"
#include "optimizer/image/image.h"
#include "optimizer/lift/lift.h"

namespace respike {
namespace {

/// Runs f `runs` times; returns the last result and the shortest time.
template <typename F>
auto best_of(int runs, double& milliseconds, F f) {
  using Clock = std::chrono::steady_clock;
  milliseconds = 1e9;
  for (;; --runs) {
    const auto start = Clock::now();
    auto result = f();
    milliseconds = std::min(
        milliseconds, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    if (runs <= 1) return result;
  }
}

long peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

/// The integer registers: those before the registers for floating-point arguments, which begin
/// where the numbers of argument registers have a gap.
RegisterSet integer_registers(const Machine& machine) {
  const auto& arguments = machine.abi.arguments;
  const auto middle = std::adjacent_find(arguments.begin(), arguments.end(),
                                         [](Register a, Register b) { return b != a + 1; });
  const Register sp = machine.abi.stack_pointer;
  return RegisterSet::first(middle == arguments.end() ? machine.register_count
                                                      : std::max<size_t>(sp + 1, *middle + 1));
}

struct Free {
  size_t blocks = 0, points = 0, sum = 0, scratch_sum = 0, few_blocks = 0, few_points = 0;
};

Free count_free(const Program& program, const RegisterFlow& flow) {
  Free free;
  const RegisterSet integer = integer_registers(*program.machine);
  const RegisterSet scratch = integer & RegisterSet(std::span(program.machine->abi.scratch));
  for (ProcedureId p = 0; p < program.procedures.size(); ++p)
    for (BlockId b = 0; b < program[p].blocks.size(); ++b) {
      const auto live = flow.live_points(p, b);
      ++free.blocks;
      free.sum += (integer - live[0]).count();
      free.scratch_sum += (scratch - live[0]).count();
      free.few_blocks += (integer - live[0]).count() < 2 ? 1 : 0;
      for (size_t i = 0; i + 1 < live.size(); ++i) {
        ++free.points;
        free.few_points += (integer - live[i]).count() < 2 ? 1 : 0;
      }
    }
  return free;
}

double share(size_t part, size_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void report(const std::string& path, int runs) {
  const Image image = read_image(path);
  Diagnostics diagnostics;
  const Program program = lift(image, diagnostics);
  const long before = peak_megabytes();
  double calls_ms = 0, flow_ms = 0, gp_ms = 0, loops_ms = 0;
  const CallGraph calls = best_of(runs, calls_ms, [&] { return CallGraph(program); });
  const RegisterFlow flow = best_of(runs, flow_ms, [&] { return RegisterFlow(program, calls); });
  const long after = peak_megabytes();
  const GpValidity gp = best_of(runs, gp_ms, [&] { return GpValidity(program, calls); });
  const size_t loops = best_of(runs, loops_ms, [&] {
    size_t count = 0;
    for (const Procedure& procedure : program.procedures) {
      const BlockGraph graph = make_block_graph(procedure);
      count += find_loops(graph, Dominators(graph)).loops.size();
    }
    return count;
  });
  const Free free = count_free(program, flow);
  size_t valid = 0;
  for (ProcedureId p = 0; p < program.procedures.size(); ++p)
    for (BlockId b = 0; b < program[p].blocks.size(); ++b) valid += gp.at_start(p, b) ? 1 : 0;
  const auto average = [&](size_t sum) {
    return static_cast<double>(sum) / static_cast<double>(std::max<size_t>(1, free.blocks));
  };
  fmt::print(
      "| {} | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {} | {:.1f} | {:.1f} | {:.2f}% "
      "| {:.2f}% | {:.1f}% | {} |\n",
      path.substr(path.rfind('/') + 1), static_cast<double>(free.points) / 1e3,
      static_cast<double>(free.blocks) / 1e3, calls_ms, flow_ms, gp_ms, loops_ms, after - before,
      average(free.sum), average(free.scratch_sum), share(free.few_blocks, free.blocks),
      share(free.few_points, free.points), share(valid, free.blocks), loops);
}

}  // namespace
}  // namespace respike

int main(int argc, char** argv) {
  fmt::print(
      "| image | k instructions | k blocks | calls ms | registers ms | gp ms | loops ms | MB | "
      "free "
      "| of them scratch | few at blocks | few at instructions | gp | loops |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  int runs = 3;
  for (int i = 1; i < argc; ++i) {
    try {
      if (std::string_view(argv[i]) == "--runs" && i + 1 < argc)
        runs = std::atoi(argv[++i]);
      else
        respike::report(argv[i], runs);
    } catch (const respike::Error& error) {
      fmt::print(stderr, "{}: {}\n", argv[i], error.what());
      return EXIT_FAILURE;
    }
  }
}

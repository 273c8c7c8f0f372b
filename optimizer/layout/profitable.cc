// Compares the costs of a layout with those of the input. Example: a layout saves 1% of 10,000
// cycles, 100, and 20 calls lead to code outside of the image. If a miss costs 8 cycles, the layout
// risks 160 cycles and is not worth it.

#include "optimizer/layout/profitable.h"

#include <algorithm>

#include "optimizer/machine/machine.h"

namespace respike {

bool is_worth_it(const Forecast& forecast, const Machine& machine) {
  constexpr double kMuch = 0.04;  // of the cycles
  const double gain = forecast.input.cycles - forecast.output.cycles;
  const double risk = forecast.unknown_calls * machine.icache.miss;
  return gain > std::min(risk, kMuch * forecast.input.cycles);
}

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

}  // namespace respike

#pragma once
// An order of hot code for an instruction cache.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "optimizer/layout/cluster.h"
#include "optimizer/layout/walk.h"
#include "optimizer/machine/machine.h"

namespace respike {

/// Code of one procedure that stays together.
struct CodeUnit {
  ProcedureId procedure = kNone;
  uint64_t size = 0;                                  // bytes
  double heat = 0;                                    // bytes executed
  std::vector<std::pair<uint32_t, uint64_t>> blocks;  // number as in a trace, bytes
};

/// The pieces, by index, in rows that must start at cache lines. Of several orders, the result is
/// the order for which fetching costs least along `trace`: short rows by affinity (cluster.h) in an
/// order by conflicts (colour.h), or whole procedures by affinity; where pages count, also the
/// cache-directed sort (code_layout.h). Takes a few tens of megabytes for 96 KB of code or more.
std::vector<std::vector<uint32_t>> order_for_cache(std::span<const CodeUnit> pieces,
                                                   const std::vector<Affinity>& affinities,
                                                   const Trace& trace, const CacheShape& cache,
                                                   const CacheShape& itlb = {});

/// fetch_cost() of rows of pieces that follow each other.
double fetch_cost(std::span<const CodeUnit> pieces, std::span<const std::vector<uint32_t>> rows,
                  const Trace& trace, const CacheShape& cache);

}  // namespace respike

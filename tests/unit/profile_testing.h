#pragma once
// Random profiles.

#include <algorithm>
#include <tuple>

#include "optimizer/profile/profile.h"
#include "tests/unit/flow_testing.h"

namespace respike {

/// Mostly a small number, sometimes any number.
inline uint64_t any_number(Random& random) {
  return one_in(random, 10) ? random() : one_in(random, 3) ? 0 : below(random, 1000);
}

inline Profile random_profile(Random& random) {
  Profile profile;
  profile.image_path = "/usr/bin/program";
  profile.image_build_id = "0123456789abcdef";
  profile.image_hash = random();
  profile.runs = below(random, 5);
  uint64_t address = 0x120000000;
  for (uint32_t p = 3 + below(random, 5); p-- > 0;) {
    ProcedureProfile& procedure = profile.procedures.emplace_back();
    procedure.name = "procedure" + std::to_string(p);
    procedure.address = address;
    procedure.signature = random();
    procedure.exact = !one_in(random, 4);
    const bool entered = !one_in(random, 3);
    const auto count = [&] { return entered ? any_number(random) : 0; };
    for (uint32_t node = 9; node-- > 0;)
      procedure.nodes.push_back({static_cast<uint16_t>(random()), static_cast<uint16_t>(random())});
    const uint32_t blocks = 1 + below(random, 8);
    for (uint32_t b = 0; b < blocks; ++b) {
      ProcedureProfile::Block block;
      if (one_in(random, 5)) address += any_number(random);
      block.address = address;
      block.instructions = one_in(random, 8) ? 0 : below(random, 12);
      block.size = one_in(random, 8) ? below(random, 99) : 4 * block.instructions;
      block.node = one_in(random, 4) ? kNone : one_in(random, 4) ? below(random, 9) : b;
      block.count = count();
      address += block.size;
      procedure.blocks.push_back(block);
    }
    for (uint32_t e = below(random, 12); e-- > 0;)
      procedure.edges.push_back({below(random, blocks), below(random, blocks),
                                 static_cast<ProcedureProfile::Edge::Kind>(below(random, 4)),
                                 count()});
    std::sort(procedure.edges.begin(), procedure.edges.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.from, a.to, a.kind) < std::tuple(b.from, b.to, b.kind);
    });
    for (uint32_t n = one_in(random, 3) ? 1 + below(random, 2) : 0; n-- > 0;) {
      Switch& table = procedure.switches.emplace_back();
      for (uint32_t word = 1 + below(random, 40); word-- > 0;)
        table.push_back(below(random, blocks));
    }
    for (uint32_t b = 0; b < blocks; ++b) {
      if (one_in(random, 3))
        procedure.calls.push_back({b, one_in(random, 2) ? 0 : address - 64, count()});
      if (one_in(random, 4)) procedure.indirect.push_back({b, any_number(random), count()});
    }
  }
  return profile;
}

}  // namespace respike

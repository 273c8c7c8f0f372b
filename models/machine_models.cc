// The table of models, and functions for all models.

#include "models/machine_models.h"

#include <cstring>

#include "models/alpha21164/model.h"
#include "models/itanium2/model.h"
#include "models/x86_64/model.h"

namespace respike::measure {

static_assert(sizeof(Events) % sizeof(uint64_t) == 0);

Events& Events::operator+=(const Events& other) {
  uint64_t sums[sizeof(Events) / sizeof(uint64_t)], terms[sizeof(Events) / sizeof(uint64_t)];
  std::memcpy(sums, this, sizeof sums);
  std::memcpy(terms, &other, sizeof terms);
  for (size_t i = 0; i < std::size(sums); ++i) sums[i] += terms[i];
  std::memcpy(this, sums, sizeof sums);
  return *this;
}

uint64_t published_cycles(const Events& e) {
  return (11 * e.instructions + 5) / 10 + e.taken_branches + 8 * (e.icache_misses - e.refill_hits) +
         2 * e.refill_hits + 25 * e.l2_icache_misses + 30 * e.itb_misses;
}

uint64_t sum_of(const std::vector<Component>& components) {
  uint64_t sum = 0;
  for (const Component& component : components) sum += component.cycles;
  return sum;
}

const std::vector<ModelInfo>& models() {
  static const std::vector<ModelInfo> table = {
      {"alpha21164", MachineId::alpha, [] { return alpha21164::make_model(); }},
      {"itanium2", MachineId::ia64, [] { return itanium2::make_model(); }},
      {"zen3", MachineId::x86_64, [] { return x86::make_zen3(); }},
      {"goldencove", MachineId::x86_64, [] { return x86::make_goldencove(); }},
  };
  return table;
}

const ModelInfo* find_model(std::string_view name) {
  for (const ModelInfo& info : models())
    if (info.name == name) return &info;
  return nullptr;
}

}  // namespace respike::measure

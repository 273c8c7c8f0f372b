// The table of machines, the only place that knows all of them: a row for each machine.
//
// Example: MachineId::x86_64 has no row, so machine_for() throws and find_listing() returns
// nullptr.

#include "optimizer/machine/machines.h"

#include <algorithm>

#include "optimizer/base/error.h"
#include "optimizer/machine/ia64/listing.h"
#include "optimizer/machine/listing.h"

namespace respike {
namespace {

struct KnownMachine {
  MachineId id;
  const Machine& (*machine)();
  const Listing& (*listing)();
  uint64_t page;
};

template <const Machine& (*machine)()>
const Listing& plain_listing() {
  static const PlainListing listing(machine());
  return listing;
}

constexpr KnownMachine kMachines[] = {
    {MachineId::alpha, alpha_machine, plain_listing<alpha_machine>, 8192},
    {MachineId::ia64, ia64_machine, ia64_listing, 16384},
};

const KnownMachine* find(MachineId id) {
  const auto row = std::ranges::find(kMachines, id, &KnownMachine::id);
  return row == std::end(kMachines) ? nullptr : row;
}

const KnownMachine& require(MachineId id) {
  const KnownMachine* known = find(id);
  if (known == nullptr) throw Error("it is for a machine that Respike cannot rewrite yet");
  return *known;
}

}  // namespace

bool has_machine(MachineId id) {
  return find(id) != nullptr;
}

const Machine& machine_for(MachineId id) {
  return require(id).machine();
}

uint64_t page_size(MachineId id) {
  return require(id).page;
}

const Listing* find_listing(MachineId id) {
  const KnownMachine* known = find(id);
  return known == nullptr ? nullptr : &known->listing();
}

}  // namespace respike

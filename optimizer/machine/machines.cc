// The table of machines: a row for each machine. No other place lists all machines.
//
// Example: the row of MachineId::x86_64 has listings and no Machine, so machine_for() throws, but
// code can be listed.

#include "optimizer/machine/machines.h"

#include <fmt/format.h>

#include <algorithm>

#include "optimizer/base/error.h"
#include "optimizer/image/image.h"
#include "optimizer/machine/ia64/listing.h"
#include "optimizer/machine/listing.h"
#include "optimizer/machine/x86_64/listing.h"

namespace respike {
namespace {

struct KnownMachine {
  MachineId id;
  const Machine& (*machine)();  // nullptr: Respike reads the code, but cannot rewrite it yet
  const Machine& (*windows_machine)();  // with Windows' calling standard; nullptr: as above
  const Listing& (*listing)();
  const Listing& (*manual_listing)();  // nullptr: the manuals' syntax is GNU's
};

template <const Machine& (*machine)()>
const Listing& plain_listing() {
  static const PlainListing listing(machine());
  return listing;
}

constexpr KnownMachine kMachines[] = {
    {MachineId::alpha, alpha_machine, alpha_windows_machine, plain_listing<alpha_machine>, nullptr},
    {MachineId::ia64, ia64_machine, nullptr, ia64_listing, nullptr},
    {MachineId::x86_64, x86_64_machine, nullptr, x86_64_listing, x86_64_manual_listing},
};

const KnownMachine* find(MachineId id) {
  const auto row = std::ranges::find(kMachines, id, &KnownMachine::id);
  return row == std::end(kMachines) ? nullptr : row;
}

const KnownMachine& require(MachineId id) {
  const KnownMachine* known = find(id);
  if (known == nullptr || known->machine == nullptr)
    throw Error("it is for a machine that Respike cannot rewrite yet");
  return *known;
}

}  // namespace

bool has_machine(MachineId id) {
  const KnownMachine* known = find(id);
  return known != nullptr && known->machine != nullptr;
}

const Machine& machine_for(MachineId id) {
  return require(id).machine();
}

const Machine& machine_for(const Image& image) {
  const KnownMachine& known = require(image.machine);
  if (image.calling_standard == CallingStandard::unix_systems) return known.machine();
  if (known.windows_machine == nullptr)
    throw Error(fmt::format("it is for Windows on {}, whose images cannot be rewritten yet",
                            known.machine().name),
                image.path);
  return known.windows_machine();
}

const Listing* find_listing(MachineId id, Syntax syntax) {
  const KnownMachine* known = find(id);
  if (known == nullptr) return nullptr;
  const auto listing = syntax == Syntax::gnu ? known->listing : known->manual_listing;
  return listing == nullptr ? nullptr : &listing();
}

}  // namespace respike

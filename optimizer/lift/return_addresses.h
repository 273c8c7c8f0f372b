#pragma once
// Callees that do more with their return address than return.

#include <vector>

#include "optimizer/lift/lifter.h"

namespace respike {

/// A block that a direct call enters.
struct Callee {
  ProcedureId procedure = kNone;
  BlockId block = kNone;
  auto operator<=>(const Callee&) const = default;
};

/// The callees that may go on at another place than the return point, or read data there; sorted.
/// For machines whose calls push the return address; on others no callee uses the return address.
std::vector<Callee> users_of_return_addresses(const Lifter& lifter, std::vector<Callee> callees);

}  // namespace respike

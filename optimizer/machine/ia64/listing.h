#pragma once
// Itanium code as objdump lists it.

#include "optimizer/machine/listing.h"

namespace respike {

const Listing& ia64_listing();

}  // namespace respike

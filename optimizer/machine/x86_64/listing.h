#pragma once

#include "optimizer/machine/listing.h"

namespace respike {

const Listing& x86_64_listing();         // AT&T
const Listing& x86_64_manual_listing();  // Intel

}  // namespace respike

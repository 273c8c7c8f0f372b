#pragma once
// What the libFuzzer targets share.

#include "tests/fuzz/checks.h"

namespace respike {

/// Aborts with the finding, which makes libFuzzer keep the input.
void report(const FuzzResult& result);

}  // namespace respike

#pragma once
// Code that the libFuzzer targets share.

#include "tests/fuzz/checks.h"

namespace respike {

/// Aborts if there is a finding, which makes libFuzzer keep the input.
void report(const FuzzResult& result);

}  // namespace respike

#pragma once
// What a profile promises of an optimized image, in a few words.

#include <string>

#include "optimizer/layout/profiled.h"

namespace respike {

/// What is expected of an output.
struct Gain {
  Forecast forecast;           // of a layout by a profile
  bool left_as_it_is = false;  // too little is gained: the code stays as it is in the input
  double missed_gain = 0;      // then: the part of the input's cycles that would have been saved
};

/// "3.5% fewer instructions, 46.1% fewer taken direct branches, 17.0% fewer cycles", or "no gain;
/// the code stays as it is".
std::string describe(const Gain& gain);

}  // namespace respike

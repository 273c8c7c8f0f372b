// Percentages of a forecast. Example: 1,000 cycles in the input and 830 in the output are "17.0%
// fewer cycles".

#include "optimizer/report/gain.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

namespace respike {

std::string describe(const Gain& gain) {
  if (gain.left_as_it_is)
    return gain.missed_gain < 0.0005
               ? "no gain; the code stays as it is"
               : fmt::format("{:.1f}% fewer cycles, too small a gain; the code stays as it is",
                             100 * gain.missed_gain);
  const auto change = [](double before, double after, std::string_view what) {
    const double percent = before == 0 ? 0 : 100 * (after / before - 1);
    return fmt::format("{:.1f}% {} {}", std::abs(percent), percent > 0 ? "more" : "fewer", what);
  };
  const Forecast::Cost &input = gain.forecast.input, &output = gain.forecast.output;
  return fmt::format(
      "{}, {}, {}",
      change(input.executed.instructions, output.executed.instructions, "instructions"),
      change(input.executed.taken, output.executed.taken, "taken direct branches"),
      change(input.cycles, output.cycles, "cycles"));
}

}  // namespace respike

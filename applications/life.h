#pragma once
// The progress of an application: the steps done with it, and the next step. The command line
// prints the next step when it is started without arguments; the manager shows all steps.

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "applications/environment.h"

namespace respike {

/// The life of an application, in this order.
enum class Step : uint8_t { registering, instrumenting, running, optimizing, checking, exporting };
inline constexpr size_t kSteps = 6;

struct StepState {
  bool done = false;
  std::string text;  // the result of the step, or what the step does; a clause
};

struct Next {
  std::optional<Step> step;  // none: all is done, or nothing can be done
  std::string why;           // continues after the application's name: "is optimized, and ..."
};

struct Life {
  std::array<StepState, kSteps> steps;
  Next next;
  bool can_be_checked = false;      // there are two versions, and one program to compare them by
  std::optional<double> gain;       // share of the costs saved, from the check of the present
                                    // version
  std::optional<int64_t> age_days;  // of the newest counts of all images

  const StepState& operator[](Step step) const { return steps[static_cast<size_t>(step)]; }
};

/// `counts_wait`: some counts were not merged yet, so that the view lacks them.
Life life_of(const ApplicationView& application, bool counts_wait = false);

/// "25.3%", "1.2% slower", "no difference".
std::string gain_text(double gain);

}  // namespace respike

#pragma once
// How far an application is: what was done with it, and what comes next. The command line says the
// next step when it is started alone; the window shows all steps.

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
  std::string text;  // what was reached, or what the step does, a clause
};

struct Next {
  std::optional<Step> step;  // none: all is done, or nothing can be done
  std::string why;           // goes on after the application's name: "is optimized, and ..."
};

struct Life {
  std::array<StepState, kSteps> steps;
  Next next;
  bool can_be_checked = false;      // there are two versions, and one program to compare them by
  std::optional<double> gain;       // by the check of the present version: share of the costs saved
  std::optional<int64_t> age_days;  // of the newest counts of all images

  const StepState& operator[](Step step) const { return steps[static_cast<size_t>(step)]; }
};

/// `counts_wait`: some counts were not merged yet, so that the view lacks them.
Life life_of(const ApplicationView& application, bool counts_wait = false);

/// "25.3%", "1.2% slower", "no difference".
std::string gain_text(double gain);

}  // namespace respike

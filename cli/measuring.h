#pragma once
// Output that measure, compare and check share.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/messages.h"
#include "measure/run.h"
#include "measure/timing.h"

namespace respike::cli {

/// If need be, says on stderr why the figures are times instead of a model's, and why nothing was
/// counted.
void note_times(const std::string& why_timed, const std::string& uncounted);

/// The name in tables for memory without a file in which code ran.
constexpr const char* kNoFile = "(code without a file)";

Json to_json(const measure::Measurement& measurement);
Json to_json(const measure::Times& times);
Json to_json(const measure::Comparison& comparison);
Json to_json(const measure::TimeComparison& comparison);

/// The change from the first number to the second, as a share of the first: "-7.40%".
std::string change(uint64_t before, uint64_t after);
/// A row of a table with the columns before, after and change.
void print_heading(std::string_view label);
void print_row(std::string_view label, uint64_t before, uint64_t after);

/// Figures, speedup, and whether the output is the same. `explain`: all figures.
void print_comparison(const measure::Comparison& comparison, bool explain);
void print_comparison(const measure::TimeComparison& comparison);

void note_exit_status(const char* whose, int status);

/// Ensures that this process measures originals, also below `respike exec` and in sessions. Returns
/// the function that prepares their surroundings (ProgramRun::enter).
std::function<void()> measure_originals();

/// --model NAME and --native, which is measure::kNative.
void add_model_options(CLI::App& command, std::string& model);

/// A text as a cell of a file of comma-separated values.
std::string csv_cell(std::string_view text);

}  // namespace respike::cli

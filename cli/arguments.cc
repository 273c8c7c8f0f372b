// Validators of option values, and options that several commands share.
//
// The parser's own conversions are too lenient: CLI11 wraps, clamps or drops text that is not a
// number of the wanted type. So the validators of numbers parse the whole text with std::from_chars
// and check the range. A validator returns the clause that the user reads, or an empty text.
//
// Example: whole_number_between(1, 64) rejects "-1", "65" and "7x" with "\"7x\" is no number from 1
// to 64".

#include "cli/arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "instrument/counters.h"

namespace respike::cli {
namespace {

std::string name_problem(const std::string& name) {
  return name.empty() ? "its name is empty" : "";
}

std::string output_problem(const std::string& name) {
  if (name == "-") return "outputs do not go to standard output: a file of this name is ./-";
  return name_problem(name);
}

std::string number_problem(const std::string& text, uint64_t least, uint64_t most) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (is_number && value >= least && value <= most) return "";
  return fmt::format("\"{}\" is no number from {} to {}", text, least, most);
}

/// The text as a finite number; nullopt: it is not one.
std::optional<double> finite_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::string positive_problem(const std::string& text) {
  return finite_number(text).value_or(0) > 0 ? ""
                                             : fmt::format("\"{}\" is no number above 0", text);
}

}  // namespace

CLI::Validator name_of_output() {
  return CLI::Validator(output_problem, "FILE");
}

CLI::Validator name_of(const std::string& kind) {
  return CLI::Validator(name_problem, kind);
}

CLI::Validator whole_number() {
  const auto problem = [](const std::string& text) { return number_problem(text, 0, UINT64_MAX); };
  return CLI::Validator(problem, "0 .. 2^64-1");
}

CLI::Validator whole_number_between(uint64_t least, uint64_t most) {
  const auto problem = [=](const std::string& text) { return number_problem(text, least, most); };
  return CLI::Validator(problem, fmt::format("{} .. {}", least, most));
}

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string list = fmt::format("{{{}}}", fmt::join(words, ","));
  const auto problem = [words = std::move(words)](const std::string& text) {
    if (std::ranges::find(words, text) != words.end()) return std::string();
    return fmt::format("\"{}\" is none of {}", text, fmt::join(words, ", "));
  };
  return CLI::Validator(problem, list);
}

CLI::Validator positive_number() {
  return CLI::Validator(positive_problem, "above 0");
}

CLI::Validator number_up_to(double most) {
  const auto problem = [most](const std::string& text) {
    const auto number = finite_number(text);
    return number && *number >= 0 && *number <= most
               ? std::string()
               : fmt::format("\"{}\" is no number from 0 to {}", text, most);
  };
  return CLI::Validator(problem, fmt::format("0 .. {}", most));
}

void add_dynamic_fragments_option(CLI::App& command, bool& on) {
  command.add_flag("--dynamic-fragments", on,
                   "of a library: dynamic symbols for moved parts of exported procedures, so that "
                   "dladdr names their code; they change with each profile");
}

void add_output_option(CLI::App& command, std::string& name, const std::string& what) {
  command.add_option("-o,--output", name, what)->required()->check(name_of_output());
}

void add_counters_option(CLI::App& command, std::string& name) {
  command
      .add_option("--counters", name,
                  "atomic: exact with several threads and forked children, slower; threads: each "
                  "thread of a dynamically linked x86-64 program counts by itself")
      ->check(one_of({std::begin(kCounterNames), std::end(kCounterNames)}))
      ->capture_default_str();
}

}  // namespace respike::cli

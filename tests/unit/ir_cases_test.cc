// Runs the text cases of tests/ir/ (see its README.md).

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

#include "optimizer/check/invariants.h"
#include "optimizer/check/same_program.h"
#include "optimizer/ir/text/text.h"
#include "optimizer/machine/machines.h"
#include "optimizer/transform/hotcold/hot_cold.h"
#include "tests/unit/fake_machine.h"

namespace respike {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(RESPIKE_SOURCE_DIR) / "tests/ir";

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Program parse(const std::string& text) {
  const bool alpha = text.find("program alpha") != std::string::npos;
  return parse_program(text, alpha ? alpha_machine() : static_cast<const Machine&>(fake_machine()));
}

std::string run(const std::string& command, const std::string& first, const std::string& second) {
  try {
    Program program = parse(first);
    if (command == "print") return print(program);
    if (command == "hot-cold") {
      optimize_hot_cold(program, {.least_gain = 0, .cold_shares = {{0.01, 0.05, 0.2, 0.5}}});
      if (const auto violation = find_violation(program)) return *violation + "\n";
      return print(program);
    }
    if (command == "verify") return find_violation(program).value_or("valid") + "\n";
    if (command == "compare")
      return find_difference(program, parse(second)).value_or("same") + "\n";
    return "unknown command " + command + "\n";
  } catch (const Error& error) {
    return std::string("error: ") + error.what() + "\n";
  }
}

std::string output_of(const std::string& text) {
  constexpr std::string_view kSeparator = "=====\n", kRun = "// run: ";
  const size_t at = text.find(kSeparator);
  const std::string first = text.substr(0, at);
  const std::string second = at == std::string::npos ? "" : text.substr(at + kSeparator.size());
  std::string output, line;
  std::istringstream lines(first);
  while (std::getline(lines, line))
    if (line.starts_with(kRun)) output += run(line.substr(kRun.size()), first, second);
  return output;
}

class IrCase : public testing::TestWithParam<std::string> {};

TEST_P(IrCase, Matches) {
  const std::string output = output_of(contents(kFolder / (GetParam() + ".ir")));
  const auto expected = kFolder / (GetParam() + ".expected");
  if (std::getenv("RESPIKE_UPDATE_CASES") != nullptr) std::ofstream(expected) << output;
  EXPECT_EQ(output, contents(expected));
}

/// Damaged text is refused or read; a program that was read can be printed, verified and compared
/// with itself.
TEST_P(IrCase, SurvivesDamage) {
  const std::string original = contents(kFolder / (GetParam() + ".ir"));
  std::mt19937_64 random(original.size());
  for (int round = 0; round < 3000; ++round) {
    std::string text = original;
    for (uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
      const size_t at = random() % text.size(), size = 1 + random() % 12;
      switch (random() % 3) {
        case 0:
          text.erase(at, size);
          break;
        case 1:
          text.insert(at, text.substr(random() % text.size(), size));
          break;
        default:
          text[at] = static_cast<char>(random());
          break;
      }
    }
    try {
      const Program program = parse(text.substr(0, text.find("=====")));
      const std::string once = print(program);
      if (find_violation(program)) continue;  // indices of the program may lead nowhere
      EXPECT_EQ(print(parse(once)), once);
      EXPECT_EQ(find_difference(program, program).value_or(""), "");
    } catch (const Error&) {
    }
  }
}

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder))
    if (entry.path().extension() == ".ir") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Cases, IrCase, testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace respike

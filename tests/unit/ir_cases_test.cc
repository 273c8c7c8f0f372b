// Runs the text cases of tests/ir/ (see its README.md).

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/check/invariants.h"
#include "optimizer/check/same_program.h"
#include "optimizer/ir/text/text.h"
#include "tests/unit/folders.h"
#include "tests/unit/ir_commands.h"
#include "tests/unit/ir_text_program.h"
#include "tests/unit/temporary_folder.h"

namespace respike {
namespace {

const std::filesystem::path kFolder = source_folder() / "tests/ir";

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Program parse(const std::string& text) {
  return parse_program(text, machine_of(text, fake_machine()));
}

std::vector<std::string> cases(std::string_view extension) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder))
    if (entry.path().extension() == extension) names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// `output`: the contents of the file beside the case.
void expect_output(const std::string& name, const std::string& output) {
  const auto expected = kFolder / (name + ".expected");
  if (std::getenv("RESPIKE_UPDATE_CASES") != nullptr) std::ofstream(expected) << output;
  EXPECT_EQ(output, contents(expected));
}

class IrCase : public testing::TestWithParam<std::string> {};

TEST_P(IrCase, Matches) {
  expect_output(GetParam(), run_text_case(contents(kFolder / (GetParam() + ".ir"))));
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

INSTANTIATE_TEST_SUITE_P(Cases, IrCase, testing::ValuesIn(cases(".ir")),
                         [](const auto& test) { return test.param; });

class AssemblerCase : public testing::TestWithParam<std::string> {};

TEST_P(AssemblerCase, Matches) {
  const TemporaryFolder folder;
  expect_output(GetParam(), run_assembler_case(kFolder / (GetParam() + ".s"), folder.path()));
}

INSTANTIATE_TEST_SUITE_P(Cases, AssemblerCase, testing::ValuesIn(cases(".s")),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace respike

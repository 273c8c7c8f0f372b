// Recognizes programs for Windows NT, and finds their loader: respike-nt-loader, a program of Linux
// for Alpha beside the command or in PATH, which gets the program's path and its argv[0].
//
// Example: for lua.exe with argv[0] "lua", the words are {"/.../respike-nt-loader", "--argv0",
// "lua"}.

#include "measure/windows_program.h"

#include <array>
#include <fstream>

#include "host/platform.h"
#include "optimizer/base/error.h"

namespace respike::measure {
namespace {

constexpr std::string_view kLoader = "respike-nt-loader";

}  // namespace

bool is_for_windows(const std::filesystem::path& program) {
  std::array<char, 2> start{};
  std::ifstream(program, std::ios::binary).read(start.data(), start.size());
  return start[0] == 'M' && start[1] == 'Z';
}

std::vector<std::string> loader_words(const std::filesystem::path& program,
                                      const std::string& argv0) {
  if (!is_for_windows(program)) return {};
  const std::filesystem::path loader = find_command(kLoader, true);
  if (loader.empty())
    throw Error("respike-nt-loader, which loads programs for Windows, is not installed", program);
  return {loader.string(), "--argv0", argv0};
}

}  // namespace respike::measure

// Finds libraries in the same way as the loader of respike-nt (emulators/nt/modules.c).
//
// A library is searched for in the program's folder, in the working folder, and in the folders of
// PATH, ignoring the case of its name; the folder of the library that needs it is not searched.
// Libraries with delayed imports are listed as well: most runs load them sooner or later.
//
// Example: user.exe needs MIDDLE.DLL, which needs counting.dll; both are found beside user.exe.
//
// Source: the published description of LoadLibrary's search order.

#include "tas/windows_libraries.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <set>

#include "optimizer/base/error.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

/// Libraries that respike-nt implements itself; as in emulators/nt/modules.c.
constexpr std::array<std::string_view, 4> kSystem = {"kernel32.dll", "ntdll.dll", "crtdll.dll",
                                                     "msvcrt.dll"};

fs::path find_in(const fs::path& folder, const std::string& name) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (windows_library_name(entry.path().filename()) == name) return fs::absolute(entry.path());
  return {};
}

}  // namespace

std::string windows_library_name(const std::string& name) {
  std::string last = name.substr(name.find_last_of("/\\") + 1);
  std::ranges::transform(last, last.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  return last.find('.') == last.npos ? last + ".dll" : last;
}

fs::path find_windows_library(const std::string& name, const fs::path& program) {
  const std::string wanted = windows_library_name(name);
  fs::path found = find_in(program.parent_path(), wanted);
  if (found.empty()) found = find_in(fs::current_path(), wanted);
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable ? variable : "";
  while (found.empty() && !rest.empty()) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    if (colon > 0) found = find_in(rest.substr(0, colon), wanted);
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return found;
}

Libraries find_windows_libraries(const ProgramImage& program) {
  Libraries result;
  std::set<std::string> seen = {windows_library_name(program.path)};
  std::vector<std::pair<fs::path, LoaderView>> open = {{program.path, program.view}};
  for (size_t i = 0; i < open.size(); ++i) {
    const auto [path, view] = open[i];
    for (const LoaderView::Dependency& needed : view.needed) {
      const std::string name = windows_library_name(needed.name);
      if (std::ranges::count(kSystem, name) != 0 || !seen.insert(name).second) continue;
      const fs::path file = find_windows_library(needed.name, program.path);
      if (file.empty()) {
        if (!needed.optional) result.missing.push_back({needed.name, path});
        continue;
      }
      result.loaded.push_back({needed.name, file, read_loader_view(file)});
      open.emplace_back(file, result.loaded.back().view);
    }
  }
  return result;
}

}  // namespace respike

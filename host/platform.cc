// The table of platforms.
//
// The places where a dynamic linker looks for libraries are compiled into it. The folders and names
// here are those that `ld.so --help` prints for Debian's glibc, natively and under QEMU. The
// processor decides which of the subfolders for newer processors apply. A QEMU user emulator opens
// a file below its sysroot if the file exists there, and the host's file otherwise.

#include "host/platform.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "optimizer/base/error.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

/// What glibc's dynamic linker makes of this processor (glibc 2.36, sysdeps/x86/cpu-features.c and
/// elf/dl-hwcaps.c).
struct HostProcessor {
  std::vector<std::string_view> levels;     // folders of its x86-64 levels, highest first
  std::string_view platform = "x86_64";     // $PLATFORM
  std::vector<std::string_view> legacy = {  // parts of folders before glibc 2.37
      "tls", "x86_64", "x86_64"};
};

HostProcessor host_processor() {
  HostProcessor host;
#if defined(__x86_64__)
  // For each level, the features that older processors lack; clang 14 does not know the levels.
  const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
                  __builtin_cpu_supports("fma");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  if (v4) host.levels.push_back("glibc-hwcaps/x86-64-v4");
  if (v3) host.levels.push_back("glibc-hwcaps/x86-64-v3");
  if (v2) host.levels.push_back("glibc-hwcaps/x86-64-v2");
  // Only Intel's processors have a platform name of their own. (Xeon Phi's is left out: the family
  // ended with Knights Mill.)
  if (v3 && __builtin_cpu_is("intel")) {
    host.platform = "haswell";
    host.legacy = {"tls", "haswell", "x86_64"};
    if (v4) host.legacy.insert(host.legacy.begin() + 2, "avx512_1");
  }
#endif
  return host;
}

/// The folders that the dynamic linker of this host tries first in every folder: one of each level,
/// then one of each choice of legacy parts, for example tls/haswell/x86_64, tls/haswell,
/// tls/x86_64, tls, haswell/x86_64, haswell, x86_64.
std::vector<std::string_view> x86_64_subfolders(const HostProcessor& host) {
  static std::vector<std::string> names;  // of legacy folders; as long-lived as the table
  const size_t parts = host.legacy.size();
  for (size_t choice = (size_t{1} << parts) - 1; choice > 0; --choice) {
    std::string name;
    for (size_t part = 0; part < parts; ++part)
      if (choice >> (parts - 1 - part) & 1)
        name.append(name.empty() ? "" : "/").append(host.legacy[part]);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::vector<std::string_view> folders = host.levels;
  folders.insert(folders.end(), names.begin(), names.end());
  return folders;
}

}  // namespace

std::span<const Platform> platforms() {
  static const HostProcessor host = host_processor();
  static const std::array<Platform, 4> table = {
      Platform{.machine = MachineId::alpha,
               .name = "Alpha",
               .key = "alpha",
               .emulator = "qemu-alpha",
               .model_emulator = "",
               .sysroot = "/usr/alpha-linux-gnu",
               .sysroot_option = "-L",
               .argv0_option = "-0",
               .variable_option = "-E",
               .model_option = "",
               .places_option = "",
               .opened_option = "",
               .attendant_option = "",
               .quiet_option = "",
               .versions_option = "",
               .library_folders = {"/lib/alpha-linux-gnu", "/usr/lib/alpha-linux-gnu", "/lib",
                                   "/usr/lib"},
               .library_subfolders = {"tls"},
               .cache_flags = 0x0003,
               .lib_token = "lib/alpha-linux-gnu",
               .platform_token = ""},
      Platform{
          .machine = MachineId::ia64,
          .name = "Itanium",
          .key = "ia64",
          .emulator = "respike-ia64",
          .emulator_is_ours = true,
          .model_emulator = "",
          .sysroot = "/usr/ia64-linux-gnu",
          .sysroot_option = "--sysroot",
          .argv0_option = "--argv0",
          .variable_option = "",
          .model_option = "--model",
          .places_option = "--places",
          .opened_option = "--opened",
          .attendant_option = "--attendant",
          .quiet_option = "--quiet",
          .versions_option = "",
          .library_folders = {"/lib/ia64-linux-gnu", "/usr/lib/ia64-linux-gnu", "/lib", "/usr/lib"},
          .library_subfolders = {},
          .cache_flags = 0x0203,
          .lib_token = "lib/ia64-linux-gnu",
          .platform_token = ""},
      Platform{.machine = MachineId::alpha,
               .name = "Alpha, Windows NT",
               .key = "alpha-nt",
               .windows = true,
               .emulator = "respike-nt",
               .emulator_is_ours = true,
               .model_emulator = "",
               .sysroot = "",
               .sysroot_option = "",
               .argv0_option = "--argv0",
               .variable_option = "",
               .model_option = "",
               .places_option = "",
               .opened_option = "--opened",
               .attendant_option = "",
               .quiet_option = "",
               .versions_option = "--substitutes",
               .library_folders = {},
               .library_subfolders = {},
               .cache_flags = 0,
               .lib_token = "",
               .platform_token = ""},
      Platform{.machine = MachineId::x86_64,
               .name = "x86-64",
               .key = "x86_64",
               .emulator = "",
               .model_emulator = "qemu-x86_64",
               .sysroot = "",
               .sysroot_option = "",
               .argv0_option = "-0",
               .variable_option = "-E",
               .model_option = "",
               .places_option = "",
               .opened_option = "",
               .attendant_option = "",
               .quiet_option = "",
               .versions_option = "",
               .library_folders = {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib",
                                   "/usr/lib"},
               .library_subfolders = x86_64_subfolders(host),
               .cache_flags = 0x0303,
               .lib_token = "lib/x86_64-linux-gnu",
               .platform_token = host.platform},
  };
  return table;
}

const Platform* find_platform(std::string_view key) {
  for (const Platform& platform : platforms())
    if (platform.key == key) return &platform;
  return nullptr;
}

const Platform& platform_of(MachineId machine, bool windows) {
  const auto is_it = [&](const Platform& platform) {
    return platform.machine == machine && platform.windows == windows;
  };
  const auto found = std::find_if(platforms().begin(), platforms().end(), is_it);
  if (found == platforms().end())
    throw Error(fmt::format("programs of Windows for {} cannot be run", platform_of(machine).name));
  return *found;
}

fs::path own_part(std::string_view name) {
  // Asked only once: in another mount namespace the answer could differ.
  static const fs::path folder = [] {
    std::error_code error;
    const fs::path own = fs::read_symlink("/proc/self/exe", error);
    if (error)
      throw Error(
          fmt::format("where Respike's parts are is not known without it: {}", error.message()),
          "/proc/self/exe");
    return own.parent_path();
  }();
  for (const char* other : {"", RESPIKE_PARTS, RESPIKE_COMMANDS}) {
    const fs::path candidate = (folder / other / name).lexically_normal();
    if (access(candidate.c_str(), R_OK) == 0) return candidate;
  }
  return folder / name;
}

fs::path find_command(std::string_view name, bool beside) {
  if (beside) {
    const fs::path candidate = own_part(name);
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable ? variable : "/usr/bin:/bin";
  while (!rest.empty()) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    const fs::path candidate = fs::path(rest.substr(0, colon)) / name;
    if (colon > 0 && access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return {};
}

fs::path find_emulator(const Platform& platform, std::string_view why) {
  fs::path path = find_command(platform.emulator, platform.emulator_is_ours);
  if (path.empty()) throw Error(fmt::format("{} is not installed: {}", platform.emulator, why));
  return path;
}

std::string sysroot_of(const Platform& platform) {
  if (platform.native() || platform.windows) return {};
  const char* variable = std::getenv("QEMU_LD_PREFIX");
  return variable ? variable : std::string(platform.sysroot);
}

std::vector<std::string> emulator_words(const Platform& platform, const std::string& argv0) {
  std::vector<std::string> words = {std::string(platform.emulator)};
  const std::string sysroot = sysroot_of(platform);
  // A sysroot that is not installed is left out: programs without libraries do not need it.
  if (!sysroot.empty() && fs::is_directory(sysroot))
    words.insert(words.end(), {std::string(platform.sysroot_option), sysroot});
  words.insert(words.end(), {std::string(platform.argv0_option), argv0});
  return words;
}

}  // namespace respike

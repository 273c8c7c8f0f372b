// respike-nt: starts a program for Windows NT on Alpha. It stands in for a machine.
//
// The loader (loader.c) is a program for Linux on Alpha, so the emulator of that platform runs it.
// Example: "respike-nt lua.exe script.lua" becomes
// "qemu-alpha -L /usr/alpha-linux-gnu /.../respike-nt-loader lua.exe script.lua".
//
// Exit status: the program's; 125 when it could not be started.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "host/platform.h"

namespace {

constexpr int kFailed = 125;
constexpr const char* kLoader = "respike-nt-loader";
constexpr const char* kUsage =
    "Runs a program for Windows NT on Alpha, with the C library in the place of NT's libraries.\n"
    "\n"
    "usage: respike-nt [OPTIONS] PROGRAM.exe [ARGUMENTS]\n"
    "\n"
    "  --base ADDRESS       where the image goes (a multiple of 0x10000) instead of its own base\n"
    "  --libraries ADDRESS  where its libraries go, the first of them\n"
    "  --argv0 TEXT         what the program gets as argv[0]\n"
    "  --opened FOLDER      where libraries that the program opens are noted\n"
    "  --substitutes FILE   versions that run in the place of images, as Respike writes them\n"
    "  --help               prints this\n";

int fail(const std::string& message) {
  std::fprintf(stderr, "respike-nt: %s\n", message.c_str());
  return kFailed;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && std::strcmp(arguments[1], "--help") == 0) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  int program = 1;  // behind options and their values
  while (program < count && std::strncmp(arguments[program], "--", 2) == 0) program += 2;
  if (program >= count) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto loader = self.parent_path() / kLoader;
  if (!std::filesystem::exists(loader, error))
    return fail("its loader " + loader.string() +
                " is missing: it was built without a compiler for Alpha");
  const respike::Platform& platform = respike::platform_of(respike::MachineId::alpha);
  std::vector<std::string> words = {std::string(platform.emulator),
                                    std::string(platform.sysroot_option),
                                    std::string(platform.sysroot), loader.string()};
  words.insert(words.end(), arguments + 1, arguments + count);
  std::vector<char*> command;
  for (std::string& word : words) command.push_back(word.data());
  command.push_back(nullptr);
  execvp(command[0], command.data());
  return fail(words[0] + " cannot be started: " + std::strerror(errno));
}

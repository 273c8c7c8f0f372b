#pragma once
// Commands that stand in for a machine. A loader beside the command, a program for Linux on Alpha,
// runs under the emulator of that platform.
//
// Example: start_loader("respike-nt", ...) with the arguments "lua.exe script.lua" becomes
// "qemu-alpha -L /usr/alpha-linux-gnu /.../respike-nt-loader lua.exe script.lua".

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "host/platform.h"

namespace respike::emulator {

/// Becomes the loader of the command `name`, with the command's arguments. Returns only on failure:
/// 125, after a sentence on stderr.
inline int start_loader(const std::string& name, int count, char** arguments) {
  const auto fail = [&](const std::string& message) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), message.c_str());
    return 125;
  };
  std::error_code error;
  const auto loader = own_part(name + "-loader");
  if (!std::filesystem::exists(loader, error))
    return fail("its loader " + loader.string() +
                " is missing: it was built without a compiler for Alpha");
  const Platform& platform = platform_of(MachineId::alpha);
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

}  // namespace respike::emulator

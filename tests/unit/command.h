#pragma once
// Shell commands in tests.

#include <array>
#include <cstdio>
#include <string>

namespace respike {

struct CommandResult {
  int status = -1;  // from waitpid(); -1: the shell could not be started
  std::string output;

  bool operator==(const CommandResult&) const = default;
};

/// `output` is the command's standard output.
inline CommandResult run_command(const std::string& command) {
  CommandResult result;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return result;
  std::array<char, 65536> buffer;
  for (size_t size; (size = fread(buffer.data(), 1, buffer.size(), pipe)) != 0;)
    result.output.append(buffer.data(), size);
  result.status = pclose(pipe);
  return result;
}

}  // namespace respike

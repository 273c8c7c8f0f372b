// respike-emulate FILE ARGV0 [ARGS...]: runs a program of a foreign machine under its emulator.
//
// When a program that `respike run` started executes another program of its machine, the kernel
// runs respike-emulate (binfmt_misc, flag P; see private_mounts.cc), which runs the emulator: the
// emulator needs the sysroot and argv[0] as options, which the kernel cannot give. The status is
// 126 when the program cannot be executed, as in a shell.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "optimizer/base/error.h"
#include "tas/libraries.h"

int main(int argc, char** argv) {
  using namespace respike;
  if (argc < 3) {
    std::fputs("usage: respike-emulate FILE ARGV0 [ARGS...]\n", stderr);
    return 126;
  }
  try {
    const ProgramImage program = read_program(argv[1]);
    const Platform& platform = *program.platform;
    const std::string emulator = find_emulator(platform, "programs run under it");
    std::vector<std::string> before = emulator_words(platform, argv[2]);
    std::vector<char*> words;
    for (std::string& word : before) words.push_back(word.data());
    words.push_back(argv[1]);
    words.insert(words.end(), argv + 3, argv + argc + 1);
    execv(emulator.c_str(), words.data());
    std::fprintf(stderr, "respike-emulate: %s: %s\n", emulator.c_str(), std::strerror(errno));
  } catch (const Error& error) {
    std::fprintf(stderr, "respike-emulate: %s\n", error.what());
  }
  return 126;
}

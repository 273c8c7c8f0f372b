// respike-nt: starts a program for Windows NT on Alpha. It stands in for a machine (../stand_in.h).
//
// Exit status: the program's; 125 when it could not be started.

#include <cstdio>
#include <cstring>

#include "emulators/stand_in.h"

namespace {

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

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && std::strcmp(arguments[1], "--help") == 0) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  int program = 1;  // after options and their values
  while (program < count && std::strncmp(arguments[program], "--", 2) == 0) program += 2;
  if (program >= count) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  return respike::emulator::start_loader("respike-nt", count, arguments);
}

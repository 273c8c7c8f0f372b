// respike-ecoff: starts a static program in ECOFF for Alpha. It stands in for a machine
// (../stand_in.h).
//
// Exit status: the program's; 125 when it could not be started.

#include <cstdio>
#include <cstring>

#include "emulators/stand_in.h"

namespace {

constexpr const char* kUsage =
    "Runs a static program in ECOFF for Alpha, with the system calls of Linux.\n"
    "\n"
    "usage: respike-ecoff PROGRAM [ARGUMENTS]\n"
    "\n"
    "  --help           prints this\n";

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && std::strcmp(arguments[1], "--help") == 0) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (count < 2) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  return respike::emulator::start_loader("respike-ecoff", count, arguments);
}

// libFuzzer target: random code under the IA-64 emulator, see run_random_code.

#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/emulation.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string problem = respike::fuzz::run_random_code({data, size}).difference;
  if (!problem.empty()) {
    std::fprintf(stderr, "%s\n", problem.c_str());
    std::abort();
  }
  return 0;
}

// Writes seeds for the fuzzer of the IA-64 emulator: code of mostly legal instructions, which
// mutation of bytes alone does not reach soon. usage: emulation_seeds FOLDER

#include <cstdio>
#include <fstream>
#include <string>

#include "tests/fuzz/emulation.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: emulation_seeds FOLDER\n");
    return 2;
  }
  for (unsigned seed = 0; seed < 500; ++seed) {
    const auto code = respike::fuzz::make_random_code(seed);
    std::ofstream file(std::string(argv[1]) + "/seed-" + std::to_string(seed), std::ios::binary);
    file.write(reinterpret_cast<const char*>(code.data()),
               static_cast<std::streamsize>(code.size()));
  }
}

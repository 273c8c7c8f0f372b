// Writes the debug information of images: debug_seeds OUTDIR IMAGE...

#include "tests/fuzz/debug_seeds.h"

#include <filesystem>
#include <fstream>
#include <string>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::filesystem::path folder = argv[1];
  for (int i = 2; i < argc; ++i) {
    const auto seed = respike::debug_seeds::seed_of(respike::read_image(argv[i]));
    std::ofstream(folder / ("seed-" + std::to_string(i)), std::ios::binary)
        .write(reinterpret_cast<const char*>(seed.data()),
               static_cast<std::streamsize>(seed.size()));
  }
  return 0;
}

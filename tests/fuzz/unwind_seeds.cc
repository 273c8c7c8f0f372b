// Writes the unwind information of each procedure of images: unwind_seeds OUTDIR IMAGE...

#include "tests/fuzz/unwind_seeds.h"

#include <filesystem>
#include <fstream>
#include <string>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::filesystem::path folder = argv[1];
  size_t number = 0;
  for (int i = 2; i < argc; ++i)
    for (const auto& seed : respike::unwind_seeds(respike::read_image(argv[i])))
      std::ofstream(folder / ("seed-" + std::to_string(number++)), std::ios::binary)
          .write(reinterpret_cast<const char*>(seed.data()),
                 static_cast<std::streamsize>(seed.size()));
  return 0;
}

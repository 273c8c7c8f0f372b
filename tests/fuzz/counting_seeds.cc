// Writes profiles, counter maps and counter files to start fuzzing from: counting_seeds OUTDIR.

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "instrument/collect.h"
#include "tests/unit/profile_testing.h"

namespace {

void write(const std::filesystem::path& path, const std::vector<uint8_t>& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

std::vector<uint8_t> counter_file() {
  respike_counter_header header = {};
  std::memcpy(header.magic, RESPIKE_COUNTER_FILE_MAGIC, sizeof header.magic);
  header.version = RESPIKE_COUNTER_FILE_VERSION;
  header.header_size = sizeof header;
  header.counters_size = 64;
  std::strcpy(header.image_path, "/tmp/image");
  std::vector<uint8_t> bytes(sizeof header + 64);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace respike;
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    write(folder / ("profile-" + std::to_string(seed)), encode_profile(random_profile(random)));
    ToyOptions options;
    options.pads = 4;
    options.fatals = 10;
    options.jumps = 10;
    const CounterMap map = counter_map_of(random_toy(random, options), random);
    write(folder / ("map-" + std::to_string(seed)), encode_counter_map(map));
  }
  write(folder / "counters", counter_file());
  return 0;
}

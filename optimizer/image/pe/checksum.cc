#include "optimizer/image/pe/checksum.h"

#include "optimizer/base/bytes.h"

namespace respike::pe {

void write_checksum(std::vector<uint8_t>& file, uint64_t place) {
  if (load<uint32_t>(&file[place]) == 0) return;
  store(&file[place], uint32_t{0});
  uint32_t sum = 0;
  for (size_t i = 0; i < file.size(); i += 2) {
    sum += file[i] | (i + 1 < file.size() ? file[i + 1] << 8 : 0);
    sum = (sum & 0xffff) + (sum >> 16);
  }
  store(&file[place], static_cast<uint32_t>(sum + file.size()));
}

}  // namespace respike::pe

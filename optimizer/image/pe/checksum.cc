// The checksum of a PE file, as ImageHlp's CheckSumMappedFile computes it: the field counts as 0,
// all 16-bit words are added with end-around carry, and the size of the file is added. Example: the
// words 0xffff and 0x0003 add up to 0x10002, which folds to 0x0003.

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

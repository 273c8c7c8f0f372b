#include "tests/fuzz/mutation.h"

#include <algorithm>
#include <cstring>

namespace respike {

uint64_t MutationBase::number(uint64_t offset, unsigned size) const {
  uint64_t result = 0;
  if (in_file(offset, size)) std::memcpy(&result, bytes_.data() + offset, size);
  return result;
}

void MutationBase::put(uint64_t offset, uint64_t value, unsigned size) {
  if (in_file(offset, size)) std::memcpy(bytes_.data() + offset, &value, size);
}

uint64_t MutationBase::value_for(uint64_t old, unsigned bits,
                                 std::initializer_list<uint64_t> borders) {
  if (random_.one_in(2)) return borders.begin()[random_.below(borders.size())];
  const auto power = [&] { return uint64_t{1} << random_.below(bits); };
  switch (random_.below(10)) {
    case 0:
      return 0;
    case 1:
      return ~uint64_t{0};
    case 2:
      return power();
    case 3:
      return power() - 1;
    case 4:
      return old + 1;
    case 5:
      return old - 1;
    case 6:
      return old + 4 * random_.below(64);
    case 7:
      return old - 4 * random_.below(64);
    case 8:
      return old ^ power();
    default:
      return random_.below(256);
  }
}

void MutationBase::change_bytes(uint64_t offset, uint64_t size) {
  if (size == 0 || !in_file(offset, size)) return;
  for (uint64_t left = 1 + random_.below(4); left != 0; --left) {
    const uint64_t at = offset + random_.below(size);
    uint8_t& byte = bytes_[at];
    switch (random_.below(8)) {
      case 0:
        byte = 0;
        break;
      case 1:
        byte = 0xff;
        break;
      case 2:
        byte = static_cast<uint8_t>(byte + 1);
        break;
      case 3:
        byte = static_cast<uint8_t>(byte - 1);
        break;
      case 4:
        byte ^= static_cast<uint8_t>(1u << random_.below(8));
        break;
      case 5:
        byte |= 0x80;
        break;
      case 6:
        byte = static_cast<uint8_t>(random_.next());
        break;
      default: {  // bytes from elsewhere
        const uint64_t from = offset + random_.below(size);
        const uint64_t most = size - (std::max(at, from) - offset);
        std::memmove(bytes_.data() + at, bytes_.data() + from,
                     std::min<uint64_t>(most, 1 + random_.below(16)));
      }
    }
  }
}

void MutationBase::copy_record(uint64_t start, uint64_t length, uint64_t record) {
  const uint64_t count = length / record;
  if (count < 2 || !in_file(start, length)) return;
  const uint64_t a = start + record * random_.below(count),
                 b = start + record * random_.below(count);
  if (a == b) return;
  if (random_.one_in(2))
    std::swap_ranges(bytes_.begin() + static_cast<ptrdiff_t>(a),
                     bytes_.begin() + static_cast<ptrdiff_t>(a + record),
                     bytes_.begin() + static_cast<ptrdiff_t>(b));
  else
    std::memmove(&bytes_[a], &bytes_[b], record);
}

}  // namespace respike

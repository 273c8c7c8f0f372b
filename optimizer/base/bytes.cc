// Checked reads and LEB128 (DWARF 5, section 7.6).

#include "optimizer/base/bytes.h"

namespace respike {

void ByteReader::seek(size_t position) {
  if (position > bytes_.size()) throw Error(std::string(what_) + " ends too early");
  position_ = position;
}

std::span<const uint8_t> ByteReader::take(size_t count) {
  if (count > remaining()) throw Error(std::string(what_) + " ends too early");
  auto result = bytes_.subspan(position_, count);
  position_ += count;
  return result;
}

uint64_t ByteReader::uleb128() {
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const uint8_t byte = read<uint8_t>();
    if (shift >= 64 || (shift == 63 && (byte & 0x7e) != 0))
      throw Error(std::string(what_) + " has a LEB128 number of more than 64 bits");
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
}

int64_t ByteReader::sleb128() {
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const uint8_t byte = read<uint8_t>();
    if (shift >= 64) throw Error(std::string(what_) + " has a LEB128 number of more than 64 bits");
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0)
      return shift + 7 < 64 ? sign_extend(value, shift + 7) : static_cast<int64_t>(value);
  }
}

std::string_view ByteReader::c_string() {
  const auto* start = bytes_.data() + position_;
  const void* nul = remaining() == 0 ? nullptr : std::memchr(start, 0, remaining());
  if (nul == nullptr) throw Error(std::string(what_) + " has a string without an end");
  const size_t length = static_cast<const uint8_t*>(nul) - start;
  position_ += length + 1;
  return {reinterpret_cast<const char*>(start), length};
}

void ByteWriter::uleb128(uint64_t value) {
  do {
    const uint8_t byte = value & 0x7f;
    value >>= 7;
    bytes_.push_back(value != 0 ? byte | 0x80 : byte);
  } while (value != 0);
}

void ByteWriter::sleb128(int64_t value) {
  for (;;) {
    const uint8_t byte = value & 0x7f;
    value >>= 7;
    if ((value == 0 && (byte & 0x40) == 0) || (value == -1 && (byte & 0x40) != 0)) {
      bytes_.push_back(byte);
      return;
    }
    bytes_.push_back(byte | 0x80);
  }
}

}  // namespace respike

// Checked reading and writing of bytes.

#include "optimizer/base/bytes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace respike {
namespace {

TEST(Bytes, SignExtends) {
  EXPECT_EQ(sign_extend(0x1fffff, 21), -1);
  EXPECT_EQ(sign_extend(0x0fffff, 21), 0xfffff);
  EXPECT_EQ(sign_extend(0xffff8000, 16), -0x8000);
  EXPECT_EQ(sign_extend(1, 1), -1);
  EXPECT_EQ(sign_extend(uint64_t{1} << 63, 64), std::numeric_limits<int64_t>::min());
}

TEST(Bytes, KnowsWhatFits) {
  EXPECT_TRUE(fits_signed(0x7fff, 16));
  EXPECT_FALSE(fits_signed(0x8000, 16));
  EXPECT_TRUE(fits_signed(-0x8000, 16));
  EXPECT_FALSE(fits_signed(-0x8001, 16));
}

TEST(Bytes, AlignsUp) {
  EXPECT_EQ(align_up(0, 16), 0u);
  EXPECT_EQ(align_up(1, 16), 16u);
  EXPECT_EQ(align_up(16, 16), 16u);
  EXPECT_EQ(align_up(7, 1), 7u);
}

TEST(ByteReader, ReadsWhatByteWriterWrote) {
  ByteWriter writer;
  writer.write<uint8_t>(1);
  writer.write<uint64_t>(0x1122334455667788);
  writer.c_string("name");
  writer.align(8, 0xee);
  writer.write<int16_t>(-2);
  writer.patch<uint8_t>(0, 9);

  ByteReader reader(writer.bytes());
  EXPECT_EQ(reader.read<uint8_t>(), 9);
  EXPECT_EQ(reader.read<uint64_t>(), 0x1122334455667788u);
  EXPECT_EQ(reader.c_string(), "name");
  EXPECT_EQ(reader.position(), 14u);
  EXPECT_EQ(reader.read<uint8_t>(), 0xee);
  reader.seek(16);
  EXPECT_EQ(reader.read<int16_t>(), -2);
  EXPECT_TRUE(reader.at_end());
}

TEST(ByteReader, Leb128RoundTrip) {
  std::vector<uint64_t> values = {0, 1, 63, 64, 127, 128, 0x3fff, 0x4000};
  for (unsigned bit = 0; bit < 64; ++bit) {
    values.push_back(uint64_t{1} << bit);
    values.push_back(~(uint64_t{1} << bit));
    values.push_back((uint64_t{1} << bit) - 1);
  }
  for (const uint64_t value : values) {
    ByteWriter writer;
    writer.uleb128(value);
    writer.sleb128(static_cast<int64_t>(value));
    ByteReader reader(writer.bytes());
    EXPECT_EQ(reader.uleb128(), value);
    EXPECT_EQ(reader.sleb128(), static_cast<int64_t>(value));
    EXPECT_TRUE(reader.at_end());
  }
}

TEST(ByteReader, Leb128OfTheStandard) {  // DWARF 5, table 7.7 and 7.8
  const std::vector<uint8_t> bytes = {0x80, 0x01, 0xff, 0x7e, 0x80, 0x7f};
  ByteReader reader(bytes);
  EXPECT_EQ(reader.uleb128(), 128u);
  EXPECT_EQ(reader.sleb128(), -129);
  EXPECT_EQ(reader.sleb128(), -128);
}

TEST(ByteReader, RefusesToReadPastTheEnd) {
  const std::vector<uint8_t> bytes = {0x80, 0x80, 'a'};
  EXPECT_THROW(ByteReader(bytes).read<uint32_t>(), Error);
  EXPECT_THROW(ByteReader(bytes).take(4), Error);
  EXPECT_THROW(ByteReader(bytes).skip(std::numeric_limits<size_t>::max()), Error);
  EXPECT_THROW(ByteReader(bytes).seek(4), Error);
  EXPECT_THROW(ByteReader(bytes).c_string(), Error);
  EXPECT_THROW(ByteReader({}).c_string(), Error);
  EXPECT_THROW(ByteReader({}).uleb128(), Error);
  EXPECT_THROW(ByteReader(std::span(bytes).first(2)).uleb128(), Error);
  ByteReader at_end(bytes);
  at_end.seek(3);
  EXPECT_TRUE(at_end.at_end());
}

TEST(ByteReader, RefusesOverlongLeb128) {
  const std::vector<uint8_t> bytes(11, 0x80),
      last_too_large = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02};
  EXPECT_THROW(ByteReader(bytes).uleb128(), Error);
  EXPECT_THROW(ByteReader(bytes).sleb128(), Error);
  EXPECT_THROW(ByteReader(last_too_large).uleb128(), Error);
}

TEST(ByteReader, NamesItsSubject) {
  try {
    ByteReader({}, "the frame table").read<uint8_t>();
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the frame table ends too early");
  }
}

}  // namespace
}  // namespace respike

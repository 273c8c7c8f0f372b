// Expressions of debug information: the values that they need, and the addresses in them.

#include "optimizer/debug/expressions.h"

#include <gtest/gtest.h>

#include <vector>

#include "optimizer/base/bytes.h"

namespace respike::debug {
namespace {

using Bytes = std::vector<uint8_t>;

StaleValues stale(std::initializer_list<uint64_t> registers, bool memory = false) {
  StaleValues values;
  for (const uint64_t number : registers) values.add(number);
  values.memory = memory;
  return values;
}

bool needs(const StaleValues& values, const Bytes& expression) {
  return needs_any(values, expression, 4);
}

TEST(DebugExpressions, NeedRegisters) {
  const Bytes in_register{0x53};  // reg3
  EXPECT_TRUE(needs(stale({3}), in_register));
  EXPECT_FALSE(needs(stale({4}, true), in_register));
  const Bytes by_number{0x90, 33};  // regx 33
  EXPECT_TRUE(needs(stale({33}), by_number));
  EXPECT_FALSE(needs(stale({3}), by_number));
}

TEST(DebugExpressions, NeedMemory) {
  const Bytes at_register{0x73, 8};       // breg3 8
  const Bytes at_number{0x92, 33, 0x78};  // bregx 33 -8
  const Bytes in_frame{0x91, 0x70};       // fbreg -16
  for (const Bytes& expression : {at_register, at_number, in_frame}) {
    EXPECT_TRUE(needs(stale({}, true), expression));
    EXPECT_FALSE(needs(stale({5}), expression));
  }
  EXPECT_TRUE(needs(stale({33}), at_number));
}

TEST(DebugExpressions, KnowTypedOperations) {
  const Bytes typed{0xa5, 17,   0x2a,          // regval_type 17 <type>
                    0xa4, 0x2a, 2,    1,   2,  // const_type <type> 2 bytes
                    0x22, 0xa8, 0,    0x9f};   // plus; convert; stack_value
  EXPECT_TRUE(needs(stale({17}), typed));
  EXPECT_FALSE(needs(stale({1, 2}, true), typed));
}

// Debuggers compute an entry value in the frame of the caller.
TEST(DebugExpressions, EntryValuesNeedNothing) {
  const Bytes entry{0xa3, 1, 0x55, 0x9f};  // entry_value {reg5}; stack_value
  EXPECT_FALSE(needs(stale({5}, true), entry));
}

TEST(DebugExpressions, UnknownAndCutOffOperationsNeedEverything) {
  EXPECT_TRUE(needs(stale({40}), {0xe8}));
  EXPECT_TRUE(needs(stale({40}), {0x0a, 1}));           // const2u without its second byte
  EXPECT_TRUE(needs(stale({40}), {0x9e, 0xff, 0x7f}));  // implicit_value of many bytes
  EXPECT_FALSE(needs(stale({40}), {}));
}

TEST(DebugExpressions, MoveAddressesBehindTypedOperations) {
  const AddressMap map({{.new_start = 0x5000,
                         .new_end = 0x5010,
                         .old_from = 0x1000,
                         .old_start = 0x1000,
                         .old_end = 0x1010}},
                       {{0x1000, 0x1010}}, {{0x1000, 0x2000}});
  ByteWriter bytes;
  bytes.append(Bytes{0xa4, 0x2a, 1, 7, 0x03});  // const_type; addr
  bytes.write<uint64_t>(0x1004);
  bytes.write<uint8_t>(0x03);
  bytes.write<uint64_t>(0x1800);  // not moved
  move_addresses(map, bytes.bytes(), 4);
  EXPECT_EQ(load<uint64_t>(bytes.bytes().data() + 5), 0x5004u);
  EXPECT_EQ(load<uint64_t>(bytes.bytes().data() + 14), 0x1800u);
}

}  // namespace
}  // namespace respike::debug

// Compares addresses in the backing store with a walk word by word, rotation with shifting a list,
// and the engine with a model that keeps every frame in a vector and every word of memory in a map.

#include "emulators/ia64/register_stack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "emulators/ia64/memory_access.h"
#include "emulators/ia64/process.h"

namespace respike::emulator::ia64 {
namespace {

TEST(BackingStore, SkipAndCountAreAWalk) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    uint64_t start = 0x6000000000000000 + (random() % 1000) * 8;
    if (is_collection(start)) start += 8;
    const auto count = static_cast<int64_t>(random() % 400);
    uint64_t address = start;
    for (int64_t n = 0; n < count; ++n) {
      address += 8;
      if (is_collection(address)) address += 8;
    }
    ASSERT_EQ(skip_registers(start, count), address);
    ASSERT_EQ(registers_between(start, address), static_cast<uint64_t>(count));
    ASSERT_EQ(skip_registers(address, -count), start);
  }
}

TEST(Rotation, MovesEveryRegisterUpByOne) {
  FrameMarker marker = FrameMarker::of(40, 40, 24);
  std::vector<int> general(24), predicates(48);
  std::vector<int> physical_general(128), physical_predicates(64);
  for (int i = 0; i < 24; ++i) general[static_cast<size_t>(i)] = i;
  for (int i = 0; i < 48; ++i) predicates[static_cast<size_t>(i)] = i;
  for (unsigned r = 0; r < 24; ++r) physical_general[marker.general(32 + r)] = general[r];
  for (unsigned p = 0; p < 48; ++p) physical_predicates[marker.predicate(16 + p)] = predicates[p];
  for (int round = 0; round < 200; ++round) {
    marker = marker.rotate();
    ASSERT_TRUE(marker.valid());
    std::rotate(general.rbegin(), general.rbegin() + 1, general.rend());
    std::rotate(predicates.rbegin(), predicates.rbegin() + 1, predicates.rend());
    for (unsigned r = 0; r < 24; ++r)
      ASSERT_EQ(physical_general[marker.general(32 + r)], general[r]);
    for (unsigned p = 0; p < 48; ++p)
      ASSERT_EQ(physical_predicates[marker.predicate(16 + p)], predicates[p]);
    ASSERT_EQ(marker.general(56), 56u);
    ASSERT_EQ(marker.predicate(15), 15u);
  }
}

constexpr uint64_t kStore = region_base(3) + 0x100000;

/// Random calls, returns and flushes, with frames up to 96 registers and with NaT bits.
TEST(Engine, FramesComeBack) {
  static Process process;
  ASSERT_GT(process.memory.map(kStore, uint64_t{64} << 20, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
            0);
  auto thread = std::make_unique<Thread>(process);
  Cpu& cpu = thread->cpu;
  cpu.stack.start(cpu, kStore + 24);
  struct Frame {
    std::vector<uint64_t> values;
    std::vector<bool> nats;
  };
  std::vector<Frame> model;
  std::mt19937_64 random(2);
  uint64_t registers = 0;
  const auto check_all = [&] {
    ASSERT_EQ(cpu.stack.bsp(cpu), skip_registers(kStore + 24, static_cast<int64_t>(registers)));
  };
  for (int step = 0; step < 60000; ++step) {
    // Calls and returns dominate in turns, to make the array overflow and run empty.
    const bool up = model.empty() || (step / 6000 % 2 == 0 ? random() % 10 < 7 : random() % 10 < 3);
    if (up) {
      cpu.stack.make_room(cpu);
      Frame frame;
      const unsigned size = static_cast<unsigned>(random() % 97);
      for (unsigned r = 0; r < size; ++r) {
        frame.values.push_back(random());
        frame.nats.push_back(random() % 50 == 0);
        general(cpu, 32 + r) = frame.values.back();
        set_nat(cpu, 32 + r, frame.nats.back());
      }
      cpu.frame += size;
      registers += size;
      model.push_back(std::move(frame));
    } else {
      const Frame frame = std::move(model.back());
      model.pop_back();
      const auto size = static_cast<unsigned>(frame.values.size());
      cpu.stack.fill(cpu, size);
      cpu.frame -= size;
      registers -= size;
      for (unsigned r = 0; r < size; ++r) {
        ASSERT_EQ(general(cpu, 32 + r), frame.values[r]) << "step " << step;
        ASSERT_EQ(nat_of(cpu, 32 + r), frame.nats[r]) << "step " << step;
      }
      cpu.stack.forget_nats_above(cpu, cpu.frame);
    }
    if (random() % 500 == 0) cpu.stack.flush(cpu);
    check_all();
  }
  cpu.stack.flush(cpu);
  EXPECT_EQ(cpu.nat_count, 0u);
  // Memory has all registers, in order, with their collections.
  uint64_t address = kStore + 24, collection = 0;
  for (const Frame& frame : model) {
    for (size_t r = 0; r < frame.values.size(); ++r) {
      ASSERT_EQ(load_guest<uint64_t>(cpu, address), frame.values[r]);
      collection |= uint64_t{frame.nats[r]} << backing_slot(address);
      address += 8;
      if (!is_collection(address)) continue;
      // The bits for words before the store's beginning are 0.
      ASSERT_EQ(load_guest<uint64_t>(cpu, address), collection) << std::hex << address;
      collection = 0;
      address += 8;
    }
  }
}

}  // namespace
}  // namespace respike::emulator::ia64

// Compares the guest's address space with a map of its pages.

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <random>

#include "emulators/ia64/guest_memory.h"

namespace respike::emulator::ia64 {
namespace {

constexpr int kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS;

TEST(GuestMemory, AddressesGoThereAndBack) {
  GuestMemory memory;
  for (unsigned region = 0; region < 8; ++region) {
    for (uint64_t offset : {uint64_t{0}, uint64_t{12345}, kWindow - 1}) {
      const uint64_t address = region_base(region) + offset;
      EXPECT_EQ(memory.guest(memory.host(address)), address);
    }
    EXPECT_EQ(memory.host(region_base(region) + kWindow), nullptr);
    EXPECT_EQ(memory.host(region_base(region) + kWindow - 8, 16), nullptr);
  }
  int local = 0;
  EXPECT_EQ(memory.guest(&local), std::nullopt);
}

TEST(GuestMemory, WhatCannotBeMapped) {
  GuestMemory memory;
  const int fixed = kAnonymous | MAP_FIXED;
  EXPECT_EQ(memory.map(0, 0, PROT_READ, kAnonymous, -1, 0), -EINVAL);
  EXPECT_EQ(memory.map(0, kPage, PROT_READ, fixed, -1, 0), -ENOMEM);
  EXPECT_EQ(memory.map(region_base(2) + 100, kPage, PROT_READ, fixed, -1, 0), -EINVAL);
  EXPECT_EQ(memory.map(region_base(2) + kWindow - kPage, kPage, PROT_READ, fixed, -1, 0), -ENOMEM);
  EXPECT_EQ(memory.map(region_base(2) + 4 * kWindow, kPage, PROT_READ, fixed, -1, 0), -ENOMEM);
  EXPECT_EQ(memory.map(0, ~uint64_t{0}, PROT_READ, kAnonymous, -1, 0), -ENOMEM);
  EXPECT_EQ(memory.unmap(region_base(2) + 1, kPage), -EINVAL);
  EXPECT_EQ(memory.protect(region_base(2), kPage, PROT_READ), -ENOMEM);
}

TEST(GuestMemory, RandomCallsAgainstPages) {
  GuestMemory memory;
  std::map<uint64_t, int> pages;  // page number -> protection
  std::mt19937_64 random(3);
  const uint64_t base = region_base(2);
  constexpr uint64_t kPages = 64;
  for (int step = 0; step < 20000; ++step) {
    const uint64_t first = random() % kPages, count = 1 + random() % 12;
    const int protection = static_cast<int>(random() % 8);
    const uint64_t address = base + first * kPage;
    switch (random() % 4) {
      case 0:
        ASSERT_EQ(memory.map(address, count * kPage, protection, kAnonymous | MAP_FIXED, -1, 0),
                  static_cast<int64_t>(address));
        for (uint64_t p = first; p < first + count; ++p) pages[p] = protection;
        break;
      case 1:
        ASSERT_EQ(memory.unmap(address, count * kPage), 0);
        for (uint64_t p = first; p < first + count; ++p) pages.erase(p);
        break;
      case 2: {
        bool whole = true;
        for (uint64_t p = first; p < first + count; ++p) whole &= pages.contains(p);
        ASSERT_EQ(memory.protect(address, count * kPage, protection), whole ? 0 : -ENOMEM);
        if (!whole) break;
        for (uint64_t p = first; p < first + count; ++p) pages[p] = protection;
        break;
      }
      default: {
        bool free = true;
        for (uint64_t p = first; p < first + count; ++p) free &= !pages.contains(p);
        const int64_t result =
            memory.map(address, count * kPage, protection, kAnonymous | MAP_FIXED_NOREPLACE, -1, 0);
        ASSERT_EQ(result, free ? static_cast<int64_t>(address) : -EEXIST);
        if (!free) break;
        for (uint64_t p = first; p < first + count; ++p) pages[p] = protection;
      }
    }
    const uint64_t asked = random() % (kPages + 16);
    const auto found = memory.find(base + asked * kPage + random() % kPage);
    ASSERT_EQ(found.has_value(), pages.contains(asked));
    if (!found) continue;
    ASSERT_EQ(found->second.protection, pages[asked]);
    ASSERT_EQ(memory.allows(base + asked * kPage, kPage, PROT_WRITE),
              (pages[asked] & PROT_WRITE) != 0);
  }
}

TEST(GuestMemory, RemappedPagesKeepTheirBytes) {
  GuestMemory memory;
  const int rights = PROT_READ | PROT_WRITE;
  const auto place = static_cast<uint64_t>(memory.map(0, 4 * kPage, rights, kAnonymous, -1, 0));
  const auto behind = static_cast<uint64_t>(
      memory.map(place + 4 * kPage, kPage, rights, kAnonymous | MAP_FIXED, -1, 0));
  memory.host(place)[5] = 'x';
  memory.host(place + 4 * kPage - 1)[0] = 'y';
  EXPECT_EQ(memory.remap(place, 4 * kPage, 8 * kPage, 0, 0), -ENOMEM);
  const auto moved =
      static_cast<uint64_t>(memory.remap(place, 4 * kPage, 8 * kPage, MREMAP_MAYMOVE, 0));
  EXPECT_NE(moved, place);
  EXPECT_EQ(memory.host(moved)[5], 'x');
  EXPECT_EQ(memory.host(moved + 4 * kPage - 1)[0], 'y');
  EXPECT_EQ(memory.host(moved + 8 * kPage - 1)[0], 0);
  EXPECT_FALSE(memory.find(place));
  EXPECT_TRUE(memory.find(behind));
  EXPECT_EQ(memory.remap(moved, 8 * kPage, 2 * kPage, 0, 0), static_cast<int64_t>(moved));
  EXPECT_FALSE(memory.find(moved + 2 * kPage));
  // Now there is room after the mapping.
  EXPECT_EQ(memory.remap(moved, 2 * kPage, 6 * kPage, 0, 0), static_cast<int64_t>(moved));
  EXPECT_EQ(memory.host(moved)[5], 'x');
  EXPECT_EQ(memory.host(moved + 6 * kPage - 1)[0], 0);
}

}  // namespace
}  // namespace respike::emulator::ia64

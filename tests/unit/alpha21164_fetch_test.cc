// The parts of the 21164's model against simple references on random traces: lists that are
// searched, time stamps instead of orders, no arrays of sets.

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <vector>

#include "models/alpha21164/fetch.h"
#include "models/alpha21164/prediction.h"

namespace respike::measure::alpha21164 {
namespace {

/// Addresses in the order of programs: mostly the next address, loops back, far jumps to few
/// places.
class Trace {
 public:
  Trace(unsigned seed, uint64_t step, uint64_t span) : random_(seed), step_(step), span_(span) {}

  uint64_t next() {
    const unsigned kind = random_() % 100;
    if (kind < 70)
      address_ += step_;
    else if (kind < 85)
      address_ -= std::min<uint64_t>(address_, random_() % 16 * step_);
    else
      address_ = 0x120000000 + random_() % 40 * (span_ / 40) / 4 * 4;
    return address_;
  }

 private:
  std::mt19937 random_;
  uint64_t step_, span_;
  uint64_t address_ = 0x120000000;
};

constexpr int kAccesses = 200'000;

/// A cache as in textbooks: all lines in one list; the least recently used line of a full set goes.
class ListCache {
 public:
  ListCache(unsigned sets, unsigned ways) : sets_(sets), ways_(ways) {}

  bool access(uint64_t number) {
    ++now_;
    for (Line& line : lines_)
      if (line.number == number) {
        line.used = now_;
        return true;
      }
    std::vector<Line*> rivals;
    for (Line& line : lines_)
      if (line.number % sets_ == number % sets_) rivals.push_back(&line);
    if (rivals.size() < ways_) {
      lines_.push_back({number, now_});
    } else {
      Line* oldest = rivals.front();
      for (Line* line : rivals)
        if (line->used < oldest->used) oldest = line;
      *oldest = {number, now_};
    }
    return false;
  }

 private:
  struct Line {
    uint64_t number, used;
  };
  unsigned sets_, ways_;
  uint64_t now_ = 0;
  std::vector<Line> lines_;
};

TEST(Fetch, InstructionCacheIsDirectMapped) {
  for (unsigned seed = 0; seed < 3; ++seed) {
    Trace trace(seed, 4, 40'000);
    InstructionCache cache;
    ListCache reference(8192 / 32, 1);
    for (int i = 0; i < kAccesses; ++i) {
      const uint64_t line = trace.next() / 32;
      const bool hit = cache.holds(line);
      cache.fill(line);
      ASSERT_EQ(hit, reference.access(line)) << "seed " << seed << ", access " << i;
    }
  }
}

TEST(Fetch, SecondLevelReplacesTheLeastRecentlyUsed) {
  for (unsigned seed = 0; seed < 3; ++seed) {
    Trace trace(seed, 64, 400'000);
    SecondLevelCache cache;
    ListCache reference(96 * 1024 / 64 / 3, 3);
    for (int i = 0; i < kAccesses / 4; ++i) {
      const uint64_t block = trace.next() / 64;
      ASSERT_EQ(cache.access(block), reference.access(block))
          << "seed " << seed << ", access " << i;
    }
  }
}

/// The reference: pages in slots, and a pointer that moves on whenever its slot is used.
TEST(Fetch, TranslationBufferSparesTheLastUsed) {
  for (unsigned seed = 0; seed < 3; ++seed) {
    Trace trace(seed, 1000, 8192 * 100);
    TranslationBuffer buffer;
    std::map<unsigned, uint64_t> slots;
    unsigned pointer = 0;
    for (int i = 0; i < kAccesses; ++i) {
      const uint64_t page = trace.next() / 8192;
      int used = -1;
      for (const auto& [slot, held] : slots)
        if (held == page) used = int(slot);
      const bool hit = used >= 0;
      if (!hit) slots[unsigned(used = int(pointer))] = page;
      if (unsigned(used) == pointer) pointer = pointer == 47 ? 0 : pointer + 1;
      ASSERT_EQ(buffer.access(page), hit) << "seed " << seed << ", access " << i;
    }
    EXPECT_EQ(slots.size(), 48u);
  }
}

/// The reference keeps prefetched lines in a map. The next line to prefetch follows from all lines
/// that were asked for since the last miss of the buffer.
TEST(Fetch, RefillBufferRunsFourLinesAhead) {
  for (unsigned seed = 0; seed < 3; ++seed) {
    Trace trace(seed, 32, 200'000);
    InstructionCache cache;
    SecondLevelCache second_level;
    RefillBuffer buffer;
    ListCache reference_second_level(512, 3);
    std::map<uint64_t, bool> held;  // line: whether the second level had it
    uint64_t prefetched_up_to = 0;
    uint64_t hits = 0;
    for (int i = 0; i < kAccesses / 8; ++i) {
      const uint64_t line = trace.next() / 32;
      if (cache.holds(line)) continue;
      cache.fill(line);
      auto expected = RefillBuffer::Answer::none;
      if (const auto found = held.find(line); found != held.end()) {
        expected = found->second ? RefillBuffer::Answer::from_second_level
                                 : RefillBuffer::Answer::from_behind;
        held.erase(found);
        ++prefetched_up_to;
        held[prefetched_up_to] = reference_second_level.access(prefetched_up_to / 2);
        ++hits;
      } else {
        held.clear();
        reference_second_level.access(line / 2);
        for (prefetched_up_to = line + 1;; ++prefetched_up_to) {
          held[prefetched_up_to] = reference_second_level.access(prefetched_up_to / 2);
          if (held.size() == 4) break;
        }
      }
      const RefillBuffer::Answer answer = buffer.find(line, second_level);
      ASSERT_EQ(answer, expected) << "seed " << seed << ", access " << i;
      if (answer == RefillBuffer::Answer::none) {
        second_level.access(line / 2);
        buffer.start_behind(line, second_level);
      }
    }
    EXPECT_GT(hits, 1000u);
  }
}

TEST(Prediction, TwoBitsForEachOf2048Places) {
  Trace trace(1, 4, 30'000);
  std::mt19937 random(2);
  BranchHistory history;
  std::map<uint64_t, int> counters;  // by place in 8 KB; -2 to 1: 0 and 1 predict taken
  for (int i = 0; i < kAccesses; ++i) {
    const uint64_t address = trace.next() & ~uint64_t{3};
    const bool taken = random() % 4 < (address / 4) % 4 + random() % 2;
    int& counter = counters.try_emplace(address % 8192, -1).first->second;
    ASSERT_EQ(history.predict(address, taken), (counter >= 0) == taken);
    counter = std::clamp(counter + (taken ? 1 : -1), -2, 1);
  }
}

TEST(Prediction, ReturnStackHoldsTheLastTwelve) {
  std::mt19937 random(3);
  ReturnStack stack;
  std::deque<uint64_t> reference;
  for (int i = 0; i < kAccesses; ++i) {
    // Many calls and many returns in turn, to make the stack overflow and run empty.
    if ((i / 20 + random() % 3) % 2 == 0) {
      const uint64_t address = random() % 8;
      stack.push(address);
      reference.push_back(address);
      if (reference.size() > 12) reference.pop_front();
    } else {
      const uint64_t target = random() % 8;
      const bool expected = !reference.empty() && reference.back() == target;
      if (!reference.empty()) reference.pop_back();
      ASSERT_EQ(stack.pop(target), expected) << "access " << i;
    }
  }
}

TEST(Prediction, HintsNameSixteenBits) {
  EXPECT_TRUE(hint_is_right(0x120001004, 3, 0x120001010));
  EXPECT_FALSE(hint_is_right(0x120001004, 3, 0x120001014));
  EXPECT_TRUE(hint_is_right(0x120001004, 0x3fff, 0x120001000));  // four bytes back
  EXPECT_TRUE(hint_is_right(0x12000fffc, 1, 0x120000000));       // wraps around
  EXPECT_TRUE(hint_is_right(0x120001004, 3, 0x130001010));       // other bits do not count
}

}  // namespace
}  // namespace respike::measure::alpha21164

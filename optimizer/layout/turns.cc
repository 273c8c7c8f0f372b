// A list of pieces by the time of their last run, the latest first, as long as the window. When a
// piece runs again, those in front of it have run in between.

#include "optimizer/layout/turns.h"

#include <limits>

#include "optimizer/layout/walk.h"

namespace respike {
namespace {

constexpr uint64_t kSteps = 1'000'000;  // blocks of the walk

class Recent {
 public:
  Recent(std::span<const uint64_t> sizes, uint64_t window)
      : sizes_(sizes),
        window_(window),
        links_(sizes.size() + 1),
        listed_(sizes.size()),
        turns_(sizes.size() * sizes.size()) {
    clear();
  }

  void clear() {
    for (uint32_t p = links_[end()].next; bytes_ != 0 && p != end(); p = links_[p].next)
      listed_[p] = false;
    links_[end()] = {end(), end()};
    bytes_ = 0;
  }

  void run(uint32_t piece) {
    if (links_[end()].next == piece) return;
    if (listed_[piece]) {
      Count* turns = &turns_[size_t{piece} * end()];
      for (uint32_t p = links_[end()].next; p != piece; p = links_[p].next)
        turns[p] += turns[p] != std::numeric_limits<Count>::max();
      remove(piece);
    }
    insert_first(piece);
    while (bytes_ > window_ && links_[end()].previous != piece) remove(links_[end()].previous);
  }

  std::vector<Affinity> turns() const {
    std::vector<Affinity> result;
    for (uint32_t p = 0; p < end(); ++p)
      for (uint32_t q = 0; q < end(); ++q)
        if (const Count count = turns_[size_t{p} * end() + q]; count != 0)
          result.push_back({p, q, static_cast<double>(count)});
    return result;
  }

 private:
  using Count = uint16_t;
  struct Link {
    uint32_t previous, next;
  };

  uint32_t end() const { return static_cast<uint32_t>(sizes_.size()); }

  void insert_first(uint32_t piece) {
    links_[piece] = {end(), links_[end()].next};
    links_[links_[end()].next].previous = piece;
    links_[end()].next = piece;
    listed_[piece] = true;
    bytes_ += sizes_[piece];
  }
  void remove(uint32_t piece) {
    const Link link = links_[piece];
    links_[link.previous].next = link.next;
    links_[link.next].previous = link.previous;
    listed_[piece] = false;
    bytes_ -= sizes_[piece];
  }

  std::span<const uint64_t> sizes_;
  const uint64_t window_;
  std::vector<Link> links_;  // a ring; the last is its end
  std::vector<bool> listed_;
  uint64_t bytes_ = 0;        // of the list
  std::vector<Count> turns_;  // by the piece that runs again, and the other
};

}  // namespace

std::vector<Affinity> find_turns(const Program& program, std::span<const CodeCall> calls,
                                 const PiecesOf& pieces_of, std::span<const uint64_t> sizes,
                                 uint64_t window) {
  Recent recent(sizes, window);
  walk(
      program, calls, kSteps,
      [&](ProcedureId procedure, BlockId block) {
        const auto [first, end] = pieces_of(procedure, block);
        for (uint32_t piece = first; piece < end; ++piece) recent.run(piece);
      },
      [&] { recent.clear(); });
  return recent.turns();
}

}  // namespace respike

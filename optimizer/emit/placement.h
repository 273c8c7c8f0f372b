#pragma once
// Addresses of all code in the output; private to this folder.

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "optimizer/analysis/packing.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/ir/program.h"
#include "optimizer/machine/machine.h"

namespace respike {

struct PlacedFragment {
  uint32_t fragment = 0;  // index of Layout::fragments
  uint64_t address = 0;
  uint64_t size = 0;
};

/// One half of the way to a far target, see Stubs.
struct FarStub {
  uint64_t address = 0;
  uint64_t leads_to = 0;  // a landing leads to the target, a departure to its landing
  CodeLocation target;    // to which both halves lead
  bool departure = false;
  bool live = true;  // false: its target moved away from the pool; nothing leads to it
};

class Placement {
 public:
  using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;  // of addresses, half-open

  /// Places everything; splits fragments of `layout` that are too large for far branches.
  Placement(const Program& program, Layout& layout, uint64_t added_code_address);

  const Packing& packing() const { return packing_; }
  uint64_t address(ProcedureId procedure, BlockId block) const {
    return addresses_[numbers_(procedure, block)];
  }
  /// The address after the block's last own instruction, to which a call returns.
  uint64_t return_point(ProcedureId procedure, BlockId block) const;
  uint64_t resolve(const CodeLocation& location) const;

  /// The address to which the direct branch `branch` at `place` to `location` has to go: the
  /// location's address, or a stub's.
  uint64_t branch_target(uint64_t place, const Instruction& branch,
                         const CodeLocation& location) const;

  const std::vector<PlacedFragment>& fragments() const { return placed_; }
  const std::vector<FarStub>& stubs() const { return stubs_; }
  /// The ranges that code may fill, in address order.
  const Ranges& free_ranges() const { return free_; }
  uint64_t added_start() const { return added_start_; }
  uint64_t added_end() const { return added_end_; }

 private:
  struct Pool {
    uint64_t address = 0;
    uint64_t size = 0;
    size_t before_fragment = 0;  // the fragment of the layout after the pool
  };
  using StubKey = std::pair<uint32_t, uint64_t>;  // pool, target
  struct StubKeyHash {
    size_t operator()(const StubKey& key) const {
      return (key.second * 0x9e3779b97f4a7c15u) ^ (key.first * 0x85ebca6bu);
    }
  };

  void start_fragments_at_entries(Layout& layout) const;
  Ranges taken_ranges() const;
  void take_prolog_copies(Ranges& taken) const;
  void take_what_control_runs_through(Ranges& taken) const;
  void take_what_code_refers_to(Ranges& taken) const;
  void find_free_ranges();
  void part_free_ranges();
  void pack(const Layout& layout);
  class Room;
  void place(const Layout& layout);
  void place_fragment(const Layout& layout, uint32_t index, Room& room);
  std::vector<std::pair<ProcedureId, BlockId>> short_branches(const Layout& layout) const;
  bool lengthen_branches(std::vector<std::pair<ProcedureId, BlockId>>& blocks);
  void split_large(Layout& layout);
  void place_with_stubs(Layout& layout);
  uint32_t pool_near(uint64_t address) const;
  std::pair<uint32_t, uint32_t> pools_around(uint64_t address) const;
  static uint64_t key_of(const CodeLocation& location);
  template <typename F>
  void for_each_branch(const Layout& layout, F f) const;
  bool all_reach(const Layout& layout) const;
  bool collect_stubs(const Layout& layout);

  Enclosure enclosure_;  // in the output
  bool encloses_moving_;
  const Program& program_;
  const Machine& machine_;
  Packing packing_;
  BlockNumbers numbers_;  // of addresses_
  std::vector<uint64_t> addresses_;
  Ranges free_;
  Ranges enclosed_free_;              // the part of free_ that enclosed code may fill
  std::optional<Ranges> other_free_;  // the rest; nullopt: there is no such part
  std::vector<PlacedFragment> placed_;
  std::vector<Pool> pools_;
  std::vector<FarStub> stubs_;
  std::unordered_map<StubKey, uint32_t, StubKeyHash> departures_;
  std::unordered_map<StubKey, uint32_t, StubKeyHash> landings_;
  uint64_t added_start_ = 0;
  uint64_t added_end_ = 0;
  bool far_ = false;
};

}  // namespace respike

#pragma once
// Range lists and location lists; private to this folder.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "optimizer/debug/address_map.h"
#include "optimizer/debug/address_pool.h"
#include "optimizer/debug/budget.h"
#include "optimizer/debug/sections.h"
#include "optimizer/debug/unit.h"

namespace respike::debug {

/// The lists of one kind, range lists or location lists, in both forms: the form of DWARF 5, and
/// the form of DWARF 2 to 4, which has sections of its own.
class Lists {
 public:
  enum class Kind : uint8_t { ranges, locations };
  Lists(Kind kind, const Sections& sections, const AddressMap& map, const AddressPool& pool,
        Budget& budget);

  /// Starts the moves of a unit's lists.
  void start_unit(const Unit& unit);

  /// Moves the list at an offset of the input's section; returns its offset in the output.
  uint64_t move(const Unit& unit, uint64_t old_offset) {
    return move_list(unit, old_offset, {}).list;
  }
  /// The same for a list to which entries refer by its number in the unit's table.
  void move_numbered(const Unit& unit, uint64_t number, uint64_t old_offset);
  struct Moved {
    uint64_t list = 0;
    uint64_t views = 0;
  };
  /// The same for a location list with the views of its entries, which are at `old_views`; also
  /// returns the offset of the views.
  Moved move_with_views(const Unit& unit, uint64_t old_offset, uint64_t old_views) {
    return move_list(unit, old_offset, old_views);
  }
  /// The addresses in a range list at an offset of the input's section.
  std::vector<AddressMap::Range> old_ranges(const Unit& unit, uint64_t old_offset);
  /// The addresses that the same list will have.
  std::vector<AddressMap::Range> new_ranges(const Unit& unit, uint64_t old_offset);
  /// Adds a range list.
  uint64_t add_ranges(const Unit& unit, std::span<const AddressMap::Range> ranges);

  /// The place of the offset table in the unit's part of the section, as rnglists_base gives it.
  uint64_t new_base() const { return base_; }

  /// The new contents of the section, of DWARF 5 or of the older form.
  std::vector<uint8_t> take_contents(bool dwarf5) {
    end_part();
    return std::move((dwarf5 ? new5_ : new4_).bytes());
  }

 private:
  struct Entry {
    uint64_t start = 0;
    uint64_t end = 0;
    bool is_default = false;  // applies where no other entry does
    std::span<const uint8_t> expression;
    std::pair<uint64_t, uint64_t> views;
  };

  Moved move_list(const Unit& unit, uint64_t old_offset, std::optional<uint64_t> old_views);
  std::vector<Entry> read(const Unit& unit, uint64_t offset);
  std::vector<Entry> read5(const Unit& unit, uint64_t offset);
  std::vector<Entry> read4(const Unit& unit, uint64_t offset);
  void read_views(std::vector<Entry>& entries, uint64_t offset, bool dwarf5);
  /// Entries that are close together, [begin, end), and the form of their addresses.
  struct Cluster {
    enum class Base : uint8_t { unit, own, none };
    size_t begin = 0, end = 0;
    Base base = Base::none;
  };
  std::vector<Cluster> clusters_of(std::span<const Entry> entries,
                                   std::optional<uint64_t> unit_base) const;
  void write_clusters(std::span<const Entry> entries, std::span<const Cluster> clusters,
                      const Unit& unit);
  void put_unit_first(std::vector<Entry>& entries, const Unit& unit) const;
  std::vector<Entry> moved(const Unit& unit, const std::vector<Entry>& entries);
  static void join_neighbours(std::vector<Entry>& entries);
  uint64_t write(const Unit& unit, const std::vector<Entry>& entries);
  void write5(const std::vector<Entry>& entries, const Unit& unit);
  void write4(const std::vector<Entry>& entries, const Unit& unit);
  void write_expression(const Unit& unit, const Entry& entry, bool dwarf5, ByteWriter& out);
  void start_part(const Unit& unit, uint64_t offsets);
  void end_part();

  Kind kind_;
  std::span<const uint8_t> old5_, old4_;
  const AddressMap& map_;
  const AddressPool& pool_;
  Budget& budget_;
  ByteWriter new5_, new4_;
  std::map<std::pair<uint64_t, uint64_t>, Moved> done_;  // of a unit, by the list and its views
  uint64_t part_ = 0;                                    // of the unit, in new5_: the header
  bool in_part_ = false;
  bool part_is64_ = false;
  std::optional<uint64_t> part_old_base_;
  std::vector<uint64_t> numbers_;  // the part's table; 0: no list was moved so far
  uint64_t base_ = 0;
  std::vector<AddressMap::Range> ranges_;
};

}  // namespace respike::debug

#pragma once
// Reads language-specific data areas: call sites, actions and types of C++'s exception handling.

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "optimizer/ir/unwind.h"
#include "optimizer/unwind/lsda/pointers.h"

namespace respike {

class LsdaReader {
 public:
  LsdaReader(const Image& image, PointerReader& pointers, std::vector<Lsda>& lsdas);

  /// Sets the starts of the image's areas: no area reaches over the start of another.
  void set_starts(std::vector<uint64_t> starts);
  /// Sets `lsda` and `call_sites` of `fde` from the area at `address`. Throws Error when the area
  /// is damaged.
  void read(uint64_t address, Fde& fde);

 private:
  struct Record {  // offsets from the start of the procedure; never empty
    uint64_t start = 0;
    uint64_t end = 0;
    uint64_t landing_pad = 0;  // offset from LPStart
    uint64_t action = 0;
  };
  struct Area {
    uint64_t code_size = 0;  // of the FDE for which it was read
    uint32_t lsda = 0;
    std::optional<uint64_t> landing_pad_start;  // absent: the start of the procedure
    size_t first_record = 0, end_record = 0;    // in records_
  };
  struct Needs {  // the tables that the action chains refer to
    size_t action_bytes = 0;
    uint64_t type_count = 0;
    std::vector<uint64_t> lists;  // offsets into the specifications
  };

  Area read_area(uint64_t address, const Fde& fde);
  void read_call_sites(ByteReader& reader, uint8_t encoding, const Fde& fde, uint64_t most_actions,
                       uint64_t most_bytes, Area& area);
  Needs walk_actions(std::span<const uint8_t> actions, const Area& area);
  std::vector<uint8_t> read_specifications(std::span<const uint8_t> bytes, Needs& needs);
  std::vector<uint64_t> read_types(std::span<const uint8_t> bytes, uint64_t address, size_t base,
                                   uint8_t encoding, uint64_t count);
  bool first_visit(size_t position);
  void forget_visits() { ++visit_; }
  void spend(uint64_t bytes);

  const Image& image_;
  PointerReader& pointers_;
  std::vector<Lsda>& lsdas_;
  std::unordered_map<uint64_t, Area> areas_;  // by address: procedures may share one
  std::vector<Record> records_;
  std::vector<uint64_t> starts_;  // of all areas, ascending
  std::vector<uint32_t> visits_;  // position -> the last walk that visited it
  uint32_t visit_ = 0;
  uint64_t budget_ = 0;
};

}  // namespace respike

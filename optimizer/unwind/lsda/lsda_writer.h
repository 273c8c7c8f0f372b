#pragma once
// Writes language-specific data areas for code in its new places.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "optimizer/base/bytes.h"
#include "optimizer/unwind/unwind.h"

namespace respike {

class LsdaWriter {
 public:
  /// Areas are written for a section at `address`, which is 4-aligned, or 8-aligned where types
  /// have 8 bytes. `data_base`: the base of data-relative types.
  explicit LsdaWriter(uint64_t address, std::optional<uint64_t> data_base = std::nullopt)
      : address_(address), data_base_(data_base) {}

  /// Appends the area of an FDE that consists of `ranges` and returns its address. Throws Error
  /// when an offset does not fit.
  uint64_t write(const Lsda& lsda, std::span<const UnwindRange> ranges);

  std::vector<uint8_t> take_bytes() { return std::move(out_.bytes()); }
  std::vector<UnwindFixup> take_fixups() { return std::move(fixups_); }

 private:
  uint64_t place() const { return address_ + out_.size(); }
  uint64_t write_landing_pad_start(std::span<const UnwindRange> ranges);
  void collect_call_sites(std::span<const UnwindRange> ranges, uint64_t landing_pad_start);
  void write_type_base(const Lsda& lsda);
  void write_types(const Lsda& lsda);

  uint64_t address_;
  std::optional<uint64_t> data_base_;
  ByteWriter out_;
  ByteWriter sites_;           // call-site table of the area being written
  bool uses_actions_ = false;  // a record of the area has an action
  std::vector<UnwindFixup> fixups_;
};

}  // namespace respike

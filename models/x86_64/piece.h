#pragma once
// Straight x86-64 code in the form of the model.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/machine_model.h"
#include "models/x86_64/fetch.h"

namespace respike::measure::x86 {

enum class Transfer : uint8_t {
  none,
  conditional,
  direct,
  direct_call,
  indirect,
  indirect_call,
  returns,
  repeats,  // a string instruction that repeats itself until it is done
};

/// Compact, since a run uses tens of thousands of pieces, which share the host's caches with the
/// emulator's code.
struct alignas(64) X86Piece : Piece {
  /// As in Fetch, except the start, which is relative to the piece.
  struct Part {
    uint16_t start;
    uint8_t end, micro_ops;
  };
  static constexpr unsigned kNear = 5;

  uint64_t target = 0;     // target of a direct branch
  uint32_t length = 0;     // bytes
  uint16_t last_at = 0;    // the last instruction, from the start
  uint16_t micro_ops = 0;  // micro-ops of all instructions
  Transfer transfer = Transfer::none;
  uint8_t near_parts = 0;  // number of the piece's consecutive parts that are in `near`
  std::array<Part, kNear> near{};
  std::vector<Part> far;  // the other parts

  uint64_t behind() const { return address + length; }  // the address after the piece
  uint64_t last() const { return address + last_at; }
  uint64_t first_line() const { return address >> kLineShift; }
  uint64_t last_line() const { return (behind() - 1) >> kLineShift; }
  size_t number_of_parts() const { return near_parts + far.size(); }
  Fetch fetch(const Part& part) const { return {address + part.start, part.end, part.micro_ops}; }
  std::vector<Fetch> fetches() const;
};

/// How a processor counts micro-ops and cuts code into entries of its micro-op cache.
struct Fetching {
  unsigned read_write_ops;  // micro-ops of an instruction that reads and writes memory
  unsigned entry_ops;       // micro-ops that an entry holds
};

/// Reads the code of a piece (MachineModel::read), up to the first instruction that does not
/// decode. If that is the first instruction, all code is one instruction.
std::unique_ptr<X86Piece> read_piece(uint64_t address, std::span<const uint8_t> code,
                                     const Fetching& fetching);

}  // namespace respike::measure::x86

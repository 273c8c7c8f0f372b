#pragma once
// Straight x86-64 code as the model keeps it.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "simulator/machine_model.h"
#include "simulator/x86_64/fetch.h"

namespace respike::simulator::x86 {

enum class Transfer : uint8_t {
  none,
  conditional,
  direct,
  direct_call,
  indirect,
  indirect_call,
  returns,
  repeats,  // a string instruction that leads to itself until it is done
};

struct X86Piece : Piece {
  uint64_t behind = 0;  // the address behind the piece
  uint64_t last = 0;    // the address of the last instruction
  uint64_t target = 0;  // of a direct branch
  uint64_t first_line = 0, last_line = 0;
  uint32_t micro_ops = 0;
  Transfer transfer = Transfer::none;
  std::vector<Fetch> fetches;  // one behind the other
};

/// How a processor counts micro-ops and cuts code into entries of its micro-op cache.
struct Fetching {
  unsigned read_write_ops;  // micro-ops of an instruction that reads and writes memory
  unsigned entry_ops;       // micro-ops that an entry holds
};

/// Reads the code of a piece (MachineModel::read). Code that does not decode is one instruction.
std::unique_ptr<X86Piece> read_piece(uint64_t address, std::span<const uint8_t> code,
                                     const Fetching& fetching);

}  // namespace respike::simulator::x86

#pragma once
// Padding in front of pieces of code that issue faster at other addresses.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/analysis/packing.h"

namespace respike {

/// The cycles that blocks, packed one behind the other, take to issue by their counts: element i is
/// for code that starts i groups behind a multiple of IssueModel::period. The machine must have an
/// issue model.
std::vector<double> cycles_by_phase(const Program& program, ProcedureId procedure,
                                    std::span<const BlockId> blocks, const Packing& packing);

/// A piece of code in front of which there may be padding.
struct PieceToPad {
  std::vector<double> cycles;  // see cycles_by_phase()
  uint64_t size = 0;           // bytes
  Start start = {};            // without padding; the phase is 0
  bool bound = false;          // control may fall into the piece: no padding
};

struct PaddedPieces {
  std::vector<Start> starts;  // of each piece
  double cycles = 0;          // that all pieces take to issue
};

/// Places pieces one behind the other. In front of each piece that is not bound is the padding,
/// shorter than `period` bytes, with which the piece's cycles and `price` for each byte of padding
/// are fewest together; of paddings that cost the same, the shortest. The first piece starts at a
/// multiple of `period` or behind padding. Linear in the number of pieces.
PaddedPieces pad_pieces(std::span<const PieceToPad> pieces, uint32_t period, double price);

}  // namespace respike

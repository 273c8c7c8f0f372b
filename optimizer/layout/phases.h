#pragma once
// Padding before pieces of code that issue faster at other addresses.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/analysis/packing.h"

namespace respike {

/// The issue cycles, by their counts, of blocks packed one after the other: element i is for code
/// that starts i groups after a multiple of IssueModel::period. The machine must have an issue
/// model.
std::vector<double> cycles_by_phase(const Program& program, ProcedureId procedure,
                                    std::span<const BlockId> blocks, const Packing& packing);

/// A piece of code that may have padding before it.
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

/// Places pieces one after the other. Before each piece that is not bound there is padding, shorter
/// than `period` bytes. It is the padding for which the sum of the piece's cycles and `price` for
/// each byte of padding is least; of paddings that cost the same, the shortest. The first piece
/// starts at a multiple of `period` or after padding. Linear in the number of pieces.
PaddedPieces pad_pieces(std::span<const PieceToPad> pieces, uint32_t period, double price);

}  // namespace respike

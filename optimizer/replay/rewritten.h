#pragma once
// An output beside its input: which block of the input each piece of the output's code runs.

#include <cstdint>
#include <optional>
#include <vector>

#include "optimizer/base/diagnostics.h"
#include "optimizer/base/steps.h"
#include "optimizer/check/same_program.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/program.h"
#include "optimizer/profile/profile.h"
#include "optimizer/transform/hotcold/hot_cold.h"

namespace respike {

/// Code of an output that runs one block of the input.
struct CodePiece {
  uint64_t address = 0, size = 0;  // in the output
  uint64_t count = 0;              // times that it runs, by the counts of the input's profile
  ProcedureId procedure = kNone;   // of the input; kNone: nothing leads to the piece
  BlockId block = kNone;           // of that procedure; kNone: code that the input does not have
  std::optional<SplitProcedure::Part> part;  // of a procedure that hot-cold optimization changed
  ProcedureId after_procedure = kNone;       // of the output
};

/// Both refer to the images that they were lifted from.
struct RewrittenProgram {
  Program before;  // the input with counts, changed as hot-cold optimization changed it
  Program after;   // the output; its blocks and edges count how often they run
  std::vector<CodePiece> pieces;       // by address; they do not overlap
  std::vector<SplitProcedure> splits;  // by procedure
};

/// Lifts both images, proves that they run the same code, and finds out what became of each block.
/// Counts are those of `profile`, if there is one. Throws Error with the first difference.
RewrittenProgram follow_rewriting(const Image& before, const Image& after, const Profile* profile,
                                  Diagnostics& diagnostics);

/// Lifts both and compares; the first difference in one sentence, or nullopt. Where hot-cold
/// optimization changed procedures of `after`, its note says so, and the change is proven anew. A
/// rule of loaders and unwinders that only `after` breaks (check/broken_rules.h) is a difference as
/// well.
std::optional<std::string> verify_images(const Image& before, const Image& after,
                                         Diagnostics& diagnostics, CompareCounts* counts = nullptr,
                                         const Progress& progress = {});

}  // namespace respike

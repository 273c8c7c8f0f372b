#pragma once
// What kind of program a profile shows: how often its loops turn, how large its procedures are,
// what its calls cost. These are figures 2 to 6 of the Spike paper (Cohn, Goodwin, Lowney:
// Optimizing Alpha Executables on Windows NT with Spike, "Characteristics"), for any program.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

/// A procedure that ran.
struct ProcedureCharacter {
  std::string name;
  uint64_t executed = 0;       // instructions
  uint64_t instructions = 0;   // in the image
  uint64_t blocks = 0;         // blocks that an entry reaches
  uint64_t hot_blocks = 0;     // blocks without those that together are 1% of the execution
  double trip_count = 0;       // of the most frequent loop; 0: no loop ran
  bool entry_hottest = false;  // an entry block runs as often as any block
  bool leaf = false;           // calls nothing
  // Executed instructions of prologs and epilogs.
  uint64_t adjustments = 0;  // of the stack pointer and the frame pointer
  uint64_t saves = 0, restores = 0;
};

struct Characteristics {
  uint64_t executed = 0;      // instructions
  uint64_t instructions = 0;  // in the image
  std::vector<ProcedureCharacter> procedures;
  bool knows_frames = true;  // whether prologs and epilogs are recognized in this machine's code

  /// Adds another image of the same program.
  void add(const Characteristics& image);
};

/// `program` has counts.
Characteristics characterize(const Program& program);

/// The bounds of the distributions below.
inline constexpr std::array<uint32_t, 11> kBounds = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
/// Per bound, a share of executed instructions, 0 to 1.
using Distribution = std::array<double, kBounds.size()>;

/// Figures 2 and 3: the share in procedures whose trip count is less than the bound.
Distribution by_trip_count(const Characteristics& program);
/// Figures 4 and 5. Of the instructions executed in procedures with a trip count less than
/// kNonlooping: the share in procedures with at most so many blocks. `hot`: only hot blocks
/// ("FILTERED").
Distribution by_blocks(const Characteristics& program, bool hot);
inline constexpr double kNonlooping = 4;
/// The share of nonlooping procedures.
double nonlooping_share(const Characteristics& program);
/// The share in procedures whose entry block runs as often as any block.
double entry_hottest_share(const Characteristics& program);

/// Figure 6: shares of executed instructions.
struct CallOverhead {
  double adjustments = 0, saves = 0, restores = 0;
  double sum() const { return adjustments + saves + restores; }
};
CallOverhead call_overhead(const Characteristics& program);

/// The meaning of the figures for this program, in sentences.
std::string trip_count_text(const Characteristics& program);
std::string blocks_text(const Characteristics& program);
std::string overhead_text(const Characteristics& program);

}  // namespace respike

#pragma once
// The interface of a processor model, for any feeder: an emulator's plugin, a trace, a test.
//
// The feeder cuts the run into pieces. A piece is straight code that begins at its first
// instruction and, unless something interrupts it, ends after its last instruction. Only the last
// instruction of a piece may change the flow of control. A model reads each piece once. Then the
// feeder notifies the model each time a piece begins; the address of the next piece shows where the
// last instruction of a piece led. Example: a loop of one piece A that runs twice is read(A),
// begin(A), begin(A), begin(the piece after A). The branch at the end of A belongs to A, wherever
// it leads: its mispredictions are added to the events of A.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace respike::measure {

/// Counts of events. Plain data, so that it can be in memory that processes share. A transfer of
/// control is taken when the next executed instruction is not the next one in memory.
struct Events {
  uint64_t instructions;          // counted exactly by the feeder; the processor counts the rest
  uint64_t issue_cycles;          // cycles in which an instruction issued or had to wait
  uint64_t conditional_branches;  // executed branches, taken or not
  uint64_t taken_branches;        // all taken transfers: branches, jumps, calls and returns
  uint64_t taken_jumps;           // taken transfers that are neither calls nor returns
  uint64_t predicted_taken;       // correctly predicted taken transfers
  uint64_t mispredicts;
  uint64_t icache_misses;     // misses of the first level, refill hits included
  uint64_t refill_hits;       // icache misses that the refill buffer answers
  uint64_t l2_icache_misses;  // icache misses whose line comes from beyond the second level
  uint64_t itb_misses;

  // Only for the Itanium 2.
  uint64_t nops;
  uint64_t groups;        // instruction groups that began
  uint64_t split_cycles;  // further cycles of groups that did not issue at once
  uint64_t target_bubbles;
  uint64_t general_bubbles;  // these five are waits for results
  uint64_t floating_bubbles;
  uint64_t predicate_bubbles;
  uint64_t application_bubbles;
  uint64_t stack_bubbles;
  uint64_t flush_bubbles;
  uint64_t predicted_returns;   // taken and correctly predicted
  uint64_t predicted_indirect;  // taken and correctly predicted
  uint64_t l2_itb_misses;       // also of x86-64

  // Only for x86-64.
  uint64_t repetitions;  // of string instructions: further times that one instruction began
  uint64_t micro_ops;
  uint64_t execution_cycles;       // assumed cost of data and dependencies
  uint64_t micro_op_fetches;       // entries of the micro-op cache that were needed
  uint64_t micro_op_misses;        // needed entries that were missing
  uint64_t second_branches;        // correctly predicted by the second level of branch targets
  uint64_t third_branches;         // correctly predicted by the third level
  uint64_t unknown_branches;       // correctly predicted, but no level knew that there is a branch
  uint64_t direction_mispredicts;  // these three add up to the mispredicts
  uint64_t target_mispredicts;
  uint64_t return_mispredicts;
  uint64_t prefetch_hits;        // prefetched lines that were needed later
  uint64_t plain_icache_misses;  // of a first level of the same form without a prefetcher

  Events& operator+=(const Events& other);
};

/// Cycles caused by one part of the machine.
struct Component {
  std::string_view name;
  uint64_t cycles;
};

/// A number that a report shows. `key`: its name in JSON.
struct Figure {
  std::string_view label;
  std::string_view key;
  uint64_t number;
};

/// A piece in a model. Models derive their own pieces.
struct Piece {
  virtual ~Piece() = default;

  uint64_t address = 0;       // run-time address of its first instruction
  uint32_t instructions = 0;  // number of instructions

  /// By instruction: how many instructions, from this one on, a feeder may count when this one
  /// begins, since all of them will begin; 0 where an earlier instruction has already counted this
  /// one. Empty: each instruction counts when it begins.
  std::vector<uint8_t> counted_at;
};

/// One processor: the state of caches and predictors. Used by one thread at a time.
class Processor {
 public:
  virtual ~Processor() = default;

  /// Notes that a piece begins; the whole piece counts as executed. `completed`: the previous piece
  /// ended after its last instruction; if not, a fault left the previous piece, and the processor
  /// does not learn from this transfer of control. The events of the piece are added to `events`,
  /// some of them later, when the target of the branch at its end is known. So a feeder may have
  /// one sum for all pieces, or a sum for each procedure, and the parts add up to the whole.
  virtual void begin(Piece& piece, Events& events, bool completed) = 0;
};

class MachineModel {
 public:
  virtual ~MachineModel() = default;

  virtual std::string_view name() const = 0;

  /// Reads a piece of one or more whole instructions, from `address` up to `end`. If instructions
  /// come in bundles, `address` and `end` have the number of the slot in their low bits, and `code`
  /// holds all bundles with a slot of the piece. Processors of the model may share the piece.
  virtual std::unique_ptr<Piece> read(uint64_t address, uint64_t end,
                                      std::span<const uint8_t> code) const = 0;

  /// A processor with empty caches.
  virtual std::unique_ptr<Processor> make_processor() const = 0;

  /// Cycles by cause; their sum is the model's result.
  virtual std::vector<Component> components(const Events& events) const = 0;

  /// The numbers that a report shows, in this order, with the model's result under the key
  /// "cycles".
  virtual std::vector<Figure> figures(const Events& events) const = 0;
};

/// The published formula with which layouts were designed, rounded: 1.1 cycles an instruction, 1 a
/// taken transfer, 8 an icache miss (2 when the refill buffer has the line), 25 a miss of the
/// second level, 30 a miss of the instruction translation buffer.
uint64_t published_cycles(const Events& events);

uint64_t sum_of(const std::vector<Component>& components);

}  // namespace respike::measure

#pragma once
// What a model of a processor is, whoever feeds it: an emulator's plugin, a trace, a test.
//
// Whoever feeds it cuts the run into pieces: straight code that is begun at its first instruction
// and, unless something interrupts it, ends behind its last. Only the last instruction of a piece
// may change the flow of control. A model reads each piece once and then sees one begin after the
// other; where a piece went shows in where the next one begins.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace respike::simulator {

/// What happened, as numbers; plain data, so that it can lie in memory that processes share. A
/// transfer of control is taken when the next instruction is not the one behind it in memory.
struct Events {
  uint64_t instructions;          // counted by the feeder, exactly; all others by the processor
  uint64_t issue_cycles;          // in which an instruction issued or waited for another one
  uint64_t conditional_branches;  // executed, taken or not
  uint64_t taken_branches;        // all taken transfers: branches, jumps, calls and returns
  uint64_t taken_jumps;           // those that are neither calls nor returns
  uint64_t predicted_taken;       // taken transfers that were predicted right
  uint64_t mispredicts;
  uint64_t icache_misses;     // of the first level, refill hits among them
  uint64_t refill_hits;       // icache misses that the refill buffer answers
  uint64_t l2_icache_misses;  // icache misses whose line comes from behind the second level
  uint64_t itb_misses;

  // Of the Itanium 2 only.
  uint64_t nops;
  uint64_t groups;        // instruction groups that began
  uint64_t split_cycles;  // further cycles of groups that did not issue at once
  uint64_t target_bubbles;
  uint64_t general_bubbles;  // waits for results
  uint64_t floating_bubbles;
  uint64_t predicate_bubbles;
  uint64_t application_bubbles;
  uint64_t stack_bubbles;
  uint64_t flush_bubbles;
  uint64_t predicted_returns;   // taken and predicted right
  uint64_t predicted_indirect;  // the same
  uint64_t l2_itb_misses;

  Events& operator+=(const Events& other);
};

/// Cycles that one part of the machine accounts for.
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

/// A piece as a model keeps it. Models derive from it.
struct Piece {
  virtual ~Piece() = default;

  uint64_t address = 0;       // of its first instruction, where the program runs it
  uint32_t instructions = 0;  // number of them
};

/// One processor: the state of caches and predictors. Used by one thread at a time.
class Processor {
 public:
  virtual ~Processor() = default;

  /// A piece begins; all of it counts as executed. `completed`: the one before it ended behind its
  /// last instruction; otherwise a fault left it somewhere, and nothing is learnt from where
  /// control went.
  virtual void begin(Piece& piece, bool completed) = 0;
};

class MachineModel {
 public:
  virtual ~MachineModel() = default;

  virtual std::string_view name() const = 0;

  /// Reads a piece of one or more whole instructions, from `address` to before `end`. Where
  /// instructions come in bundles both have the number of the slot in their low bits, and `code` is
  /// all bundles that have a part in it. Processors of the model may share it.
  virtual std::unique_ptr<Piece> read(uint64_t address, uint64_t end,
                                      std::span<const uint8_t> code) const = 0;

  /// A processor with empty caches that adds to `events`, which must outlive it.
  virtual std::unique_ptr<Processor> make_processor(Events& events) const = 0;

  /// Where the cycles went; their sum is the model's result.
  virtual std::vector<Component> components(const Events& events) const = 0;

  /// What a report shows of a run, in this order, with the model's result under the key "cycles".
  virtual std::vector<Figure> figures(const Events& events) const = 0;
};

/// The published formula that layouts were designed with, rounded: 1.1 cycles an instruction, 1 a
/// taken transfer, 8 an icache miss (2 when the refill buffer has the line), 25 a miss of the
/// second level, 30 a miss of the instruction translation buffer.
uint64_t published_cycles(const Events& events);

uint64_t sum_of(const std::vector<Component>& components);

}  // namespace respike::simulator

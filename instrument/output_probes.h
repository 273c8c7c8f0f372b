#pragma once
// The probes of an instrumented image: found in its code, and judged at their places.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "instrument/code_facts.h"
#include "instrument/counter_map.h"
#include "optimizer/check/added_code.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/ir/program.h"
#include "optimizer/machine/probes.h"

namespace respike {

/// What an instrumented image says about itself: its counter map and its start code's parameters.
struct CountingParts {
  CounterMap map;
  bool copied = false;                         // threads have copies of the counters
  uint64_t find_copy = 0;                      // address of the routine that finds them; 0: none
  std::optional<uint64_t> entry, initializer;  // where the start code continues, in place of
  std::optional<CounterBases> bases;
  uint64_t base_count = 0, base_distance = 0;
};

/// See AddedCode. Code is a probe if it reads as a probe and counts at a counter of the image. Each
/// counter of the map has one probe, which control passes once on every path through the block or
/// edge that it counts.
class OutputProbes final : public AddedCode {
 public:
  /// All must outlive this object. `facts` belong to `before`.
  OutputProbes(const Program& before, const CodeFacts& facts, const Program& after,
               const CountingParts& parts);

  std::unique_ptr<AddedCode> for_another_walk() const override;
  std::optional<CodeCursor> pass(const CodeCursor& at) override;
  bool expects(const InputEdge& edge) const override;
  bool expects(ProcedureId procedure) const override { return shared_->counted[procedure]; }
  std::optional<std::string> judge(const InputWay& way, uint8_t& done) override;
  std::optional<std::string> find_missing(
      const std::function<bool(ProcedureId, BlockId)>& reached) const override;
  bool has_word(uint64_t address) const override {
    return parts_.bases &&
           address - parts_.bases->words < parts_.base_count * parts_.bases->word_size;
  }
  std::optional<uint64_t> entry() const override { return parts_.entry; }
  std::optional<uint64_t> initializer() const override { return parts_.initializer; }

 private:
  /// The block or edge that a word of the counters counts.
  struct Word {
    enum class Counts : uint8_t { nothing, block, edge, target, changes };
    Counts counts = Counts::nothing;
    ProcedureId procedure = kNone;
    BlockId from = kNone;   // edge: where it starts
    BlockId block = kNone;  // the block, or where the edge ends
  };
  /// The words of a block of the input; kNone: there is none.
  struct BlockWords {
    uint32_t block = kNone;
    uint32_t fall_through = kNone, taken = kNone;  // of the edges that start at the block
    uint32_t target = kNone;
  };
  /// What control may pass, or has to pass, on a way.
  struct Expected {
    uint32_t word = kNone;
    uint8_t done = 0;  // its bit while control is in the way's last block
    bool required = false;
    bool passed = false;
  };
  /// Shared by all walks.
  struct Shared {
    std::vector<Word> words;
    BlockNumbers input;                         // numbers of the input's blocks
    std::vector<BlockWords> of_blocks;          // by these numbers
    std::vector<bool> counted;                  // by procedure of the input: it has counters
    std::vector<std::atomic<uint64_t>> places;  // by word: of its probe, plus 1; 0: not found
    BlockNumbers numbers;                       // of the output
    explicit Shared(size_t count) : words(count), places(count) {}
  };
  struct Passed {
    FoundProbe probe;
    CodeCursor start;
    RegisterSet changed;
    bool unwinds = true;  // the unwind tables know what the probe does to the stack pointer
  };
  OutputProbes(const OutputProbes& other) = default;

  std::optional<FoundRoutine> routine_at(const CodeLocation& place, std::optional<uint64_t> gp);
  bool add_routine(FoundProbe& probe, RegisterSet& changed, std::optional<uint64_t> gp);
  RegisterSet changed_by(ProbeText& text, size_t size) const;
  bool describes_stack(const FoundProbe& probe, const ProbeText& text) const;
  using Places = std::span<const InputPlace>;
  uint32_t word_of(const InputEdge& edge) const;
  void expect(const InputWay& way, uint8_t& done);
  void expect(uint32_t word, bool required, uint8_t done = 0);
  std::optional<std::string> judge(const Passed& passed, const InputWay& way);
  std::optional<std::string> judge_counter(const Passed& passed, const InputWay& way);
  std::optional<std::string> judge_registers(const Passed& passed, Places way);
  std::optional<std::string> judge_place(const Passed& passed, Places way) const;
  std::string no_probe(uint32_t word, std::string_view where) const;
  const PointFacts& facts_at(const CodeCursor& at);
  const Instruction* instruction_at(const CodeCursor& at) const;

  const Program& before_;
  const CodeFacts& facts_;
  const Program& after_;
  const CountingParts& parts_;
  const Probes& reader_;
  std::shared_ptr<Shared> shared_;
  std::vector<Passed> passed_;      // since the last judge()
  std::vector<Expected> expected_;  // of judge()
  struct Routine {
    std::optional<FoundRoutine> found;
    RegisterSet changed;
  };
  std::map<std::pair<ProcedureId, std::optional<uint64_t>>, Routine> routines_;
  std::vector<PointFacts> points_;  // of the block that facts_at() was asked for last
  std::pair<ProcedureId, BlockId> points_of_{kNone, kNone};
  PointFacts at_end_;  // after all code: everything may still be read
};

}  // namespace respike

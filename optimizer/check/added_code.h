#pragma once
// What a comparison asks about code that the output has and the input has not: the probes of an
// instrumented image.
//
// The walk over both programs passes over such code in the output, as it passes over no-ops.
// Whether a piece of code is such code, harmless where it stands, and all that should be there, the
// AddedCode decides.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "optimizer/ir/code_cursor.h"

namespace respike {

/// An edge of the input, by which control leaves a block for another block of its procedure.
struct InputEdge {
  ProcedureId procedure = kNone;
  BlockId from = kNone;  // kNone: control comes from anywhere else, as by a call
  Edge::Kind kind = Edge::Kind::fall_through;
};

/// A place to which a walk over the input comes.
struct InputPlace {
  CodeCursor at;
  bool enters = false;  // control comes into the block here, by `edge`
  InputEdge edge;
};

/// The way of a walk over the input from its last instruction that did something to its next.
struct InputWay {
  std::span<const InputPlace>
      places;            // the last is where the input goes on; empty: it goes outside
  bool leaves = false;   // control leaves the block of the last place there
  bool circles = false;  // the way ends in a cycle of which it has all blocks
};

class AddedCode {
 public:
  virtual ~AddedCode() = default;

  /// One for another walk, perhaps at the same time in another thread. What one of the two finds,
  /// both have found.
  virtual std::unique_ptr<AddedCode> for_another_walk() const = 0;

  /// The place behind the added code that starts at a place of the output; nullopt when none starts
  /// there. The code is remembered until judge().
  virtual std::optional<CodeCursor> pass(const CodeCursor& at) = 0;
  /// Whether anything is expected where control comes over the edge; in the procedure.
  virtual bool expects(const InputEdge& edge) const = 0;
  virtual bool expects(ProcedureId procedure) const = 0;
  /// What is wrong with the code passed since the last call, or was not passed although the way
  /// wants it, a clause; nullopt when nothing is. `done`: what control has passed already of what
  /// the input's block should pass, 0 where control enters a block, below 4; updated.
  virtual std::optional<std::string> judge(const InputWay& way, uint8_t& done) = 0;
  /// What is missing, once the walk is complete, a sentence; nullopt when nothing is. `reached`:
  /// whether the walk came to a block of the input.
  virtual std::optional<std::string> find_missing(
      const std::function<bool(ProcedureId, BlockId)>& reached) const = 0;

  /// Whether an address of the output is that of a word of data that the input has not.
  virtual bool has_word(uint64_t address) const = 0;

  /// Where the code that the loader enters first goes on to, in the output, if the input's is
  /// entered there: the entry of the image, and its initializer. nullopt: the image's own.
  virtual std::optional<uint64_t> entry() const = 0;
  virtual std::optional<uint64_t> initializer() const = 0;
};

}  // namespace respike

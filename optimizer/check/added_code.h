#pragma once
// What a comparison asks about code that only the output has: the probes of an instrumented image.
//
// The walk over both programs passes over such code in the output, as it passes over no-ops. The
// AddedCode decides whether a piece of code is such code, whether it is harmless where it stands,
// and whether it is complete.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "optimizer/ir/code_cursor.h"

namespace respike {

/// An edge of the input by which control leaves a block for another block of its procedure.
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

/// The way of a walk over the input from the last instruction that did something to the next.
struct InputWay {
  std::span<const InputPlace> places;  // the input goes on at the last; empty: it goes outside
  bool leaves = false;                 // control leaves the block of the last place there
  bool circles = false;                // the way ends in a cycle and has all blocks of the cycle
};

class AddedCode {
 public:
  virtual ~AddedCode() = default;

  /// A second object for another walk, perhaps at the same time in another thread. The two share
  /// what they find.
  virtual std::unique_ptr<AddedCode> for_another_walk() const = 0;

  /// The place after the added code that starts at a place of the output; nullopt when no added
  /// code starts there. The code is remembered until judge().
  virtual std::optional<CodeCursor> pass(const CodeCursor& at) = 0;
  /// Whether added code is expected where control comes over the edge, or anywhere in the
  /// procedure.
  virtual bool expects(const InputEdge& edge) const = 0;
  virtual bool expects(ProcedureId procedure) const = 0;
  /// What is wrong with the code passed since the last call, or which code the way wants but was
  /// not passed; a clause, or nullopt. `done`: how much of the code that belongs to the input's
  /// block control has passed already; 0 where control enters a block, below 4; updated.
  virtual std::optional<std::string> judge(const InputWay& way, uint8_t& done) = 0;
  /// What is missing once the walk is complete; a sentence, or nullopt. `reached`: whether the walk
  /// came to a block of the input.
  virtual std::optional<std::string> find_missing(
      const std::function<bool(ProcedureId, BlockId)>& reached) const = 0;

  /// Whether an address of the output is the address of a word of data that the input does not
  /// have.
  virtual bool has_word(uint64_t address) const = 0;

  /// The place in the output to which the first code that the loader enters goes on; the input's
  /// first code is entered there. One place for the entry of the image, one for its initializer.
  /// nullopt: the image's own.
  virtual std::optional<uint64_t> entry() const = 0;
  virtual std::optional<uint64_t> initializer() const = 0;
};

}  // namespace respike

#pragma once
// What a comparison asks about code that the output has and the input has not: the probes of an
// instrumented image.
//
// The walk over both programs passes over such code in the output, as it passes over no-ops.
// Whether a piece of code is such code, and harmless where it stands, the AddedCode decides.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "optimizer/ir/code_cursor.h"

namespace respike {

class AddedCode {
 public:
  virtual ~AddedCode() = default;

  /// One for another walk, perhaps at the same time in another thread. What one of the two finds,
  /// both have found.
  virtual std::unique_ptr<AddedCode> for_another_walk() const = 0;

  /// The place behind the added code that starts at a place of the output; nullopt when none starts
  /// there. The code is remembered until judge().
  virtual std::optional<CodeCursor> pass(const CodeCursor& at) = 0;
  /// What is wrong with the code passed since the last call, a clause; nullopt when nothing is.
  /// `way`: the places of the input between its last instruction that did something and its next,
  /// at least one; the last of them is where the input goes on.
  virtual std::optional<std::string> judge(std::span<const CodeCursor> way) = 0;
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

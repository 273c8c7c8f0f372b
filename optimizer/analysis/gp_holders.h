#pragma once
// The registers that hold a procedure's global pointer, and the effects of instructions on them:
// the lattice and the transfer function of gp_validity.cc. Private to this folder.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/ir/program.h"
#include "optimizer/machine/machine.h"

namespace respike {

/// The registers that certainly hold the procedure's gp. Sets have a bit for each register's number
/// in its procedure: 0 is the global pointer register itself, the others are registers to which gp
/// is copied.
struct GpState {
  static constexpr uint32_t kRegister = 1;  // the set of the global pointer register
  static constexpr int32_t kNoHalf = -1, kUnreached = -2;

  uint32_t holders = 0;
  uint32_t kept = 0;  // registers of the procedure's own frame that no call changes
  /// Between the two halves of a gp load: the load (an index of Procedure::references) whose upper
  /// half is in the global pointer register.
  int32_t half = kNoHalf;

  bool reached() const { return half != kUnreached; }
  bool valid() const { return (holders & kRegister) != 0; }
  void lose_register() { holders &= ~kRegister, half = kNoHalf; }
  bool operator==(const GpState&) const = default;
};

/// The effect of an instruction on a GpState.
struct GpEvent {
  enum class Kind : uint8_t {
    copy,        // `to` holds gp if `from` does; under a predicate, if both do
    upper_half,  // of the gp load `operand`
    lower_half,  // of the gp load `operand`
    lose,        // the registers of the set `operand` hold anything
    frame,       // from here on the frame keeps the registers of the set `operand`
    misuse,      // no effect, but a use of `from` for which code never uses gp
  };
  uint32_t index = 0;  // of the instruction in its block
  Kind kind = Kind::lose;
  uint8_t to = 0, from = 0;
  bool predicated = false;
  bool framed = false;  // `to` holds gp only if the frame keeps `to`
  uint32_t operand = 0;

  bool changes_register() const {
    if (kind == Kind::lose) return (operand & GpState::kRegister) != 0;
    return kind != Kind::misuse && kind != Kind::frame && to == 0;
  }
};

void apply(const GpEvent& event, GpState& state);

/// Finds the events of procedures, one procedure at a time.
class GpEventFinder {
 public:
  explicit GpEventFinder(const Machine& machine);

  /// Begins a procedure: numbers the registers to which it copies gp. Copies are followed only
  /// where callers set gp (GlobalPointer::callers_set).
  void enter(const Procedure& procedure);
  /// Appends the events of a block of that procedure, in the order of its instructions.
  void find(const BasicBlock& block, std::vector<GpEvent>& events) const;

 private:
  struct Copy {
    Register to, from;
  };
  static constexpr uint8_t kNoNumber = 0xff;
  static constexpr unsigned kMostNumbers = 32;  // bits of a set

  void find_copies(const Procedure& procedure);
  void number(Register r);
  bool is_windowed(Register r) const {
    return machine_.window != nullptr && machine_.window->registers.contains(r);
  }
  /// For an instruction that gives the procedure a new frame: the registers that the frame keeps.
  std::optional<RegisterRange> kept(const Instruction& instruction) const {
    return machine_.window != nullptr ? machine_.window->kept(instruction) : std::nullopt;
  }
  uint32_t numbers_in(RegisterRange range) const;
  void find(const Instruction& instruction, uint32_t index, std::vector<GpEvent>& events) const;
  bool add_half(const Instruction& instruction, uint32_t index, std::vector<GpEvent>& events) const;
  uint8_t number_of(Register r) const { return number_[r]; }

  const Machine& machine_;
  const Procedure* procedure_ = nullptr;
  std::vector<uint8_t> number_;                // per register
  std::vector<Register> registers_;            // per number
  std::vector<Copy> copies_;                   // of the procedure
  std::vector<RegisterRange> frames_;          // registers kept by frames of the procedure
  uint32_t windowed_ = 0, lost_by_calls_ = 0;  // sets of numbers
};

}  // namespace respike

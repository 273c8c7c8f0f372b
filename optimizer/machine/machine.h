#pragma once
// What the optimizer asks of a machine. One implementation per folder of machine/, made by the
// factories of machine/machines.h.
//
// It must serve fixed-size instructions (Alpha), bundles with stops and predicates (IA-64: a
// procedure is a list of slots, encode() packs them) and variable length (x86-64), so sizes are
// asked for and code is decoded and encoded in runs, never word by word outside machine/.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/base/machine_id.h"
#include "optimizer/image/relocation_role.h"
#include "optimizer/ir/program.h"
#include "optimizer/machine/probes.h"
#include "optimizer/machine/rewrite_facts.h"

namespace respike {

/// The registers an instruction reads and writes. Reads come first: [0, uses) then [uses, size).
/// Under a predicate that is the first register read, and what is written is read, too.
struct Operands {
  Register registers[16];
  uint8_t uses = 0;
  uint8_t size = 0;
};

/// What an instruction does to the flow of control.
enum class ControlFlow : uint8_t {
  none,
  conditional_branch,  // direct
  branch,              // direct, unconditional, no return address kept
  call,                // direct; the return address goes to a register
  indirect_call,
  indirect_jump,
  return_jump,  // a jump marked as a return
  stop,         // control never goes on: halt, a trap that does not return
};

inline bool is_call(ControlFlow flow) {
  return flow == ControlFlow::call || flow == ControlFlow::indirect_call;
}
/// Whether the instruction itself says where control goes.
inline bool is_direct(ControlFlow flow) {
  return flow == ControlFlow::branch || flow == ControlFlow::conditional_branch ||
         flow == ControlFlow::call;
}

/// Instructions that take part in sequences which must stay contiguous (architecture: untouchable).
enum class SequenceRole : uint8_t {
  none,
  reservation_begin,  // load locked
  reservation_end,    // store conditional
  shadow_begin,       // may raise a trap that software completes by looking at the code after it
  shadow_end,         // trap barrier
};

/// Where the value that an instruction gives its destination comes from: enough to tell an address
/// that is only passed on from one that is computed.
enum class ValueSource : uint8_t {
  computed,
  copied,    // from the last register it uses
  selected,  // from one of the registers it uses
  loaded,    // a whole address, from memory
  equality,  // whether two are the same: 0 or 1
};

/// Calls of a compiler's run-time library that do not follow the standard.
struct SupportCall {
  Register link;                        // gets the return address
  std::vector<std::string_view> names;  // of the callees, without a symbol version
  std::vector<Register> changed;        // all others are kept
};

/// Registers [first, end).
struct RegisterRange {
  Register first = 0, end = 0;

  constexpr bool contains(Register r) const { return r >= first && r < end; }
  bool operator==(const RegisterRange&) const = default;
};

/// The calling standard's registers, as data.
struct Abi {
  Register stack_pointer;
  Register return_address;
  std::optional<Register> global_pointer;
  bool callers_set_gp = false;  // to the callee's; code behind calls puts its own back by a copy
  RegisterRange windowed;       // named by way of a frame that moves along at calls
  std::optional<Register> procedure_value;  // holds the entry's address at a call
  std::vector<Register> arguments;
  std::vector<Register> results;
  std::vector<Register> preserved;
  std::vector<Register> scratch;
  std::vector<SupportCall> support_calls;
};

/// Of the instruction cache that layouts avoid conflicts in.
struct CacheShape {
  uint32_t line = 0;  // bytes
  uint32_t sets = 0;
  uint32_t ways = 1;           // the least recently used one is replaced
  uint32_t prefetched = 0;     // lines behind one that misses
  double miss = 8;             // cycles of a line from the second level
  double prefetched_miss = 2;  // cycles of a line that was prefetched
};

/// What the execution of code costs, for choosing between layouts; cycles.
struct ExecutionCosts {
  double instruction = 1;
  double taken = 1;  // of a branch that is taken and predicted
  /// Of a branch instruction that is added to a block, in taken branches: it issues beside others.
  double added_branch = 0;
};

/// How instructions are numbered in memory. They stand in groups of `bytes` bytes, at multiples of
/// that; each holds `slots` of them, whose addresses are that of the group plus their number.
struct CodeGrid {
  unsigned bytes = 4;
  unsigned slots = 1;

  bool operator==(const CodeGrid&) const = default;
  /// Whether an instruction can stand there, or a group.
  constexpr bool holds(uint64_t address) const { return address % bytes < slots; }
  constexpr bool starts_group(uint64_t address) const { return address % bytes == 0; }
  constexpr uint64_t group(uint64_t address) const { return address - address % bytes; }
  /// Instructions below `address`, counted from 0, and back. Rounds down to one.
  constexpr uint64_t index(uint64_t address) const {
    const uint64_t slot = address % bytes;
    return address / bytes * slots + (slot < slots ? slot : slots - 1);
  }
  constexpr uint64_t address(uint64_t index) const { return index / slots * bytes + index % slots; }
  constexpr uint64_t next(uint64_t at) const { return address(index(at) + 1); }
  constexpr uint64_t previous(uint64_t at) const { return address(index(at) - 1); }
};

/// Procedures that are called through descriptors, which hold their entry and gp, 64 bits each.
struct DescriptorTable {
  std::string_view section;  // of those that the linker made; empty: there are none
  unsigned size = 16;        // bytes of one
};

class Machine {
 public:
  virtual ~Machine() = default;

  virtual std::string_view name() const = 0;
  virtual MachineId machine() const = 0;
  virtual CodeGrid grid() const = 0;
  unsigned code_alignment() const { return grid().bytes; }

  // Code. `code` is a whole number of groups for decode; what does not decode becomes kInvalid with
  // its bits in `immediate`. origin of the first instruction is `origin`, later ones follow in the
  // grid. decode never sets kHasReference: direct branches have their displacement in bytes,
  // relative to the branch's own group, in `immediate`.
  virtual void decode(std::span<const uint8_t> code, uint32_t origin, Instruction* out) const = 0;
  virtual size_t decoded_count(std::span<const uint8_t> code) const = 0;
  /// How a run of instructions stands in memory, from the start of a group on, padded to a whole
  /// one: its size in bytes. places, if not null: for each the distance of its address from the
  /// start of the run; for one that takes no room that of the next one. Depends neither on
  /// references nor on immediates. Behind a call comes the start of a group.
  virtual uint64_t arrange(std::span<const Instruction> run, uint32_t* places) const = 0;
  uint64_t size(std::span<const Instruction> run) const { return arrange(run, nullptr); }
  /// Appends the bytes of a run (no pseudo-instructions, no references left). `following`: what
  /// comes behind it in memory, if that is what came there in the input; otherwise nothing, and
  /// then the run may not depend on what comes.
  virtual void encode_before(std::span<const Instruction> run,
                             std::span<const Instruction> following,
                             std::vector<uint8_t>& out) const = 0;
  void encode(std::span<const Instruction> run, std::vector<uint8_t>& out) const {
    encode_before(run, {}, out);
  }
  /// Replaces the instruction in slot `slot` of a group; the others stay.
  virtual void replace(std::span<uint8_t> group, unsigned slot,
                       const Instruction& instruction) const = 0;
  /// Overwrites whole groups with no-ops.
  virtual void fill(std::span<uint8_t> groups) const = 0;
  /// Whether arrange() leaves out no-ops, so that nobody else has to.
  virtual bool drops_nops() const = 0;
  /// Whether zero bytes between procedures are padding; elsewhere they may be data.
  virtual bool zeros_pad() const = 0;
  /// Only a part of an instruction, whose rest is the next one: the two are never parted.
  virtual bool is_prefix(const Instruction&) const = 0;
  /// Bits of Instruction::flags that say how the instruction stands in memory, not what it does.
  virtual uint8_t standing_flags() const = 0;

  // Text. print writes GNU assembler syntax as objdump does, without the symbol part after an
  // address. parse accepts what print writes; throws Error.
  virtual std::string print(const Instruction&, uint64_t address) const = 0;
  virtual Instruction parse(std::string_view text, uint64_t address) const = 0;
  virtual std::string register_name(Register) const = 0;
  virtual unsigned register_count() const = 0;

  // Meaning.
  virtual ControlFlow control_flow(const Instruction&) const = 0;
  /// Whether control can reach what comes next, be it by a return; predicates may skip a jump.
  virtual bool may_fall_through(const Instruction&) const = 0;
  virtual Operands operands(const Instruction&) const = 0;
  virtual bool is_nop(const Instruction&) const = 0;
  virtual SequenceRole sequence_role(const Instruction&) const = 0;
  /// Leaves a mark instead of a fault (a speculative load). Conditions computed from what is marked
  /// have no opposite.
  virtual bool defers_faults(const Instruction&) const = 0;
  /// Enters the operating system, which may go on in another process or thread, too, or never.
  virtual bool is_system_call(const Instruction&) const = 0;
  /// Leaves the address of the next unit in a register and goes on there: no change of control.
  virtual bool is_get_pc(const Instruction&) const = 0;
  virtual ValueSource value_source(const Instruction&) const = 0;
  /// Takes what the register holds for the address of something small: reads or writes memory
  /// there, or adds a number to it that no linker filled in. For machines with callers_set_gp.
  virtual bool uses_as_pointer(const Instruction&, Register) const = 0;
  /// Of an instruction that gives the procedure a new frame of registers: those of Abi::windowed
  /// that keep name and contents over calls and loops. nullopt: it does no such thing.
  virtual std::optional<RegisterRange> kept_registers(const Instruction&) const = 0;
  virtual const Abi& abi() const = 0;
  virtual CacheShape instruction_cache() const = 0;
  virtual ExecutionCosts execution_costs() const = 0;
  /// Code that kernels' signal delivery relies on and unwinders match by bytes.
  virtual bool is_signal_return(std::span<const Instruction> instructions) const = 0;

  // Branches.
  virtual Instruction branch() const = 0;  // unconditional, direct
  virtual Instruction stop() const = 0;    // control never goes on
  virtual Instruction nop() const = 0;
  /// Makes it the branch with the opposite condition; false when there is none. `before`: what
  /// comes right before it, as far as is known; the condition may be computed there.
  virtual bool invert(Instruction& conditional_branch,
                      std::span<const Instruction> before) const = 0;
  /// Tells the processor where the branch mostly went, `taken` of `executed` times, if its code has
  /// a place for that.
  virtual void predict(Instruction& conditional_branch, uint64_t taken, uint64_t executed) const {
    static_cast<void>(conditional_branch), static_cast<void>(taken), static_cast<void>(executed);
  }
  virtual uint64_t branch_reach() const = 0;  // bytes, either way, of the weakest branch

  // References. `field` is what an instruction's field of this kind holds: the half of a gp offset
  // (already shifted: high and low add up), the displacement, ... apply() writes a field; false
  // when the value does not fit. place: the instruction's own address; target: the address referred
  // to (gp_load_*: the anchor).
  virtual bool is_upper_half(const Instruction&) const = 0;  // of a pair that forms an address
  virtual bool is_lower_half(const Instruction&) const = 0;
  virtual int64_t field(const Instruction&, ReferenceKind) const = 0;
  /// What the instruction that `code` starts with adds to gp; nullopt when it does nothing like it.
  virtual std::optional<int64_t> gp_offset(std::span<const Instruction> code) const = 0;
  /// What entries of jump tables are.
  virtual RelocationRole jump_table_entry() const = 0;
  virtual DescriptorTable descriptors() const = 0;
  virtual bool apply(Instruction&, ReferenceKind, uint64_t place, uint64_t target,
                     uint64_t gp) const = 0;

  // Far branches. A direct branch or call whose target is out of reach goes to a departure stub in
  // its reach, which jumps to a landing stub within reach of the target, which branches to it. Both
  // change no register and no flag. Between the two the stack is far_stub_frame() bytes deeper:
  // from behind the first unit of the departure to before the last unit of the landing. Size:
  // fixed, in bytes; a landing of size 0 means that a departure reaches every target by itself.
  virtual unsigned far_departure_size() const = 0;
  virtual unsigned far_landing_size() const = 0;
  virtual unsigned far_stub_frame() const = 0;
  virtual std::vector<uint8_t> far_departure(uint64_t place, uint64_t landing) const = 0;
  virtual std::vector<uint8_t> far_landing(uint64_t place, uint64_t target) const = 0;
  /// Where the departure or landing stub that starts `code` leads to; nullopt when it is neither.
  virtual std::optional<uint64_t> far_stub_target(std::span<const Instruction> code,
                                                  uint64_t place) const = 0;

  /// Code for instrumentation; nullptr when this machine cannot be instrumented yet.
  virtual const Probes* probes() const = 0;

  /// For hot-cold optimization; nullptr when this machine's code cannot be optimized so yet.
  virtual const RewriteFacts* rewrite_facts() const = 0;
};

}  // namespace respike

#pragma once
// What the optimizer asks of a machine: a struct of facets, of which each folder of machine/ has
// one constant (machines.h). A facet is data where the answer is data, functions where the answer
// is code. Facets behind a pointer may be absent: the machine has no such thing, or nobody has
// written it yet, and what needs the facet says so in one sentence.
//
// Code may stand in memory as words (Alpha), as bundles with stops (IA-64: a procedure is a list of
// slots, the codec packs them) or with variable length (x86-64). So code is decoded and encoded in
// runs, sizes are asked for, and instructions are found through a CodeMap (ir/code_map.h).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/image/relocation_role.h"
#include "optimizer/ir/code_map.h"
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

constexpr bool is_call(ControlFlow flow) {
  return flow == ControlFlow::call || flow == ControlFlow::indirect_call;
}
/// Whether the instruction itself says where control goes.
constexpr bool is_direct(ControlFlow flow) {
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

/// Procedures that are called through descriptors, which hold their entry and gp, 64 bits each.
struct DescriptorTable {
  std::string_view section;  // of those that the linker made; empty: there are none
  unsigned size = 16;        // bytes of one
};

/// The calling standard's registers, as data.
struct Abi {
  Register stack_pointer = 0;
  Register return_address = 0;
  std::optional<Register> procedure_value = {};  // holds the entry's address at a call
  std::vector<Register> arguments = {};
  std::vector<Register> results = {};
  std::vector<Register> preserved = {};
  std::vector<Register> scratch = {};
  std::vector<SupportCall> support_calls = {};
  RelocationRole jump_table_entry = RelocationRole::address64;  // what entries of jump tables are
  DescriptorTable descriptors = {};
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

/// What an instruction does, but for registers: those are operands(), which take longer to find and
/// which half of the questions never need.
struct InstructionFacts {
  ControlFlow flow = ControlFlow::none;
  SequenceRole role = SequenceRole::none;
  ValueSource source = ValueSource::computed;
  /// Control can reach what comes next, be it by a return; predicates may skip a jump.
  bool falls_through : 1 = true;
  bool nop : 1 = false;
  /// Only a part of an instruction, whose rest is the next one: the two are never parted.
  bool prefix : 1 = false;
  /// Enters the operating system, which may go on in another process or thread, too, or never.
  bool system_call : 1 = false;
  /// Leaves the address of the next group in a register and goes on there: no change of control.
  bool get_pc : 1 = false;
  /// Leaves a mark instead of a fault (a speculative load). Conditions computed from what is marked
  /// have no opposite.
  bool defers_faults : 1 = false;
};
static_assert(sizeof(InstructionFacts) == 4);

/// Bytes to instructions and back. Functions take whole groups.
struct Codec {
  CodeGroups groups;
  Instruction nop;
  bool drops_nops = false;     // arrange() leaves out no-ops, so that nobody else has to
  bool zeros_pad = false;      // zero bytes between procedures are padding; elsewhere perhaps data
  uint8_t standing_flags = 0;  // bits of Instruction::flags that say how an instruction stands in
                               // memory, not what it does

  /// Bytes of the instruction that starts `code`: at least 1, at most all; 1 when it does not
  /// decode. nullptr when groups have a fixed size.
  unsigned (*length)(std::span<const uint8_t> code) = nullptr;
  /// What does not decode becomes kInvalid with its bits in `immediate`. The first instruction has
  /// the origin `origin`, later ones follow as CodeMap numbers them. kHasReference is never set:
  /// direct branches have their displacement in bytes, relative to the branch's own group, in
  /// `immediate`.
  void (*decode)(std::span<const uint8_t> code, uint32_t origin, Instruction* out);
  /// How a run of instructions stands in memory, from the start of a group on, padded to a whole
  /// one: its size in bytes. places, if not null: for each the distance of its address from the
  /// start of the run; for one that takes no room that of the next one. Depends neither on
  /// references nor on immediates. Behind a call comes the start of a group.
  uint64_t (*arrange)(std::span<const Instruction> run, uint32_t* places);
  /// Appends the bytes of a run (no pseudo-instructions, no references left). `following`: what
  /// comes behind it in memory, if that is what came there in the input; otherwise nothing, and
  /// then the run may not depend on what comes.
  void (*encode_before)(std::span<const Instruction> run, std::span<const Instruction> following,
                        std::vector<uint8_t>& out);
  /// Replaces the instruction in slot `slot` of a group; the others stay.
  void (*replace)(std::span<uint8_t> group, unsigned slot, const Instruction& instruction);
  /// Overwrites whole groups with no-ops.
  void (*fill)(std::span<uint8_t> groups);

  uint64_t size(std::span<const Instruction> run) const { return arrange(run, nullptr); }
  /// Where the group of the last instruction of code that ends at `end` starts.
  uint64_t group_of_last(uint64_t end, const Instruction& last) const {
    return end - (groups.fixed() ? groups.bytes : size({&last, 1}));
  }
  void encode(std::span<const Instruction> run, std::vector<uint8_t>& out) const {
    encode_before(run, {}, out);
  }
};

/// Instructions as text. print writes GNU assembler syntax as objdump does, without the symbol part
/// after an address; parse accepts what print writes, and throws Error.
struct InstructionText {
  std::string (*print)(const Instruction& instruction, uint64_t address);
  Instruction (*parse)(std::string_view text, uint64_t address);
  std::string (*register_name)(Register r);
};

/// Direct branches, each form of which may have a reach of its own.
struct BranchForms {
  Instruction branch;  // unconditional
  Instruction stop;    // control never goes on
  uint64_t reach = 0;  // bytes, either way, of the weakest form: stubs stand that close
  /// Bytes, either way, that this direct branch or call reaches.
  uint64_t (*reach_of)(const Instruction& branch);
  /// Makes it the branch with the opposite condition; false when there is none. `before`: what
  /// comes right before it, as far as is known; the condition may be computed there.
  bool (*invert)(Instruction& conditional_branch, std::span<const Instruction> before);
  /// Tells the processor where the branch mostly went, `taken` of `executed` times. nullptr: no
  /// branch has a place for that.
  void (*predict)(Instruction& conditional_branch, uint64_t taken, uint64_t executed) = nullptr;
};

/// Fields of instructions that depend on addresses.
struct Fixups {
  /// What the field of this kind holds: the half of an offset (already shifted: high and low add
  /// up), the displacement, ...
  int64_t (*field)(const Instruction& instruction, ReferenceKind kind);
  /// Writes a field; false when the value does not fit, or the machine has no field of this kind.
  /// place: the instruction's own address; target: the address referred to (gp_load_*: the anchor).
  bool (*apply)(Instruction& instruction, ReferenceKind kind, uint64_t place, uint64_t target,
                uint64_t gp);
  /// The halves of a pair that forms an address.
  bool (*is_upper_half)(const Instruction& instruction);
  bool (*is_lower_half)(const Instruction& instruction);
};

/// A register that all code of an image finds data and code by.
struct GlobalPointer {
  Register base;
  bool callers_set = false;  // to the callee's; code behind calls puts its own back by a copy
  /// What the instruction that `code` starts with adds to gp; nullopt when it does nothing like it.
  std::optional<int64_t> (*offset)(std::span<const Instruction> code);
  /// Takes what the register holds for the address of something small: reads or writes memory
  /// there, or adds a number to it that no linker filled in. nullptr unless callers_set.
  bool (*uses_as_pointer)(const Instruction& instruction, Register r) = nullptr;
};

/// Registers that are named by way of a frame, which moves along at calls.
struct RegisterWindow {
  RegisterRange registers;
  /// Of an instruction that gives the procedure a new frame: the registers of the window that keep
  /// name and contents over calls and loops. nullopt: it does no such thing.
  std::optional<RegisterRange> (*kept)(const Instruction& instruction);
};

/// Code by which branches reach further than their form does. A direct branch or call whose target
/// is out of reach goes to a departure stub in its reach, which jumps to a landing stub within
/// reach of the target, which branches to it. Both change no register and no flag. Between the two
/// the stack is `frame` bytes deeper: from behind the first group of the departure to before the
/// last group of the landing. Sizes in bytes; a landing of size 0 means that a departure reaches
/// every target by itself.
struct Stubs {
  unsigned departure_size = 0;
  unsigned landing_size = 0;
  unsigned frame = 0;
  std::vector<uint8_t> (*departure)(uint64_t place, uint64_t landing);
  std::vector<uint8_t> (*landing)(uint64_t place, uint64_t target);
  /// Where the departure or landing stub that starts `code` leads to; nullopt when it is neither.
  std::optional<uint64_t> (*target)(std::span<const Instruction> code, uint64_t place);
};

struct Machine {
  std::string_view name;
  unsigned register_count = 0;
  Codec codec;
  InstructionText text;

  InstructionFacts (*facts)(const Instruction& instruction);
  Operands (*operands)(const Instruction& instruction);
  /// Code that kernels' signal delivery relies on and unwinders match by bytes.
  bool (*is_signal_return)(std::span<const Instruction> instructions);

  Abi abi;
  CacheShape icache;
  ExecutionCosts costs;
  BranchForms branches;
  Fixups fixups;

  const GlobalPointer* gp = nullptr;       // absent: addresses are formed in other ways
  const RegisterWindow* window = nullptr;  // absent: registers are always the same
  const Stubs* stubs = nullptr;            // absent: code that is further apart cannot be placed
  const Probes* probes = nullptr;          // absent: images cannot be instrumented yet
  const RewriteFacts* rewrite = nullptr;   // absent: hot-cold optimization leaves images alone

  std::optional<Register> global_pointer() const {
    return gp != nullptr ? std::optional(gp->base) : std::nullopt;
  }
};

}  // namespace respike

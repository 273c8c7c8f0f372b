#pragma once
// The optimizer's view of a machine: the struct Machine, whose members are facets. Each folder of
// machine/ fills one constant Machine (machines.h). A facet is data where the answer is data,
// functions where the answer is code. A facet that is a pointer may be absent: the machine has no
// such feature, or the facet is not written yet. Code that needs an absent facet says so in one
// sentence.
//
// Code may be stored as words (Alpha), as bundles with stops (IA-64: a procedure is a list of
// slots, the codec packs the slots) or with variable length (x86-64). So code is decoded and
// encoded in runs, the codec is asked for sizes, and instructions are found through a CodeMap
// (ir/code_map.h).
//
// Example: `machine.branches.reach`, 4 MB on Alpha, tells placement whether code needs stubs.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/image/relocation_role.h"
#include "optimizer/ir/code_map.h"
#include "optimizer/ir/program.h"
#include "optimizer/machine/imports.h"
#include "optimizer/machine/probes.h"
#include "optimizer/machine/register.h"
#include "optimizer/machine/rewrite_facts.h"

namespace respike {

/// The registers that an instruction reads, [0, uses), and writes, [uses, size). An instruction
/// under a predicate reads the predicate first, and also reads the registers that keep their values
/// when the predicate is false.
struct Operands {
  Register registers[48];
  uint8_t uses = 0;
  uint8_t size = 0;
};

/// What an instruction does to the flow of control.
enum class ControlFlow : uint8_t {
  none,
  conditional_branch,  // direct
  branch,              // direct, unconditional, no return address kept
  call,                // direct; the return address goes to a register, or onto the stack
  indirect_call,
  indirect_jump,
  return_jump,  // a jump marked as a return
  stop,         // a trap that does not return: halt; see lift/stops.cc
};

constexpr bool is_call(ControlFlow flow) {
  return flow == ControlFlow::call || flow == ControlFlow::indirect_call;
}
/// Whether the instruction itself holds its target.
constexpr bool is_direct(ControlFlow flow) {
  return flow == ControlFlow::branch || flow == ControlFlow::conditional_branch ||
         flow == ControlFlow::call;
}

/// An instruction's part in an untouchable sequence: nothing may come between its instructions.
enum class SequenceRole : uint8_t {
  none,
  reservation_begin,  // load locked
  reservation_end,    // store conditional
  shadow_begin,       // may trap; software completes the instruction and reads the code after it
  shadow_end,         // trap barrier
};

/// The origin of the value in an instruction's destination: enough to distinguish an address that
/// is only passed on from a computed address.
enum class ValueSource : uint8_t {
  computed,
  copied,    // from the last register that the instruction uses
  selected,  // from a register that the instruction uses
  loaded,    // a whole address, from memory
  equality,  // 0 or 1: whether two values are the same; or a constant
};

/// Routines of a compiler's run-time library whose calls do not follow the calling standard.
struct SupportCall {
  Register link;                        // holds the return address
  std::vector<std::string_view> names;  // of the routines, without a symbol version
  std::vector<Register> changed;        // the routines keep all other registers
};

/// Descriptors through which procedures are called: a procedure's entry and gp, 64 bits each.
struct DescriptorTable {
  std::string_view section;  // of the linker's descriptors; empty: there are no descriptors
  unsigned size = 16;        // bytes of a descriptor
};

/// The calling standard's registers, as data.
struct Abi {
  /// Unwind tables number registers as Machine does, except around a register that always reads as
  /// zero and has no number in Machine: registers after it have numbers that are larger by one.
  /// Example: Alpha's $f2 is 34 in tables, since $31 is 31 there, and 33 in Machine.
  uint32_t zero_in_tables = ~uint32_t{0};
  /// The register with a given number in unwind tables; nullopt: it always reads as zero.
  std::optional<Register> register_in_tables(uint64_t number) const {
    if (number == zero_in_tables) return std::nullopt;
    return static_cast<Register>(number - (number > zero_in_tables ? 1 : 0));
  }

  /// Debuggers of this machine join adjacent ranges of a function, and read only the first FDE of
  /// each (LLDB 22, DWARFCallFrameInfo::GetUnwindPlan): a fragment must not be adjacent to another
  /// fragment of its procedure, as each has an FDE of its own.
  bool debuggers_join_ranges = false;
  Register stack_pointer = 0;
  std::optional<Register> return_address = {};   // absent: calls leave it on the stack
  std::optional<Register> procedure_value = {};  // holds the callee's entry at a call
  std::vector<Register> arguments = {};
  std::vector<Register> results = {};
  std::vector<Register> preserved = {};
  std::vector<Register> scratch = {};
  /// Condition flags, which are scratch registers: no procedure receives a flag from an unknown
  /// caller, leaves a flag to an unknown caller, or expects a flag from an unknown callee.
  std::vector<Register> flags = {};
  std::vector<SupportCall> support_calls = {};
  RelocationRole jump_table_entry = RelocationRole::address64;  // the entries of jump tables
  DescriptorTable descriptors = {};
};

/// The instruction cache whose conflicts layouts avoid.
struct CacheShape {
  uint32_t line = 0;  // bytes
  uint32_t sets = 0;
  uint32_t ways = 1;           // the least recently used way is replaced
  uint32_t prefetched = 0;     // lines after a line that misses
  double miss = 8;             // cycles of a line from the second level
  double prefetched_miss = 2;  // cycles of a line that was prefetched
};

/// What executing code costs in cycles, for choosing between layouts.
struct ExecutionCosts {
  double instruction = 1;
  double taken = 1;  // of a taken, predicted branch
  /// Of a branch instruction that is added to a block, in units of `taken`: less than an
  /// instruction, since a branch issues together with other instructions.
  double added_branch = 0;
  /// Bytes of code that may be copied to save a jump to it (transform/tail_copies.h); 0: none.
  uint32_t copied_tail = 0;
};

/// What images of a machine tell about the places to which indirect jumps and words of data lead.
struct AddressEvidence {
  /// All labels of indirect jumps are kept in data, as words with relocations: whole addresses, or
  /// distances from their table. Then a jump may lead to all labels of its procedure, and no path in
  /// front of the jump has to show its table (lift/jumps.cc).
  bool labels_are_words = false;
  /// A word may hold a distance of code, from the start of its table or from its own place; its
  /// relocation does not say which (lift/tables.h).
  bool words_are_distances = false;
  /// Hand-written code keeps constants between procedures, which look like padding (lift/gaps.cc).
  bool data_in_gaps = false;
  /// Symbol plus addend of a relocation of a word of data is what the word holds, also where the
  /// symbol is a section's. Where false, linkers leave addends as they were before linking.
  bool addends_are_right = false;
  /// The lifter knows how OCaml's code takes return addresses and handlers (lift/ocaml.cc).
  bool knows_ocaml = false;
};

/// The cost of issuing straight code, which depends on the address of the code.
struct IssueModel {
  uint32_t period = 0;  // bytes, a power of two: of the address, only the remainder matters
  /// Bytes of hot code for which padding may pay. With more code, padding costs the caches more
  /// than a walk (layout/walk.h) shows.
  uint64_t most_code = UINT64_MAX;
  /// Cycles in which `code`, which is at `address`, issues or waits. Control falls into `code` from
  /// `before`, which directly precedes it and begins with nothing in flight; if `before` is empty,
  /// control jumps to `code`. References of instructions do not matter.
  uint32_t (*cycles)(std::span<const Instruction> before, std::span<const Instruction> code,
                     uint64_t address);
};

/// An instruction that forms an address of a register plus a number, or reads or writes memory
/// there. Example: stq s0,8(sp) is a store at 8 bytes from sp, of one register of 8 bytes; of
/// `stp x29, x30, [sp, #16]` of AArch64, `count` would be 2.
struct BasedOperand {
  enum class Kind : uint8_t { address, load, store };
  Kind kind = Kind::address;
  uint8_t size = 0;    // bytes of memory for each register; 0: an address, or not known
  uint8_t count = 1;   // registers that are loaded or stored, one behind the other in memory
  bool whole = false;  // a load or store that keeps all bits of the registers, and does no more
  int64_t displacement = 0;
  // The base is the register that the instruction reads last; if it reads none, zero.
};

/// What an instruction does, except to registers: operands() names registers and takes longer, and
/// half of all questions never need registers.
struct InstructionFacts {
  ControlFlow flow = ControlFlow::none;
  SequenceRole role = SequenceRole::none;
  ValueSource source = ValueSource::computed;
  /// Control can reach the next instruction: by falling through, by a return from a call, or
  /// because a predicate may skip a jump.
  bool falls_through : 1 = true;
  bool nop : 1 = false;
  /// Only the first part of an instruction. The next Instruction is the rest, and is never
  /// separated from this part.
  bool prefix : 1 = false;
  /// Enters the operating system, which may also return in another process or thread, or never.
  bool system_call : 1 = false;
  /// Leaves an address of code in a register (Alpha: of the next instruction, IA-64: of its own
  /// bundle) and continues at the next instruction.
  bool get_pc : 1 = false;
  /// Marks its result instead of faulting (a speculative load). Conditions that are computed from a
  /// marked value have no opposite.
  bool defers_faults : 1 = false;
  /// A direct branch that reaches only near targets, and that no other branch can replace.
  bool stays_near : 1 = false;
  /// Processors may want this instruction first at the targets of indirect branches.
  bool marks_target : 1 = false;
};
static_assert(sizeof(InstructionFacts) == 4);

/// The place at which a run of instructions is encoded, for machines on which the bytes depend on
/// more than the instructions.
struct CodePlace {
  /// The code after the run in memory, if the same code followed in the input; otherwise empty, and
  /// then the bytes must not depend on the code after the run.
  std::span<const Instruction> following = {};
  uint64_t address = 0;          // of the run
  const Image* input = nullptr;  // holds the bytes of instructions with an origin
  uint64_t origin_base = 0;      // see Program::origin_base
};

/// Bytes to instructions and back. Functions take whole groups.
struct Codec {
  CodeGroups groups;
  Instruction nop;
  bool drops_nops = false;     // arrange() leaves out no-ops: no pass has to
  bool zeros_pad = false;      // zero bytes between procedures are padding; if false, perhaps data
  uint8_t filler = 0;          // linkers also pad with this byte
  uint8_t standing_flags = 0;  // bits of Instruction::flags that describe how the instruction is
                               // stored, not what it does

  /// Numbers that an instruction holds in bytes of their own.
  enum class Field : uint8_t {
    none,      // no number of the instruction
    branch,    // the displacement of a direct branch
    distance,  // the distance of an operand
    address,   // a number of 32 bits, of which an address may be part
    thread,    // the 0 of a load of the thread pointer; linkers replace calls by such loads
    number,    // any other number
  };
  /// Which number of the instruction that starts `code` begins `offset` bytes after its start.
  /// nullptr: numbers share bytes with the rest of an instruction, so that a relocation stands at
  /// the start of its instruction and concerns all of it.
  Field (*field_at)(std::span<const uint8_t> code, unsigned offset) = nullptr;
  bool relocates_fields() const { return field_at != nullptr; }

  /// Bytes from an instruction on, and its address.
  struct Code {
    std::span<const uint8_t> bytes;
    uint64_t address = 0;
  };
  /// Whether two instructions do the same, but for direct branches' displacements and for fields
  /// with a reference. nullptr: Instruction holds all that an instruction is; otherwise it stands
  /// for bytes of the image, which are to be compared, too.
  bool (*same)(const Code& before, const Code& after,
               std::optional<ReferenceKind> reference) = nullptr;

  /// Bytes of the instruction that starts `code`: at least 1, at most all of `code`; 1 when `code`
  /// does not decode. nullptr when groups have a fixed size.
  unsigned (*length)(std::span<const uint8_t> code) = nullptr;
  /// Code that does not decode becomes kInvalid with its bits in `immediate` and, where these are
  /// more than 32, in `registers`. The first instruction has the origin `origin`; the origins of
  /// the others follow as CodeMap counts addresses. kHasReference is never set: the `immediate` of
  /// a direct branch is its displacement in bytes from the branch's own group.
  void (*decode)(std::span<const uint8_t> code, uint32_t origin, Instruction* out);
  /// The size in bytes of a run of instructions that starts a group and is padded to whole groups.
  /// `places`, if not null, gets the distance of each instruction's address from the start of the
  /// run; an instruction that takes no room gets the distance of the next instruction. Neither
  /// result depends on references or on immediates. A new group starts after a call.
  uint64_t (*arrange)(std::span<const Instruction> run, uint32_t* places);
  /// Appends the bytes of a run, which has no pseudo-instructions and no references left. Throws
  /// Error when a number does not fit into its field.
  void (*encode_at)(std::span<const Instruction> run, const CodePlace& place,
                    std::vector<uint8_t>& out);
  /// Replaces the instruction in slot `slot` of a group; the other slots stay. nullptr: a group is
  /// a single instruction of any size.
  void (*replace)(std::span<uint8_t> group, unsigned slot, const Instruction& instruction);
  /// Overwrites whole groups with no-ops.
  void (*fill)(std::span<uint8_t> groups);

  uint64_t size(std::span<const Instruction> run) const { return arrange(run, nullptr); }
  /// The start of the group of `last`, the last instruction of code that ends at `end`.
  uint64_t group_of_last(uint64_t end, const Instruction& last) const {
    return end - (groups.fixed() ? groups.bytes : size({&last, 1}));
  }
  void encode(std::span<const Instruction> run, std::vector<uint8_t>& out) const {
    encode_at(run, {}, out);
  }
};

/// Instructions as text. print writes GNU assembler syntax as objdump does, without the symbol that
/// objdump adds to an address; parse accepts the output of print, and throws Error.
struct InstructionText {
  std::string (*print)(const Instruction& instruction, uint64_t address);
  Instruction (*parse)(std::string_view text, uint64_t address);
  std::string (*register_name)(Register r);
};

/// Direct branches. Each form of branch may have a reach of its own.
struct BranchForms {
  Instruction branch;  // unconditional
  Instruction stop;    // control never continues after this instruction
  uint64_t reach = 0;  // bytes, either way, of the weakest form: how near stubs have to be
  /// Bytes, either way, that this direct branch or call reaches.
  uint64_t (*reach_of)(const Instruction& branch);
  /// Gives a conditional branch the opposite condition; false when there is none. `before`: the
  /// instructions directly before the branch, as far as they are known; they may compute the
  /// condition.
  bool (*invert)(Instruction& conditional_branch, std::span<const Instruction> before);
  /// Writes a prediction into a branch that was taken `taken` of `executed` times. nullptr:
  /// branches have no place for a prediction.
  void (*predict)(Instruction& conditional_branch, uint64_t taken, uint64_t executed) = nullptr;
  /// Gives a branch inside a procedure its short or its long form; Fixups::apply knows the reach of
  /// each form. nullptr: each branch has one form.
  void (*set_length)(Instruction& branch, bool is_long) = nullptr;
  /// Whether a branch, as decoded, is in its short form. nullptr: as above.
  bool (*is_short)(const Instruction& branch) = nullptr;
};

/// Fields of instructions that depend on addresses.
struct Fixups {
  /// The value in the field of the kind `kind`: half of an offset (already shifted, so that the
  /// upper and the lower half add up), a displacement, ...
  int64_t (*field)(const Instruction& instruction, ReferenceKind kind);
  /// Writes a field; false when the value does not fit, or the machine has no field of this kind.
  /// `place`: the instruction's address; `target`: the address that the field refers to (gp_load_*:
  /// the anchor).
  bool (*apply)(Instruction& instruction, ReferenceKind kind, uint64_t place, uint64_t target,
                uint64_t gp);
  /// Whether the instruction can be the upper, or lower, half of a pair that forms an address.
  bool (*is_upper_half)(const Instruction& instruction);
  bool (*is_lower_half)(const Instruction& instruction);
};

/// Addresses that one instruction holds whole, as a number or as a distance from its own place.
struct WholeAddresses {
  /// The address to which the instruction, as decoded, is relative, minus Program::origin_base;
  /// nullopt when there is none. Direct branches have none.
  std::optional<int64_t> (*relative)(const Instruction& instruction);
  /// Whether the instruction only forms the address, and does not access memory there.
  bool (*forms_address)(const Instruction& instruction);
  /// Whether the instruction adds or subtracts whole numbers.
  bool (*adds)(const Instruction& instruction);
};

/// Calls that push the return address.
struct PushedReturns {
  /// The known state of the stack in the first instructions of a procedure.
  struct Depth {
    int64_t bytes = 0;             // of the stack, above the return address
    std::optional<int64_t> frame;  // the same for the place in the frame pointer, if known
    Register taken = 0;            // the register that holds the return address since Use::taken
  };
  enum class Use : uint8_t { none, taken, changed, unknown };
  /// What an instruction with these bytes does to the return address. Updates `depth`.
  Use (*follow)(const Instruction& instruction, std::span<const uint8_t> bytes, Depth& depth);
  /// Whether the instruction only pushes registers to the stack or pops them.
  bool (*moves)(const Instruction& instruction);
};

/// The register through which all code of an image finds data and code.
struct GlobalPointer {
  Register base;
  bool callers_set = false;  // to the callee's gp; code after a call copies its own gp back
  /// The number that the instruction at the start of `code`, which has a relocation against gp,
  /// adds to gp; nullopt when the instruction cannot add to gp.
  std::optional<int64_t> (*offset)(std::span<const Instruction> code);
  /// Whether the instruction uses the value of `r` as the address of something small: it accesses
  /// memory at this address, or adds to the value a number that no linker filled in. nullptr unless
  /// callers_set.
  bool (*uses_as_pointer)(const Instruction& instruction, Register r) = nullptr;
};

/// Registers whose names are relative to a frame, which moves at calls.
struct RegisterWindow {
  RegisterRange registers;
  /// For an instruction that gives the procedure a new frame: the registers of the window that keep
  /// name and contents over calls and loops. nullopt for other instructions.
  std::optional<RegisterRange> (*kept)(const Instruction& instruction);
};

/// Code that extends the reach of branches. A direct branch or call whose target is out of reach
/// goes to a departure stub within reach; the departure jumps to a landing stub within reach of the
/// target; the landing branches to the target. Together the two stubs change no register and no
/// flag. The stack is `frame` bytes deeper from after the first group of the departure to before
/// the last group of the landing. Sizes are in bytes; a landing of size 0 means that a departure
/// reaches every target alone.
struct Stubs {
  unsigned departure_size = 0;
  unsigned landing_size = 0;
  unsigned frame = 0;
  std::vector<uint8_t> (*departure)(uint64_t place, uint64_t landing);
  std::vector<uint8_t> (*landing)(uint64_t place, uint64_t target);
  /// The target of the departure or landing stub that starts `code`; nullopt when `code` starts
  /// with neither.
  std::optional<uint64_t> (*target)(std::span<const Instruction> code, uint64_t place);
};

struct Machine {
  std::string_view name;
  unsigned register_count = 0;
  Codec codec;
  InstructionText text;

  InstructionFacts (*facts)(const Instruction& instruction);
  Operands (*operands)(const Instruction& instruction);
  /// nullopt: the instruction has no such operand, or the machine does not tell. References do not
  /// matter: with one, `displacement` is not known.
  std::optional<BasedOperand> (*based_operand)(const Instruction& instruction);
  /// Whether the code holds a return from a signal handler: kernels' signal delivery relies on this
  /// code, and unwinders match its bytes.
  bool (*is_signal_return)(std::span<const Instruction> instructions);

  Abi abi;
  CacheShape icache;
  /// The first translation buffer of code. Its lines are pages; a page that misses in it hits in
  /// the second buffer. Without sets, layouts ignore pages.
  CacheShape itlb = {};
  ExecutionCosts costs;
  BranchForms branches;
  Fixups fixups;
  AddressEvidence evidence = {};
  uint64_t page_size = 4096;  // bytes, as Linux has them on most systems of the machine
  /// Registers that linkers' stubs may change between a call and the procedure that is called;
  /// empty: not known.
  std::span<const Register> stub_registers = {};

  const GlobalPointer* gp = nullptr;              // absent: addresses are formed in other ways
  const WholeAddresses* whole = nullptr;          // absent: no instruction holds a whole address
  const PushedReturns* pushed_returns = nullptr;  // absent: calls leave it in a register
  const RegisterWindow* window = nullptr;         // absent: names always mean the same registers
  const Imports* imports = nullptr;               // absent: calls of stubs stay as they are
  const Stubs* stubs = nullptr;                   // absent: more distant code cannot be placed
  const IssueModel* issue = nullptr;              // absent: there is no model of how code issues
  const Probes* probes = nullptr;                 // absent: images cannot be instrumented yet
  const RewriteFacts* rewrite = nullptr;  // absent: hot-cold optimization leaves images alone

  /// The address to which an instruction is relative, see WholeAddresses::relative; nullopt: none,
  /// or no instruction holds one.
  std::optional<int64_t> relative_address(const Instruction& instruction) const {
    return whole != nullptr ? whole->relative(instruction) : std::nullopt;
  }
  std::optional<Register> global_pointer() const {
    return gp != nullptr ? std::optional(gp->base) : std::nullopt;
  }
};

}  // namespace respike

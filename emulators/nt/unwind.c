// Unwinds frames in the way of Windows NT for Alpha: by reading the code of prologs.
//
// Only the code describes a frame. The function table says where a procedure begins and where its
// prolog ends; the unwinder undoes the prolog's instructions up to the stop. In an epilog that has
// already raised the stack pointer there is nothing to undo: the rest of the epilog is executed
// instead. Example, with a stop at each instruction:
//
//   f:  lda sp,-16(sp)      nothing to undo: continue at ra
//       stq ra,0(sp)        sp := sp + 16
//       bsr ra,g            ra := [sp]; sp := sp + 16
//       ldq ra,0(sp)        the same
//       lda sp,16(sp)       the same
//       ret                 the epilog has raised sp: continue at ra
//
// A procedure with a copy of the stack pointer in its prolog may change the stack pointer later;
// then the copy says where the frame is. So a prolog is run forwards, with the known values of
// registers relative to the caller's stack pointer; this gives the frame's size and the places of
// saved registers. A call may be the last instruction of its procedure, so callers are looked up by
// the address before the return address.
//
// Source: Windows NT for Alpha Systems Calling Standard, sections 3.2.6 and 8.1, which say what
// prologs and epilogs may contain. How far NT's own unwinder executes epilogs could not be found
// out; this unwinder continues to the return, or to a branch to the beginning of another procedure.

#include "unwind.h"

#include <stdlib.h>
#include <string.h>

enum { kMostImages = 64, kMostSteps = 65536, kLongestEpilog = 64, kInstruction = 4 };
enum {
  kLda = 0x08,
  kLdah = 0x09,
  kLoad = 0x29,
  kLoadFloat = 0x23,
  kStore = 0x2d,
  kStoreFloat = 0x27
};
enum {
  kArithmetic = 0x10,
  kLogic = 0x11,
  kJump = 0x1a,
  kBranch = 0x30,
  kBranchIfNot = 0x39,
  kBranchIf = 0x3d
};

static struct {
  const uint8_t* memory;
  uint64_t size;
  struct function_entry* table;
  uint64_t count;
} images[kMostImages];
static int image_count;

static uint32_t code_in_memory(uint64_t address) {
  return *(const uint32_t*)address;
}

uint32_t (*unwind_code_at)(uint64_t address) = code_in_memory;
unsigned long unwind_epilog_count;

void unwind_add_image(const uint8_t* memory, uint64_t size, const uint8_t* table,
                      uint64_t table_size, bool is_wide) {
  const uint64_t field = is_wide ? 8 : 4, fields = sizeof(struct function_entry) / 4;
  const uint64_t count = table_size / (fields * field);
  uint32_t* copy = malloc(count * fields * 4 + 1);  // all addresses are below 2 GB
  if (image_count == kMostImages || copy == NULL) return free(copy);
  for (uint64_t i = 0; i < count * fields; ++i) memcpy(&copy[i], table + i * field, sizeof *copy);
  images[image_count].memory = memory;
  images[image_count].size = size;
  images[image_count].table = (struct function_entry*)copy;
  images[image_count].count = count;
  ++image_count;
}

void unwind_remove_image(const uint8_t* memory) {
  for (int i = 0; i < image_count; ++i) {
    if (images[i].memory != memory) continue;
    free(images[i].table);
    images[i--] = images[--image_count];
  }
}

static int image_number(uint64_t address) {
  for (int i = 0; i < image_count; ++i)
    if (address - (uint64_t)images[i].memory < images[i].size) return i;
  return -1;
}

const uint8_t* unwind_image_at(uint64_t address, uint64_t* size) {
  const int number = image_number(address);
  if (number < 0) return NULL;
  *size = images[number].size;
  return images[number].memory;
}

const struct function_entry* unwind_entry_at(uint64_t address) {
  const int number = image_number(address);
  if (number < 0) return NULL;
  const struct function_entry* entries = images[number].table;
  uint64_t low = 0, high = images[number].count;
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    if (entries[middle].end <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == images[number].count || entries[low].begin > address || entries[low].end <= address)
    return NULL;
  return &entries[low];
}

// ---- instructions

static unsigned opcode(uint32_t word) {
  return word >> 26;
}
static unsigned a_of(uint32_t word) {
  return word >> 21 & 31;
}
static unsigned b_of(uint32_t word) {
  return word >> 16 & 31;
}
static unsigned c_of(uint32_t word) {
  return word & 31;
}
static int64_t displacement(uint32_t word) {
  const int64_t value = (int16_t)word;
  return opcode(word) == kLdah ? value * 0x10000 : value;
}

/// Whether an instruction copies a register: bis with the same register twice, or with register 31.
static bool is_move(uint32_t word, unsigned* from) {
  if (opcode(word) != kLogic || (word >> 5 & 0xff) != 0x20) return false;
  *from = a_of(word) == 31 ? b_of(word) : a_of(word);
  return a_of(word) == b_of(word) || a_of(word) == 31 || b_of(word) == 31;
}

static bool is_return(uint32_t word) {
  return opcode(word) == kJump && (word >> 14 & 3) == 2 && b_of(word) == kReturnAddress;
}

static uint64_t load64(uint64_t address) {
  uint64_t value;
  memcpy(&value, (const void*)address, sizeof value);
  return value;
}

static bool is_saved(unsigned number) {
  return (number >= kFirstSaved && number <= kFramePointer) || number == kReturnAddress;
}

// ---- prologs

/// The value of a register while a prolog runs: a number, or a distance from the caller's stack
/// pointer.
struct value {
  bool known;
  bool of_stack;
  int64_t number;
};

/// The effect of a prolog up to a stop, relative to the caller's stack pointer.
struct frame {
  int64_t stack_pointer;
  bool has_frame_pointer;
  int64_t frame_pointer;
  unsigned return_address;  // the register that holds it, unless it is saved in the frame
  bool is_saved[64];        // by register: 32 integers, 32 of floating point
  int64_t place[64];
};

static uint64_t branch_target(uint64_t at, uint32_t word) {
  return at + kInstruction + (int64_t)(int32_t)(word << 11) / 0x800 * kInstruction;
}

static struct value sum(struct value a, struct value b) {
  const struct value none = {0};
  if (!a.known || !b.known || (a.of_stack && b.of_stack)) return none;
  return (struct value){true, a.of_stack || b.of_stack, a.number + b.number};
}

static struct value difference(struct value a, struct value b) {
  if (b.of_stack) b.known = false;
  b.number = -b.number;
  return sum(a, b);
}

/// The result of an instruction that is not a branch.
static struct value result_of(uint32_t word, const struct value* values) {
  const struct value none = {0}, literal = {true, false, word >> 13 & 0xff};
  const struct value first = values[a_of(word)],
                     second = (word >> 12 & 1) != 0 ? literal : values[b_of(word)];
  const unsigned function = word >> 5 & 0x7f;
  unsigned from;
  if (is_move(word, &from)) return values[from];
  if (opcode(word) != kArithmetic) return none;
  if (function == 0x20) return sum(first, second);
  if (function == 0x29) return difference(first, second);
  return none;
}

static void note_store(struct frame* frame, uint32_t word, const struct value* values) {
  const unsigned a = a_of(word);
  const bool floating = opcode(word) == kStoreFloat;
  if (floating ? a < kFirstSavedFloat || a > kLastSavedFloat : !is_saved(a)) return;
  const struct value base = values[b_of(word)];
  const unsigned number = floating ? 32 + a : a;
  if (!base.known || !base.of_stack || frame->is_saved[number]) return;
  frame->is_saved[number] = true;
  frame->place[number] = base.number + displacement(word);
}

/// Runs the prolog from `begin` up to `end` on the known values of registers. Large frames are
/// probed in a loop. False: the stack pointer is not known.
static bool run_prolog(uint64_t begin, uint64_t end, struct frame* frame) {
  struct value values[32] = {[kStackPointer] = {true, true, 0}, [31] = {true, false, 0}};
  memset(frame, 0, sizeof *frame);
  frame->return_address = kReturnAddress;
  uint64_t at = begin;
  for (int steps = 0; at != end; ++steps) {
    if (at < begin || at > end || steps == kMostSteps) return false;
    const uint32_t word = unwind_code_at(at);
    const unsigned op = opcode(word), a = a_of(word);
    at += kInstruction;
    if (op == kBranchIfNot || op == kBranchIf) {
      if (!values[a].known || values[a].of_stack) return false;
      if ((values[a].number == 0) == (op == kBranchIfNot))
        at = branch_target(at - kInstruction, word);
      continue;
    }
    unsigned written = 31, from;
    struct value value = {0};
    if (op == kLda || op == kLdah) {
      written = a;
      value = sum(values[b_of(word)], (struct value){true, false, displacement(word)});
    } else if (op == kStore || op == kStoreFloat) {
      note_store(frame, word, values);
    } else if (op >= 0x10 && op <= 0x13) {
      written = c_of(word);
      value = result_of(word, values);
      if (is_move(word, &from) && from == kReturnAddress && written != 31)
        frame->return_address = written;
    } else if (op == 0x28 || op == kLoad) {
      written = a;
    }
    if (written != 31) values[written] = value;
    if (!values[kStackPointer].known || !values[kStackPointer].of_stack) return false;
  }
  frame->stack_pointer = values[kStackPointer].number;
  frame->has_frame_pointer = values[kFramePointer].known && values[kFramePointer].of_stack;
  frame->frame_pointer = values[kFramePointer].number;
  return true;
}

/// Gives the registers their values at the procedure's entry; [begin, end) of its prolog has run.
static bool undo(struct registers* r, uint64_t begin, uint64_t end) {
  struct frame frame;
  if (!run_prolog(begin, end, &frame)) return false;
  const uint64_t stack = frame.has_frame_pointer ? r->integer[kFramePointer] - frame.frame_pointer
                                                 : r->integer[kStackPointer] - frame.stack_pointer;
  r->integer[kReturnAddress] = r->integer[frame.return_address];
  for (unsigned i = 0; i < 32; ++i) {
    if (frame.is_saved[i]) r->integer[i] = load64(stack + frame.place[i]);
    if (frame.is_saved[32 + i]) r->floating[i] = load64(stack + frame.place[32 + i]);
  }
  r->integer[kStackPointer] = stack;
  return true;
}

static bool lowers_stack(uint64_t begin, uint64_t end) {
  for (uint64_t at = begin; at < end; at += kInstruction) {
    const uint32_t word = unwind_code_at(at);
    const bool adds = opcode(word) == kLda || opcode(word) == kLdah;
    if (adds && a_of(word) == kStackPointer) return true;
    if (opcode(word) == kArithmetic && c_of(word) == kStackPointer) return true;
  }
  return false;
}

// ---- epilogs

/// Whether an instruction changes the stack pointer.
static bool writes_stack_pointer(uint32_t word) {
  const unsigned op = opcode(word);
  if (op == kLda || op == kLdah || op == 0x28 || op == kLoad) return a_of(word) == kStackPointer;
  return op >= 0x10 && op <= 0x13 && c_of(word) == kStackPointer;
}

static bool goes_elsewhere(uint32_t word) {
  return opcode(word) >= 0x30 || opcode(word) == kJump || opcode(word) == 0;
}

/// The integer register that an instruction which does not branch writes; 31: none.
static unsigned written_by(uint32_t word) {
  const unsigned op = opcode(word);
  if (op == kLda || op == kLdah || (op >= 0x0a && op <= 0x0c) || (op >= 0x28 && op <= 0x2b) ||
      op == 0x2e || op == 0x2f)
    return a_of(word);
  return (op >= 0x10 && op <= 0x13) || op == 0x1c ? c_of(word) : 31;
}

/// Whether control leaves the procedure at `at` as at its end: a return, or a jump to a procedure's
/// beginning with the caller's frame on top. Code without a table entry is a procedure if the frame
/// is `gone`, else a stub of a far branch.
static bool is_end(uint64_t at, uint32_t word, const struct registers* r, const bool* known,
                   bool gone) {
  if (is_return(word)) return true;
  uint64_t target;
  if (opcode(word) == kBranch && a_of(word) == 31)
    target = branch_target(at, word);
  else if (opcode(word) == kJump && (word >> 14 & 3) == 0 && a_of(word) == 31 && known[b_of(word)])
    target = r->integer[b_of(word)] & ~(uint64_t)3;
  else
    return false;
  const struct function_entry* entry = unwind_entry_at(target);
  return entry == NULL ? gone : entry->begin == target;
}

/// Executes the rest of an epilog that has begun to raise the stack pointer; false: the stop is not
/// in such an epilog, and nothing changes.
static bool finish_epilog(struct registers* r, const struct function_entry* entry) {
  struct registers now = *r;
  bool raised = false;  // after the stop
  for (uint64_t at = r->pc; at > entry->prolog_end;) {
    const uint32_t word = unwind_code_at(at -= kInstruction);
    if (goes_elsewhere(word)) break;
    const bool adds = opcode(word) == kLda || opcode(word) == kLdah;
    raised |= writes_stack_pointer(word) && (!adds || displacement(word) > 0);
  }
  bool raises = false;  // from here on
  bool known[32];
  memset(known, 1, sizeof known);
  uint64_t at = r->pc;
  for (int i = 0; i < kLongestEpilog && at < entry->end; ++i, at += kInstruction) {
    const uint32_t word = unwind_code_at(at);
    if (is_end(at, word, &now, known, raised || raises)) {
      if ((raises && !raised) || !known[kStackPointer] || !known[kReturnAddress]) return false;
      *r = now;
      r->pc = r->integer[kReturnAddress] & ~(uint64_t)3;
      return true;
    }
    if (goes_elsewhere(word)) return false;
    raises |= writes_stack_pointer(word);
    const unsigned a = a_of(word), b = b_of(word), written = written_by(word);
    const bool in_frame = known[b] && (b == kStackPointer || b == kFramePointer);
    unsigned from;
    bool result_known = false;
    if (opcode(word) == kLda || opcode(word) == kLdah) {
      now.integer[a] = now.integer[b] + displacement(word);
      result_known = known[b];
    } else if (opcode(word) == kLoad && in_frame) {
      now.integer[a] = load64(now.integer[b] + displacement(word));
      result_known = true;
    } else if (opcode(word) == kLoadFloat && in_frame) {
      now.floating[a] = load64(now.integer[b] + displacement(word));
    } else if (is_move(word, &from)) {
      now.integer[c_of(word)] = now.integer[from];
      result_known = known[from];
    }
    known[written] = result_known || written == 31;
    now.integer[31] = 0;
  }
  return false;
}

bool unwind_frame(struct registers* r, bool is_call) {
  const uint64_t place = is_call ? r->pc - kInstruction : r->pc;
  const struct function_entry* entry = unwind_entry_at(place);
  if (entry != NULL) {
    const uint64_t begin = entry->begin,
                   behind = is_call || r->pc > entry->prolog_end ? entry->prolog_end : r->pc;
    if (behind < begin) return false;
    const bool in_body = !is_call && r->pc >= entry->prolog_end;
    if (in_body && lowers_stack(begin, behind) && finish_epilog(r, entry)) {
      ++unwind_epilog_count;
      return true;
    }
    if (!undo(r, begin, behind)) return false;
  }
  r->pc = r->integer[kReturnAddress] & ~(uint64_t)3;
  return true;
}

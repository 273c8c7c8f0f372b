#pragma once
// Unwinding by the function tables of images, and the registers that it restores.
//
// Example: for a stop after "lda sp,-16(sp); stq ra,0(sp)", unwind_frame() loads ra from the stack,
// raises sp by 16 and sets pc to ra.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { kFirstSaved = 9, kFramePointer = 15, kReturnAddress = 26, kStackPointer = 30 };
enum { kFirstSavedFloat = 2, kLastSavedFloat = 9 };

struct registers {
  uint64_t pc;
  uint64_t integer[32];
  uint64_t floating[32];
};

/// An entry of a function table, in addresses.
struct function_entry {
  uint32_t begin;
  uint32_t end;
  uint32_t handler;
  uint32_t handler_data;
  uint32_t prolog_end;
};

/// Adds an image: its memory and its function table, whose fields have 32 or, if it is wide, 64
/// bits.
void unwind_add_image(const uint8_t* memory, uint64_t size, const uint8_t* table,
                      uint64_t table_size, bool is_wide);

/// Removes an image whose memory is unmapped.
void unwind_remove_image(const uint8_t* memory);

/// The memory of the image that holds `address`, or NULL; gives the image's size.
const uint8_t* unwind_image_at(uint64_t address, uint64_t* size);

/// The entry for the code at `address`, or NULL: a procedure without a frame.
const struct function_entry* unwind_entry_at(uint64_t address);

/// Changes `registers` to those of the caller. `is_call`: the place is the return address of a
/// call, not a stop. False: the prolog has an instruction that no prolog has.
bool unwind_frame(struct registers* registers, bool is_call);

/// Reads an instruction. Code that changes instructions in memory sets this to a function that
/// returns the original instructions.
extern uint32_t (*unwind_code_at)(uint64_t address);

/// How often unwind_frame() met a stop after the instruction that removes the frame.
extern unsigned long unwind_epilog_count;

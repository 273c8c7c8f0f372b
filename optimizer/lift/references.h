#pragma once
// Shared by the files that find references to code. Private to this folder; see references.cc.

#include <cstdint>

#include "optimizer/lift/lifter.h"

namespace respike {

/// Whether the symbol belongs to something that may move: code, or unwind tables.
bool refers_to_moving(const Lifter& lifter, uint32_t symbol);

/// Whether the symbol is a number rather than a place. The number may still be an address, since
/// linker scripts can say `alias = ABSOLUTE(procedure)`.
bool is_absolute(const Lifter& lifter, uint32_t symbol);

/// The word or field at `place` may be the address `value` or a number: the code at that address
/// stays.
void keep_absolute(Lifter& lifter, uint64_t place, uint64_t value);

/// Throws Error if a reference that is not understood may refer to unwind tables, since they move.
void refuse_unknown(const Lifter& lifter, uint64_t place, uint32_t symbol);

/// Whether the address is the end of the section that the symbol belongs to, such as __stop_NAME.
/// Such an address does not mean the code with which another section starts.
bool is_border(const Lifter& lifter, uint32_t symbol, uint64_t target);

/// Adds a word of data that holds an address, in the form `kind`; connect_blocks() turns the
/// address into a block. `base`: see CodePointer.
void add_code_pointer(Lifter& lifter, uint64_t address, ReferenceKind kind, uint64_t target,
                      uint64_t base);

/// Notes that the instruction at `place` forms `target`, or half of it.
void add_formed_address(Lifter& lifter, Procedure& procedure, uint64_t place, uint64_t target,
                        ReferenceKind kind);

}  // namespace respike

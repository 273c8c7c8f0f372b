#pragma once
// What the ways of referring to code have in common. Private to this folder; see references.cc.

#include <cstdint>

#include "optimizer/lift/lifter.h"

namespace respike {

/// Whether what the symbol belongs to may move: code, or unwind tables.
bool refers_to_moving(const Lifter& lifter, uint32_t symbol);

/// The unwind tables move, so that what may refer to them must be understood.
void refuse_unknown(const Lifter& lifter, uint64_t place, uint32_t symbol);

/// Whether the address is the end of the section that its symbol belongs to, such as __stop_NAME:
/// code that another section starts with is not meant.
bool is_border(const Lifter& lifter, uint32_t symbol, uint64_t target);

/// The instruction at `place` forms `target`, or a half of it.
void add_gp_relative(Lifter& lifter, Procedure& procedure, uint64_t place, uint64_t target,
                     ReferenceKind kind);

}  // namespace respike

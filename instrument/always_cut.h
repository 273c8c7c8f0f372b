#pragma once
// Procedures that may come back to their callers in other ways than by returning once.

#include <string_view>
#include <utility>
#include <vector>

#include "instrument/code_facts.h"
#include "optimizer/ir/program.h"

namespace respike {

/// Whether a procedure of this name may return more often than it is called (setjmp; fork, since
/// children count into the same file), or may leave through another return than its caller's
/// (longjmp, the unwinder). Only the exactness of counts depends on the answer. Sources: ISO C
/// 7.13, POSIX, Itanium C++ ABI 1.2.
bool comes_back_otherwise(std::string_view name);

/// By procedure: whether it may come back in another way. These are procedures with such a name,
/// and procedures that return and call fork, directly or not, since they return in both processes.
std::vector<bool> find_always_cut(const Program& program, const CodeFacts& facts);

/// The blocks of movable procedures that end in a call of fork, of a function like it (by name), or
/// of a procedure that ends in a jump to such a function.
std::vector<std::pair<ProcedureId, BlockId>> find_forks(const Program& program,
                                                        const CodeFacts& facts);

}  // namespace respike

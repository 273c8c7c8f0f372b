#pragma once
// Procedures whose calls come back in another way than by returning once.

#include <string_view>
#include <vector>

#include "instrument/code_facts.h"
#include "optimizer/ir/program.h"

namespace respike {

/// Whether a procedure of this name may return more often than it is called (setjmp; fork, whose
/// children count into the same file), or leaves by another return than its caller's (longjmp, the
/// unwinder). Only exactness of counts depends on it: ISO C 7.13, POSIX, Itanium C++ ABI 1.2.
bool comes_back_otherwise(std::string_view name);

/// By procedure: whether calls of it may come back otherwise. Those of comes_back_otherwise(), and
/// what calls fork and comes back itself, directly or not: it does so in both processes.
std::vector<bool> find_always_cut(const Program& program, const CodeFacts& facts);

}  // namespace respike

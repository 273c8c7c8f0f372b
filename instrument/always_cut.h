#pragma once
// Procedures whose calls come back in another way than by returning once.

#include <string_view>

namespace respike {

/// Whether a procedure of this name may return more often than it is called (setjmp; fork, whose
/// children count into the same file), or leaves by another return than its caller's (longjmp, the
/// unwinder). Only exactness of counts depends on it: ISO C 7.13, POSIX, Itanium C++ ABI 1.2.
bool comes_back_otherwise(std::string_view name);

}  // namespace respike

#pragma once
// A program asks the attendant (attendant.h) for the version of a library that it is about to open.

#include <cstdint>
#include <filesystem>

#include "tas/attendant.h"

namespace respike {

/// A question, and the connection on which the program waits for the answer.
struct Opening {
  int connection = -1;
  int application = 0;
  uint64_t before = 0;  // nanoseconds since 1970; younger libraries are left alone
  std::filesystem::path library;
};

/// Puts the version that `duties` make in place of the library, for the process that asks, and
/// answers: '+' when another file is in the library's place now, else '-'. `shared`: the inode of a
/// mount namespace in which nothing may be mounted. To be called in a process of its own, which
/// ends afterwards; waits for its children.
void answer_opening(const Opening& opening, const Duties& duties, uint64_t shared);

}  // namespace respike

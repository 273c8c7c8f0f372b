#pragma once
// Checks unwinding while a program runs: from every instruction that the program executes.

#include <stdint.h>

/// Adds code, which must be in an image that unwind_add_image() knows, and must not have run yet.
void stops_add_code(uint64_t begin, uint64_t end);
/// Removes all code in memory that will be unmapped.
void stops_remove_code(uint64_t begin, uint64_t end);

/// An exception continues in the frame with this stack pointer, after the frame's call.
void stops_unwound(uint64_t stack_pointer);

/// Starts. The findings go to the file `report` when the process ends.
void stops_begin(const char* report);

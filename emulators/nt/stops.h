#pragma once
// Checks unwinding while a program runs: from every instruction that the program executes.

#include <stdint.h>

/// Makes code known, which has to lie in an image that unwind_add_image() knows. Nothing has run
/// there yet.
void stops_add_code(uint64_t begin, uint64_t end);
/// Forgets all code in memory that is going away.
void stops_remove_code(uint64_t begin, uint64_t end);

/// An exception goes on in the frame with this stack pointer, behind whatever the frame called.
void stops_unwound(uint64_t stack_pointer);

/// Starts. The findings go to the file `report` when the process ends.
void stops_begin(const char* report);

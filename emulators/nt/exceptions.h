#pragma once
// Structured exceptions, as programs for Windows NT raise and handle them.

/// From this call on, faults of the program are exceptions.
void exceptions_begin(void);

/// RaiseException() and __C_specific_handler() of programs.
extern char raise_exception[];
unsigned c_specific_handler(void* record, unsigned long frame, void* context, void* dispatcher);

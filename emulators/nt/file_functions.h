#pragma once
// Functions of kernel32 that programs of the test world import.

/// The function of that name, or NULL.
void* file_function(const char* name);

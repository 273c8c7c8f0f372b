// The functions of kernel32.dll for modules.
#pragma once

/// The function of the name; NULL: it is not a function that programs of the tests need.
void* module_function(const char* name);
/// Sets the result of GetCommandLineA().
void set_command_line(int count, char** arguments);

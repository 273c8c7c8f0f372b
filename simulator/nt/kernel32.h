// Functions of NT's kernel32.dll.
#pragma once

/// The function of the name; NULL: it is not among those that programs of the tests need.
void* system_function(const char* name);
/// What GetCommandLineA() says.
void set_command_line(int count, char** arguments);

// The functions of kernel32.dll that have to do with modules.
#pragma once

/// The function of the name; NULL: it is not among those that programs of the tests need.
void* module_function(const char* name);
/// What GetCommandLineA() says.
void set_command_line(int count, char** arguments);

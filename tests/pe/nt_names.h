// Included in front of every C file that becomes a program for Windows NT: all names bind inside
// the program, so the compiler forms addresses by two halves and calls by bsr. The C library's
// variables cannot be imported in this way; a function gives their values.
#include <stdio.h>
#include <errno.h>
#undef stdin
#undef stdout
#undef stderr
#pragma GCC visibility push(hidden)
FILE* respike_nt_stream(int number);
#define stdin (respike_nt_stream(0))
#define stdout (respike_nt_stream(1))
#define stderr (respike_nt_stream(2))

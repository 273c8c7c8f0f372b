#pragma once
// The replacement of a C library for freestanding programs. On the host it comes from host.c.
#include <stddef.h>
#include <stdint.h>

void put(const char *text);
void put_hex(uint64_t value);   // 16 digits and a line's end
void put_double(double value);  // its bits
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
int program(void);  // the test

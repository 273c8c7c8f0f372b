// The functions of kernel32.dll that these programs use, and the output of their libraries.
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void* LoadLibraryA(const char* name);
void* GetProcAddress(void* library, const char* name);
void* GetModuleHandleA(const char* name);
uint32_t GetModuleFileNameA(void* library, char* text, uint32_t size);
int FreeLibrary(void* library);
uint32_t GetLastError(void);

// Slots of imported variables hold addresses of 32 bits.
#define IMPORTED(type, slot) (*(type*)(uint64_t)(slot))

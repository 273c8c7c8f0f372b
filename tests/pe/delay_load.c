// Loads a library when the first of its functions that are imported with delay is called (delay.py).
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct descriptor {
  uint32_t attributes;  // 1: all that follows counts from the base
  uint32_t name, handle, slots, names, bound, unload, date;
};

extern char __ImageBase[];
void* LoadLibraryA(const char* name);
void* GetProcAddress(void* library, const char* name);

static void* place(const struct descriptor* descriptor, uint32_t value) {
  return (descriptor->attributes & 1) != 0 ? __ImageBase + value : (void*)(uint64_t)value;
}

void* __delay_load(const struct descriptor* descriptor, uint32_t* slot) {
  uint32_t* handle = place(descriptor, descriptor->handle);
  const uint32_t* slots = place(descriptor, descriptor->slots);
  const uint32_t* names = place(descriptor, descriptor->names);
  const uint32_t name = names[slot - slots];
  if (*handle == 0) *handle = (uint32_t)(uint64_t)LoadLibraryA(place(descriptor, descriptor->name));
  const char* wanted = (name & 0x80000000) != 0 ? (const char*)(uint64_t)(name & 0xffff)
                                                : (const char*)place(descriptor, name) + 2;
  void* function = *handle == 0 ? 0 : GetProcAddress((void*)(uint64_t)*handle, wanted);
  if (function == 0) {
    printf("a delayed import failed\n");
    exit(3);
  }
  *slot = (uint32_t)(uint64_t)function;
  return function;
}

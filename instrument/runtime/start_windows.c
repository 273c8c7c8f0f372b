/* The start code of an instrumented image of Windows NT: creates a counter file, maps it, and leads
   all probes to the mapped counters, once, before any other code of the image runs. From then on
   counting goes into the file, however the process ends: ExitProcess, a crash, TerminateProcess.
   The system writes the pages of a mapped file itself, so no code has to run when the process ends.

   On Linux (start.c) the file is mapped over the counters. Windows NT maps an image as a whole, and
   maps nothing over a part of it. So probes find the counters through words of the image: until the
   file is complete the words lead to memory of the image, and on any failure they stay so.

     create     exclusively: an old file is not touched
     mapping    gives the file its full length, and reserves its space
     view       the whole file, anywhere
     fill       header and counts so far; the magic last, so a file with it is complete
     lead       the words get the addresses of the counters in the view

   The handles are closed; the view alone keeps the file open.

   Rules as in start.c: never harm the host, no library, no static data, no pointers that would need
   relocation, little stack. The path is built in memory of the image. A machine's own part is in a
   folder with its name. As in start.c, counts of other threads between `fill` and `lead` are lost.

   Imports: RESPIKE_WINDOWS_IMPORTS of kernel32, which are in Windows NT from version 3.5 on.
   Source: the published description of the Win32 functions. */

#include "call_import.h" /* of the machine: call_import(function, six arguments) */
#include "instrument/runtime/counter_file.h"

#define INLINE static inline __attribute__((always_inline))

enum import {
#define NUMBER(name) name,
  RESPIKE_WINDOWS_IMPORTS(NUMBER)
#undef NUMBER
};

enum {
  FILE_SHARE_READ = 1,
  CREATE_NEW = 1,
  FILE_ATTRIBUTE_NORMAL = 0x80,
  PAGE_READWRITE = 4,
  FILE_MAP_WRITE = 2,
  DLL_PROCESS_ATTACH = 1,
  CREATE_TRIES = 4 /* names */
};
#define GENERIC_READ_WRITE ((int)0xc0000000)
#define INVALID_HANDLE_VALUE (-1)

/* Parameters and results of 32 bits are passed as signed numbers. */
INLINE long call(const struct respike_start_parameters* parameters,
                 const struct respike_windows_parameters* own, enum import number, long first,
                 long second, long third, long fourth, long fifth, long sixth) {
  const uint64_t slots = (uint64_t)parameters + own->slots;
  const long function = own->is_wide ? ((const long*)slots)[number] : ((const int*)slots)[number];
  const long result = call_import(function, first, second, third, fourth, fifth, sixth);
  return own->is_wide ? result : (int)result;
}

/* Nanoseconds since 1970. The system counts 100 ns since 1601. */
INLINE uint64_t current_time(const struct respike_start_parameters* parameters,
                             const struct respike_windows_parameters* own) {
  uint64_t now = 0;
  call(parameters, own, GetSystemTimeAsFileTime, (long)&now, 0, 0, 0, 0, 0);
  return (now - 116444736000000000u) * 100u;
}

/* PREFIX process id "." time in 16 hexadecimal digits ".counts" */
INLINE void make_path(char* path, const struct respike_start_parameters* parameters,
                      uint32_t process_id, uint64_t time) {
  for (uint32_t i = 0; i < parameters->file_prefix_size; ++i) *path++ = parameters->file_prefix[i];
  char* end = path + 1;
  for (uint32_t rest = process_id / 10; rest != 0; rest /= 10) ++end;
  for (char* digit = end; digit > path; process_id /= 10) *--digit = '0' + process_id % 10;
  path = end;
  *path++ = '.';
  for (int shift = 60; shift >= 0; shift -= 4) {
    const unsigned digit = time >> shift & 15;
    *path++ = digit < 10 ? '0' + digit : 'a' + digit - 10;
  }
  *path++ = '.';
  *path++ = 'c';
  *path++ = 'o';
  *path++ = 'u';
  *path++ = 'n';
  *path++ = 't';
  *path++ = 's';
  *path = 0;
}

/* The header except the magic, the counts so far, then the magic. */
INLINE void fill(uint64_t view, const struct respike_start_parameters* parameters,
                 uint32_t process_id, uint64_t time, uint64_t counters) {
  const uint64_t* from = (const uint64_t*)&parameters->header;
  struct respike_counter_header* header = (struct respike_counter_header*)view;
  uint64_t* to = (uint64_t*)header;
  for (unsigned i = 1; i < sizeof *header / 8; ++i) to[i] = from[i];
  header->process_id = process_id;
  header->start_time = time;
  header->counters_address = counters;
  const uint64_t* counts = (const uint64_t*)counters;
  uint64_t* fresh = (uint64_t*)(view + parameters->header.header_size);
  for (uint64_t i = 0; i < parameters->counters_size / 8; ++i)
    if (counts[i] != 0) fresh[i] = counts[i];
  __atomic_store_n(to, *from, __ATOMIC_RELEASE);
}

INLINE void lead_probes(uint64_t counters, const struct respike_start_parameters* parameters,
                        const struct respike_windows_parameters* own) {
  const uint64_t words = (uint64_t)parameters + own->bases;
  for (uint32_t i = 0; i < own->base_count; ++i) {
    const uint64_t base = counters + (uint64_t)i * own->base_distance;
    if (own->is_wide)
      __atomic_store_n((uint64_t*)words + i, base, __ATOMIC_RELAXED);
    else
      __atomic_store_n((uint32_t*)words + i, (uint32_t)base, __ATOMIC_RELAXED);
  }
}

/* Called by the machine's entry. Returns the address at which the image continues; 0: nowhere. The
   second argument of DllMain is the reason of the call. */
uint64_t respike_start(const struct respike_start_parameters* parameters, uint32_t reason) {
  const struct respike_windows_parameters* own =
      (const struct respike_windows_parameters*)(parameters + 1);
  const uint64_t next = parameters->next != 0 ? (uint64_t)parameters + parameters->next : 0;
  if (own->is_library && reason != DLL_PROCESS_ATTACH) return next;
  const uint64_t size = parameters->header.header_size + parameters->counters_size;
  char* path = (char*)((uint64_t)parameters + own->scratch);
  const uint32_t process_id = call(parameters, own, GetCurrentProcessId, 0, 0, 0, 0, 0, 0);
  uint64_t time = current_time(parameters, own);
  long file = INVALID_HANDLE_VALUE;
  for (int names = 0; file == INVALID_HANDLE_VALUE && names < CREATE_TRIES; ++names) {
    time += names != 0;
    make_path(path, parameters, process_id, time);
    file = call(parameters, own, CreateFileA, (long)path, GENERIC_READ_WRITE, FILE_SHARE_READ, 0,
                CREATE_NEW, FILE_ATTRIBUTE_NORMAL);
  }
  if (file == INVALID_HANDLE_VALUE) return next;
  const long mapping = call(parameters, own, CreateFileMappingA, file, 0, PAGE_READWRITE,
                            (int)(size >> 32), (int)size, 0);
  long view = 0;
  if (mapping != 0) {
    view = call(parameters, own, MapViewOfFile, mapping, FILE_MAP_WRITE, 0, 0, 0, 0);
    call(parameters, own, CloseHandle, mapping, 0, 0, 0, 0, 0);
  }
  if (view != 0) {
    fill(view, parameters, process_id, time, (uint64_t)parameters + parameters->counters);
    lead_probes(view + parameters->header.header_size, parameters, own);
  }
  call(parameters, own, CloseHandle, file, 0, 0, 0, 0, 0);
  if (view == 0) call(parameters, own, DeleteFileA, (long)path, 0, 0, 0, 0, 0);
  return next;
}

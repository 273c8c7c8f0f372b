#pragma once
/* The layout of a counter file and of the parameters of the start code: the common ground of the
   instrumenter, the start code (freestanding C, another machine) and the collector. Plain C, fixed
   sizes, little-endian like the machines that it serves; no pointers.

   A counter file is a header of `header_size` bytes, a multiple of the page size of the machine,
   and then the counters, 8 bytes each, as in memory. The start code maps the counters' part of the
   file over the counters of the image, so the file is current at every moment. Where threads have
   copies of the counters, the copies follow, each as long as the counters; the sum of all counts.

   Example: 8,192 bytes of header, 8,192 bytes of counters, of which 3 counters are used. */

#include <stdint.h>

#define RESPIKE_COUNTER_FILE_MAGIC "RSPKCNT" /* 8 bytes with the terminating zero */
#define RESPIKE_COUNTER_FILE_VERSION 1u

enum {
  RESPIKE_IMAGE_ID_SIZE = 16,
  RESPIKE_PATH_SIZE = 4096, /* of paths with the terminating zero: PATH_MAX */
  RESPIKE_NAME_SIZE = 255,  /* of the name of a file: NAME_MAX */
  RESPIKE_NAME_TAIL = 34,   /* the suffix by the start code: process id, ".", time, ".counts" */
};

/* The start of a counter file. The instrumenter fills in all fields except process_id, start_time
   and counters_address. */
struct respike_counter_header {
  char magic[8];
  uint32_t version;
  uint32_t header_size;                    /* bytes before the counters */
  uint64_t counters_size;                  /* bytes of counters */
  uint8_t image_id[RESPIKE_IMAGE_ID_SIZE]; /* hash of the instrumented image */
  uint64_t process_id;
  uint64_t start_time;       /* nanoseconds since 1970 */
  uint64_t counters_address; /* of the counters in the process: shows where the image was loaded */
  uint32_t flags;
  uint32_t copies;                    /* asked for by threads and forked children, made or not */
  char image_path[RESPIKE_PATH_SIZE]; /* absolute, zero-terminated */
};

enum {
  RESPIKE_COUNTERS_ATOMIC = 1, /* flag: counters are exact with threads and forked children */
  RESPIKE_COUNTERS_COPIED = 2, /* flag: each thread has a copy of the counters */
  RESPIKE_MOST_COPIES = 1024,  /* in a file, of so many bytes in all: */
  RESPIKE_MOST_COPY_BYTES = 1 << 28,
  RESPIKE_MOST_FAILURES = 16, /* of making copies, in a process */
};

/* Pages before the counters of an image whose threads have copies. The last of these pages,
   respike_owner, is also before each copy; forked children find it zero. */
enum { RESPIKE_COPY_PAGE = 4096, RESPIKE_COPIES_SIZE = 3 * RESPIKE_COPY_PAGE };
#define RESPIKE_COPY_DISTANCE 0x1000000000ull /* 64 GB: the place of copies, if the kernel agrees */

/* The first of the RESPIKE_COPIES_SIZE bytes before the counters. */
struct respike_copies {
  uint32_t ready;    /* the other fields are set */
  uint32_t claimed;  /* the counters themselves belong to a thread */
  uint32_t failures; /* how often no copy could be made */
  uint32_t reserved;
  uint64_t device, inode;       /* of the counter file */
  char path[RESPIKE_PATH_SIZE]; /* of the counter file */
};

struct respike_owner {
  uint64_t thread; /* its thread pointer; 0: none */
  uint64_t next;   /* address of another copy's owner in the list of the process; 0: none */
};

/* The parameters of the start code; they follow the code in the added segment. Distances are in
   bytes from the start of this structure, so that the image may be loaded anywhere. */
struct respike_start_parameters {
  int64_t counters; /* distance to the counters; their address is a multiple of the page size */
  int64_t next;     /* distance to the code that continues: the image's entry or initializer; 0:
                       none, return to the caller */
  uint64_t counters_size;               /* bytes, whole pages */
  uint32_t file_prefix_size;            /* bytes, without the terminating zero */
  uint32_t copied;                      /* 1: each thread gets a copy of the counters */
  char file_prefix[RESPIKE_PATH_SIZE];  /* absolute path of the spool, "/", and the start of the
                                           file's name; the start code appends the rest */
  struct respike_counter_header header; /* as it goes into the file */
};

/* Further parameters of the start code of Windows NT; they follow respike_start_parameters, and
   distances are also from the start of that structure. */
struct respike_windows_parameters {
  int64_t slots;   /* distance to the slots of the imports below */
  int64_t bases;   /* distance to the words through which probes find the counters */
  int64_t scratch; /* distance to RESPIKE_PATH_SIZE bytes of memory */
  uint32_t base_count;
  uint32_t base_distance; /* word i holds the address of the counters plus i times this */
  uint32_t is_library;
  uint32_t is_wide; /* 1: slots, words and results of functions have 64 bits; 0: 32 bits */
};

/* The imports of Windows NT's start code from RESPIKE_WINDOWS_LIBRARY, in the order of slots. */
#define RESPIKE_WINDOWS_LIBRARY "KERNEL32.dll"
#define RESPIKE_WINDOWS_IMPORTS(each)                                              \
  each(CreateFileA) each(CreateFileMappingA) each(MapViewOfFile) each(CloseHandle) \
      each(DeleteFileA) each(GetCurrentProcessId) each(GetSystemTimeAsFileTime)

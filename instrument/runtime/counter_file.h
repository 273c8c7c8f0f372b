#pragma once
/* The layout of a counter file and of the parameters of the start code: what the instrumenter, the
   start code (freestanding C, another machine) and the collector agree on. Plain C, fixed sizes,
   little-endian like the machines it serves; no pointers.

   A counter file is a header of `header_size` bytes, a multiple of the page size of the machine,
   and then the counters, 8 bytes each, as they lie in memory. The start code maps that second part
   over the counters of the image, so that the file is current at every moment.

   Example: 8,192 bytes of header, 8,192 bytes of counters, of which 3 counters are used. */

#include <stdint.h>

#define RESPIKE_COUNTER_FILE_MAGIC "RSPKCNT" /* 8 bytes with the terminating zero */
#define RESPIKE_COUNTER_FILE_VERSION 1u

enum {
  RESPIKE_IMAGE_ID_SIZE = 16,
  RESPIKE_PATH_SIZE = 4096, /* of paths with the terminating zero: PATH_MAX */
  RESPIKE_NAME_SIZE = 255,  /* of the name of a file: NAME_MAX */
  RESPIKE_NAME_TAIL = 34,   /* what the start code appends: process id, ".", time, ".counts" */
};

/* The start of a counter file. The instrumenter fills in all but process_id, start_time and
   counters_address. */
struct respike_counter_header {
  char magic[8];
  uint32_t version;
  uint32_t header_size;                    /* bytes before the counters */
  uint64_t counters_size;                  /* bytes of counters */
  uint8_t image_id[RESPIKE_IMAGE_ID_SIZE]; /* hash of the instrumented image */
  uint64_t process_id;
  uint64_t start_time;       /* nanoseconds since 1970 */
  uint64_t counters_address; /* of the counters in the process: tells where the image was loaded */
  uint32_t flags;
  uint32_t reserved;
  char image_path[RESPIKE_PATH_SIZE]; /* absolute, zero-terminated */
};

enum {
  RESPIKE_COUNTERS_ATOMIC = 1, /* flag: counters are exact with threads and forked children */
};

/* What the start code is told; it follows the code in the added segment. Distances are in bytes
   from the start of this structure, so that the image may be loaded anywhere. */
struct respike_start_parameters {
  int64_t counters; /* distance to the counters; their address is a multiple of the page size */
  int64_t next;     /* distance to the code that goes on: the image's own entry or initializer; 0:
                       none, return to the caller */
  uint64_t counters_size;    /* bytes, whole pages */
  uint32_t file_prefix_size; /* bytes, without the terminating zero */
  uint32_t reserved;
  char file_prefix[RESPIKE_PATH_SIZE];  /* absolute path of the spool, "/", and the start of the
                                           file's name; the start code appends the rest */
  struct respike_counter_header header; /* as it goes into the file */
};

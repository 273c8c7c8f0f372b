#pragma once
/* What interception.cc writes for starter.c: start tables, and what both know of files.

   A start table is a sequence of fields; a field is a letter and a text that ends with a zero.
   Numbers are hexadecimal. First fields for all programs:

       n INODE     of the mount namespace in which the session began
       m OFFSET    of the four bytes of a file in which a twin differs
       e PATH      of the emulator that runs the programs
       w WORD      of the emulator's command, in order; argv[0] of the program follows
       v WORD      the emulator's option that sets a variable for the program

   then for each program:

       p PATH      of the program; *: of all programs of the machine that are not registered
       i RECORD    of its file: device, inode, size, times of modification and change, sum
       g NUMBER    of its application
       r PATH      what runs in its place; none: it runs as it is
       d STATE     the attendant is told of each start. STATE: c, the program is counted; v, its
                   optimized version runs; k and a decimal number, the same, but version and
                   original have died of that signal; o, the original runs, because the version died
       h WORD, t PATH   with d: which optimized images these are; the attendant's socket
       o PATH, i RECORD, s PATH, k PATH   a library, its substitute, and the library again where
                                          no substitute hides it; any number of times
       a PATH      the audit module
       f WORD, b WORD   variables for the audit module: its folder of notes, and the attendant
       x WORD      more words for the emulator, behind its first

   The file `all` has three fields for each file that a program of the session may see another one
   in the place of: p PATH; k PATH, as above; g NUMBER, of its application if it is a program, else
   empty. The file `libraries` has three fields for each library that is substituted whoever loads it:
   o PATH, i RECORD, s PATH. */

#include <stddef.h>
#include <stdint.h>

/* A twin's flags are those of its original, exclusive or this: "RS". */
enum { RESPIKE_TWIN_FLAGS = 0x5352 };

/* A sum of contents. It is compared only for files of one size in one place. */
static inline uint64_t sum_of_contents(const void* bytes, size_t size) {
  const unsigned char* at = (const unsigned char*)bytes;
  uint64_t sum = size;
  for (; size >= sizeof(uint64_t); at += sizeof(uint64_t), size -= sizeof(uint64_t)) {
    uint64_t word;
    __builtin_memcpy(&word, at, sizeof word);
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 32;
  }
  for (; size > 0; ++at, --size) sum = (sum ^ *at) * 0x100000001b3u;
  return sum;
}

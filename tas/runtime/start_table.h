#pragma once
/* Start tables, which interception.cc writes and starter.c reads, and their records of files.

   A start table is a sequence of fields; a field is a letter and a text that ends with a zero.
   Numbers are hexadecimal. First come fields for all programs:

       n INODE     the mount namespace in which the session began
       m OFFSET    the four bytes of a file in which a twin differs
       e PATH      the emulator that runs the programs
       w WORD      a word of the emulator's command, in order; argv[0] of the program follows
       v WORD      the emulator's option that sets a variable for the program

   then for each program:

       p PATH      the program; *: all programs of the machine that are not registered
       i RECORD    its file: device, inode, size, times of modification and change, sum
       g NUMBER    its application
       r PATH      what runs in its place; none: it runs unchanged
       d STATE     start to announce to the attendant. STATE: c, the program is counted; v, its
                   optimized version runs; k and a decimal number, the same, but version and
                   original have died of that signal; o, the original runs, because the version died
       h WORD, t PATH   with d: the optimized images; the attendant's socket
       o PATH, i RECORD, s PATH, k PATH   a library, its substitute, and the library again where
                                          no substitute hides it; any number of times
       a PATH      the audit module
       f WORD, b WORD   variables for the audit module: its folder of notes, and the attendant
       x WORD      more words for the emulator, after its first

   The file `all` has three fields for each file that may have a substitute in a program of the
   session: p PATH; k PATH, as above; g NUMBER, the application if the file is a program, else
   empty. The file `libraries` has three fields for each library that is substituted in every
   program that loads it: o PATH, i RECORD, s PATH. */

#include <stddef.h>
#include <stdint.h>

/* A twin's flags are the flags of its original, exclusive-or this: "RS". */
enum { RESPIKE_TWIN_FLAGS = 0x5352 };

/* A sum of contents. It is compared only for files of the same size in the same place. */
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
